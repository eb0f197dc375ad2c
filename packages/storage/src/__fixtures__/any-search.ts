import { userText } from '@hermes/contracts/conversation'
import fc from 'fast-check'
import { expect } from 'vitest'
import type { Storage } from '../index.js'

/** Searches for whatever a person may type, `texts` times unless HERMES_TEST_RUNS says otherwise. */
export async function anySearch(store: Storage, texts: number): Promise<void> {
  await store.sessions.create({ id: 's', source: 'cli' })
  const lease = await store.leases.acquire('s', { owner: 'me' })
  for (const text of ['The docker deployment fails.', '服务器部署失败了', 'שלום'])
    await store.log.append('s', [{ type: 'message', message: userText(text) }], { lease })
  const piece = fc.constantFrom(
    ...'"|*|(|)|AND|OR|NOT|NEAR(|:|^|-|+|&|!|\'|\\|%|_|<->| |docker|ocke|\0|部署|部|\ue000user|😀|שלום|\ud800|{|}|,'.split('|'),
  )
  const query = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(piece).map((pieces) => pieces.join('')),
  )
  await fc.assert(
    fc.asyncProperty(query, fc.boolean(), async (text, isRanked) => {
      const hits = await store.search.find(text, { order: isRanked ? 'relevance' : 'newest' })
      expect(Array.isArray(hits)).toBe(true)
    }),
    { numRuns: Number(process.env['HERMES_TEST_RUNS'] ?? texts) },
  )
  expect(await store.search.find('docker '.repeat(20_000))).toEqual(expect.any(Array))
}
