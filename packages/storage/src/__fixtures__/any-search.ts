import { userText } from '@hermes/contracts/conversation'
import fc from 'fast-check'
import { expect } from 'vitest'
import type { Storage } from '../index.js'

const RUNS = Number(process.env['HERMES_TEST_RUNS'] ?? 1_000)

/** Searches for whatever a person may type. */
export async function anySearch(store: Storage): Promise<void> {
  await store.createSession({ id: 's', source: 'cli' })
  const lease = await store.acquireLease('s', { owner: 'me' })
  for (const text of ['The docker deployment fails.', '服务器部署失败了', 'שלום'])
    await store.append('s', [{ type: 'message', message: userText(text) }], { lease })
  const piece = fc.constantFrom(
    ...'"|*|(|)|AND|OR|NOT|NEAR(|:|^|-|+|&|!|\'|\\|%|_|<->| |docker|\0|部署|部|\ue000user|😀|שלום|\ud800|{|}|,'.split('|'),
  )
  const query = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(piece).map((pieces) => pieces.join('')),
  )
  await fc.assert(
    fc.asyncProperty(query, fc.boolean(), async (text, isRanked) => {
      const hits = await store.search(text, { order: isRanked ? 'relevance' : 'newest' })
      expect(Array.isArray(hits)).toBe(true)
    }),
    { numRuns: RUNS },
  )
  expect(await store.search('docker '.repeat(20_000))).toEqual(expect.any(Array))
}
