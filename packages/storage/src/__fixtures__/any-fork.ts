import { type MessageEntry, type NewEntry, project, userText } from '@hermes/contracts/conversation'
import fc from 'fast-check'
import { expect } from 'vitest'
import type { Storage } from '../index.js'

const RUNS = Number(process.env['HERMES_TEST_RUNS'] ?? 15)

const text = (text: string): NewEntry => ({ type: 'message', message: userText(text) })
const reply = (text: string): MessageEntry => ({
  type: 'message',
  message: {
    role: 'assistant',
    content: [{ type: 'tool-call', id: text, name: 'look', args: {}, rawArgs: '{}' }],
    finishReason: 'tool-calls',
  },
})

/** Forks sessions at any entry, whatever was compacted or undone before. */
export async function anyFork(store: Storage): Promise<void> {
  const step = fc.tuple(fc.constantFrom('said', 'said', 'reply', 'compaction', 'undo'), fc.nat({ max: 50 }))
  let made = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), fc.nat(), async (steps, cut) => {
      const [id, fork] = [`s${++made}`, `f${made}`]
      await store.sessions.create({ id, source: 'cli' })
      const lease = await store.leases.acquire(id, { owner: 'me' })
      const seqs: number[] = []
      for (const [kind, at] of steps) {
        const chosen = seqs[at % Math.max(1, seqs.length)] ?? 0
        seqs.push(...(await store.log.append(id, [entryOf(kind, seqs, chosen)], { lease })))
      }
      const upToSeq = seqs[cut % seqs.length]!
      await store.sessions.fork({ from: id, id: fork, upToSeq })
      const original = (await store.log.entries(id)).filter(({ seq }) => seq <= upToSeq)
      expect(project(await store.log.entries(fork))).toEqual(project(original))
    }),
    { numRuns: RUNS },
  )
}

function entryOf(kind: string, seqs: readonly number[], chosen: number): NewEntry {
  if (kind === 'said') return text(`words ${seqs.length}`)
  if (kind === 'reply') return reply(`r${seqs.length}`)
  if (kind === 'undo') return { type: 'undo', fromSeq: chosen }
  const headUpToSeq = seqs[0] ?? 0
  return { type: 'compaction', upToSeq: chosen, summary: 'sum', headUpToSeq, repeatedSeqs: [chosen] }
}
