import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Entry, liveEntries, type NewEntry, project, turnStarts, userText } from '../conversation.js'

const RUNS = Number(process.env['HERMES_TEST_RUNS'] ?? 300)

/** What a session may do: talk, call, compact, note something. `share` chooses among what is there. */
const step = fc.oneof(
  { weight: 4, arbitrary: fc.constant('user' as const) },
  { weight: 4, arbitrary: fc.constant('assistant' as const) },
  { weight: 2, arbitrary: fc.constant('call-start' as const) },
  { weight: 1, arbitrary: fc.constant('note' as const) },
  { weight: 1, arbitrary: fc.constant('model' as const) },
  { weight: 1, arbitrary: fc.constant('compaction' as const) },
  { weight: 2, arbitrary: fc.constant('undo' as const) },
)
const log = fc.array(fc.tuple(step, fc.double({ min: 0, max: 0.999, noNaN: true })), { maxLength: 30 }).map(build)

function build(steps: readonly (readonly [string, number])[]): readonly Entry[] {
  const entries: Entry[] = [{ seq: 1, atMs: 1, type: 'prompt', system: 'You are.', tools: [] }]
  for (const [kind, share] of steps) {
    const seq = entries.length * 2 + 1
    const chosen = entries[Math.floor(share * entries.length)]!.seq
    entries.push({ ...toEntry(kind, seq, chosen), seq, atMs: seq })
  }
  return entries
}

function toEntry(kind: string, seq: number, chosen: number): NewEntry {
  switch (kind) {
    case 'user':
      return { type: 'message', message: userText(`said ${seq}`) }
    case 'assistant':
      return { type: 'message', message: { role: 'assistant', content: [{ type: 'text', text: `answer ${seq}` }] } }
    case 'call-start':
      return { type: 'call-start', callId: `c${seq}`, toolName: 't' }
    case 'note':
      return { type: 'note', kind: 'a.note', data: {} }
    case 'model':
      return { type: 'model', provider: 'p', model: `m${seq}` }
    case 'compaction':
      return { type: 'compaction', upToSeq: chosen, summary: `before ${seq}`, headUpToSeq: 3 }
    default:
      return { type: 'undo', fromSeq: chosen }
  }
}

describe('liveEntries', () => {
  it('makes the conversation after an undo what it was before the first entry taken back', () => {
    fc.assert(
      fc.property(log, fc.nat(), (entries, at) => {
        const kept = liveEntries(entries)
        const fromSeq = kept[at % kept.length]!.seq
        const undone: Entry[] = [...entries, { seq: 1_000, atMs: 1_000, type: 'undo', fromSeq }]
        expect(project(undone)).toEqual(project(kept.filter(({ seq, type }) => seq < fromSeq || type === 'prompt')))
      }),
      { numRuns: RUNS },
    )
  })

  it('lets what is said later follow the lines that were left, byte for byte', () => {
    fc.assert(
      fc.property(log, fc.nat({ max: 60 }), (entries, fromSeq) => {
        const undone: Entry[] = [...entries, { seq: 1_000, atMs: 1_000, type: 'undo', fromSeq }]
        const later: Entry[] = [...undone, { seq: 1_001, atMs: 1_001, type: 'message', message: userText('again') }]
        const [before, after] = [project(undone), project(later)].map((lines) =>
          lines.map((line) => JSON.stringify(line)),
        )
        expect(after).toEqual([...before!, JSON.stringify(userText('again'))])
      }),
      { numRuns: RUNS },
    )
  })

  it('gives the same conversation from what still counts as from the whole log', () => {
    fc.assert(
      fc.property(log, (entries) => {
        const live = liveEntries(entries)
        expect(liveEntries(live)).toEqual(live)
        expect(project(live)).toEqual(project(entries))
        expect(live.some(({ type }) => type === 'undo')).toBe(false)
      }),
      { numRuns: RUNS },
    )
  })

  it('takes a summary back with the turn after which it was made', () => {
    const entries: Entry[] = [
      { seq: 1, atMs: 1, type: 'message', message: userText('one') },
      { seq: 2, atMs: 2, type: 'message', message: userText('two') },
      { seq: 3, atMs: 3, type: 'compaction', upToSeq: 2, summary: 'both' },
      { seq: 4, atMs: 4, type: 'undo', fromSeq: 2 },
    ]
    expect(project(entries)).toEqual([userText('one')])
  })
})

describe('turnStarts', () => {
  it('counts what the user said and still counts, not what only models see', () => {
    const entries: Entry[] = [
      { seq: 1, atMs: 1, type: 'message', message: userText('one') },
      { seq: 2, atMs: 2, type: 'message', message: userText('a reminder', 'reminder') },
      { seq: 3, atMs: 3, type: 'message', message: userText('two') },
      { seq: 4, atMs: 4, type: 'undo', fromSeq: 3 },
      { seq: 5, atMs: 5, type: 'message', message: userText('three') },
    ]
    expect(turnStarts(entries)).toEqual([1, 5])
  })
})
