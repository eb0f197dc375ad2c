import { type MessageEntry, type NewEntry, project, userText } from '@hermes/contracts/conversation'
import fc from 'fast-check'
import { expect } from 'vitest'
import type { Storage } from '../index.js'

const RUNS = Number(process.env['HERMES_TEST_RUNS'] ?? 40)

const said = (text: string): NewEntry => ({ type: 'message', message: userText(text) })
const reply = (text: string): MessageEntry => ({
  type: 'message',
  message: {
    role: 'assistant',
    content: [{ type: 'tool-call', id: text, name: 'look', args: {}, rawArgs: '{}' }],
    finishReason: 'tool-calls',
  },
})

/** Forks a session at any entry, whatever was condensed or undone before. `open` gives an empty store each time. */
export async function anyFork(open: () => Promise<Storage>): Promise<void> {
    const step = fc.tuple(fc.constantFrom('said', 'said', 'reply', 'compaction', 'undo'), fc.nat({ max: 50 }))
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), fc.nat(), async (steps, cut) => {
        const store = await open()
        await store.createSession({ id: 's', source: 'cli' })
        const lease = await store.acquireLease('s', { owner: 'me' })
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
}
