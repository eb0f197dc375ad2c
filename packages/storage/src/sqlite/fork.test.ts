import { type MessageEntry, type NewEntry, noUsage, project, userText } from '@hermes/contracts/conversation'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { temporaryStore } from '../__fixtures__/temporary-store.js'
import { createStepClock } from '../testing/store-case.js'

const RUNS = Number(process.env['HERMES_TEST_RUNS'] ?? 40)

const reply = (text: string): MessageEntry => ({
  type: 'message',
  message: {
    role: 'assistant',
    content: [
      { type: 'text', text },
      { type: 'tool-call', id: text, name: 'look', args: {}, rawArgs: '{}' },
    ],
    finishReason: 'tool-calls',
  },
  usage: { ...noUsage, inputTokens: 10, outputTokens: 5, costUsd: 0.5 },
})
const said = (text: string): NewEntry => ({ type: 'message', message: userText(text) })

async function storeWith(...entries: readonly NewEntry[]) {
  const clock = createStepClock()
  const store = await temporaryStore({ clock })
  await store.createSession({ id: 's', source: 'cli', title: 'Work', model: 'm', provider: 'p', cwd: '/there' })
  const lease = await store.acquireLease('s', { owner: 'me' })
  const seqs: number[] = []
  for (const entry of entries) {
    clock.step(1_000)
    seqs.push(...(await store.append('s', [entry], { lease })))
  }
  return { store, clock, lease, seqs }
}

describe('forkSession', () => {
  it('takes the conversation along up to an entry, with its times, and leaves the cost behind', async () => {
    const { store, seqs, clock } = await storeWith(
      { type: 'prompt', system: 'You are.', tools: [] },
      said('one'),
      reply('a'),
      said('two'),
    )
    clock.step(60_000)
    const fork = await store.forkSession({ from: 's', id: 'f', upToSeq: seqs[2]!, title: 'Other way' })
    expect(fork).toMatchObject({
      parentSessionId: 's',
      title: 'Other way',
      source: 'cli',
      model: 'm',
      provider: 'p',
      cwd: '/there',
      messageCount: 2,
      toolCallCount: 1,
      apiCallCount: 0,
      usage: noUsage,
      preview: 'one',
    })
    const [original, copy] = [await store.entries('s'), await store.entries('f')]
    expect(copy.map(({ seq: _, ...entry }) => entry)).toEqual(original.slice(0, 3).map(({ seq: _, ...entry }) => entry))
    expect(await store.search('one', { sessionId: 'f' })).toHaveLength(1)
    expect((await store.descendants('s')).map(({ id }) => id)).toEqual(['f'])
  })

  it('goes its own way: neither session sees what the other says', async () => {
    const { store, lease } = await storeWith(said('one'))
    await store.forkSession({ from: 's', id: 'f' })
    await store.append('s', [said('for s')], { lease })
    const own = await store.acquireLease('f', { owner: 'me' })
    await store.append('f', [said('for f')], { lease: own })
    expect(project(await store.entries('s'))).toEqual([userText('one'), userText('for s')])
    expect(project(await store.entries('f'))).toEqual([userText('one'), userText('for f')])
  })

  it('brings back a turn that was undone when it is made before the undo', async () => {
    const { store, seqs, lease } = await storeWith(said('one'), said('two'))
    await store.append('s', [{ type: 'undo', fromSeq: seqs[1]! }], { lease })
    await store.forkSession({ from: 's', id: 'now' })
    await store.forkSession({ from: 's', id: 'then', upToSeq: seqs[1]! })
    expect(project(await store.entries('now'))).toEqual([userText('one')])
    expect(project(await store.entries('then'))).toEqual([userText('one'), userText('two')])
  })

  it('makes nothing when it cannot make all of it', async () => {
    const { store } = await storeWith(said('one'))
    await expect(store.forkSession({ from: 'nobody', id: 'f' })).rejects.toMatchObject({
      code: 'store.unknown_session',
    })
    await expect(store.forkSession({ from: 's', id: 's' })).rejects.toMatchObject({ code: 'store.session_exists' })
    await expect(store.forkSession({ from: 's', id: 'f', title: 'Work' })).rejects.toMatchObject({
      code: 'store.title_taken',
    })
    expect(await store.getSession('f')).toBeNull()
    expect(await store.entries('f')).toEqual([])
  })

  it('gives models the very same conversation, whatever was condensed or undone', async () => {
    const step = fc.tuple(fc.constantFrom('said', 'said', 'reply', 'compaction', 'undo'), fc.nat({ max: 50 }))
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), fc.nat(), async (steps, cut) => {
        const { store, lease } = await storeWith()
        const seqs: number[] = []
        for (const [kind, at] of steps) {
          const chosen = seqs[at % Math.max(1, seqs.length)] ?? 0
          const compaction = { upToSeq: chosen, summary: 'sum', headUpToSeq: seqs[0] ?? 0, repeatedSeqs: [chosen] }
          const entry: NewEntry =
            kind === 'said'
              ? said(`words ${seqs.length}`)
              : kind === 'reply'
                ? reply(`r${seqs.length}`)
                : kind === 'undo'
                  ? { type: 'undo', fromSeq: chosen }
                  : { type: 'compaction', ...compaction }
          seqs.push(...(await store.append('s', [entry], { lease })))
        }
        const upToSeq = seqs[cut % seqs.length]!
        await store.forkSession({ from: 's', id: 'f', upToSeq })
        const original = (await store.entries('s')).filter(({ seq }) => seq <= upToSeq)
        expect(project(await store.entries('f'))).toEqual(project(original))
        await store.close()
      }),
      { numRuns: RUNS },
    )
  })
})
