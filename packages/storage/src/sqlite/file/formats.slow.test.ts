import { readFileSync } from 'node:fs'
import { userText } from '@hermes/contracts/conversation'
import { describe, expect, it } from 'vitest'
import { FORMATS, makeFormat } from '../../__fixtures__/formats.js'
import { temporaryPath, temporaryStore } from '../../__fixtures__/temporary-store.js'

describe.each(FORMATS)('a database of version %i of the reference format', (version) => {
  it('opens with all it holds, answers searches and goes on', async () => {
    const path = temporaryPath()
    makeFormat(path, version)
    const before = readFileSync(path)
    const store = await temporaryStore({ path })
    const entries = await store.log.entries('s1')
    expect(entries.map((entry) => (entry.type === 'message' ? entry.message.role : entry.type))).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'note',
    ])
    expect(entries[3]).toMatchObject({
      message: {
        content: [
          ...(version >= 6 ? [{ type: 'reasoning', text: 'Stoves are warm.' }] : []),
          { type: 'text', text: 'It is on the stove.' },
        ],
      },
    })
    expect((await store.sessions.ancestors('s2')).map(({ id }) => id)).toEqual(['s1', 's0'])
    expect((await store.sessions.get('s1'))?.title ?? null).toBe(version >= 3 ? 'Trip #2' : null)
    if (version >= 8) expect(await store.meta.get('theirs')).toBe('kept')
    for (const query of ['kettle', 'ket*', '"the stove"', '水壶', 'look', 'stove NOT kettle']) {
      expect((await store.search.find(query)).length, query).toBeGreaterThan(0)
    }
    expect(await store.search.backlog()).toBe(0)
    const lease = await store.leases.acquire('s2', { owner: 'me' })
    await store.log.append('s2', [{ type: 'message', message: userText('And the cup?') }], { lease })
    expect(await store.search.find('cup')).toHaveLength(1)
    expect(await store.maintenance.check()).toEqual([])
    await store.close()
    if (version > 11) expect(readFileSync(path)).toEqual(before)
    else expect(readFileSync(`${path}.v${version}.bak`).length).toBeGreaterThan(0)
  })
})
