// Long sessions of any shape, compacted several times: nothing that the agent works on is lost. HERMES_TEST_RUNS raises the number.
import type { CompactRequest } from '@hermes/contracts/context'
import {
  type Entry,
  estimateTokens,
  type Message,
  type NewEntry,
  project,
  type ToolCallPart,
  userText,
} from '@hermes/contracts/conversation'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createContextCompressor } from './index.js'

const RUNS = Number(process.env['HERMES_TEST_RUNS'] ?? 60)
const WINDOW = 32_000
const THRESHOLD = WINDOW * 0.75
const TODOS = 'The task list has these open:\n- [in_progress] 1: mend the „roof“'

/** What happens in a session; sizes are in words. */
type Move =
  | { readonly type: 'say' | 'answer'; readonly words: number }
  | { readonly type: 'work'; readonly calls: number; readonly words: number }

const move: fc.Arbitrary<Move> = fc.oneof(
  {
    arbitrary: fc.record({ type: fc.constantFrom('say', 'answer'), words: fc.integer({ min: 1, max: 400 }) }),
    weight: 1,
  },
  {
    arbitrary: fc.record({
      type: fc.constant('work'),
      calls: fc.integer({ min: 1, max: 4 }),
      words: fc.integer({ min: 1, max: 700 }),
    }),
    weight: 3,
  },
)
const session = fc.record({
  moves: fc.array(move, { minLength: 60, maxLength: 200 }),
  /** Calls of the last message, and how many of them have their result. */
  open: fc.integer({ min: 1, max: 4 }),
  answered: fc.integer({ min: 0, max: 3 }),
  every: fc.integer({ min: 20, max: 90 }),
})

const call = (id: string): ToolCallPart => ({
  type: 'tool-call',
  id,
  name: 'terminal',
  args: { command: `make ${id}` },
  rawArgs: `{"command":"make ${id}"}`,
})
const asks = (ids: readonly string[]): NewEntry => ({
  type: 'message',
  message: { role: 'assistant', content: ids.map(call), finishReason: 'tool-calls' },
})
const result = (id: string, words: number): NewEntry => ({
  type: 'message',
  message: {
    role: 'tool',
    callId: id,
    toolName: 'terminal',
    content: [{ type: 'text', text: `of ${id} ${'word '.repeat(words)}` }],
  },
})

class Session {
  readonly entries: Entry[] = []
  request = ''
  #count = 0

  add(...added: readonly NewEntry[]): void {
    for (const entry of added) this.entries.push({ ...entry, seq: this.entries.length + 1, atMs: 0 })
  }

  play(played: Move): void {
    const at = ++this.#count
    if (played.type === 'work') {
      const ids = Array.from({ length: played.calls }, (_, index) => `c${at}.${index}`)
      this.add(asks(ids), ...ids.map((id) => result(id, played.words)))
      return
    }
    const text = `${played.type} ${at} ${'word '.repeat(played.words)}`
    if (played.type === 'say') this.request = text
    this.add({
      type: 'message',
      message:
        played.type === 'say'
          ? userText(text)
          : { role: 'assistant', content: [{ type: 'text', text }], finishReason: 'stop' },
    })
  }

  /** The calls of the newest message without a result. */
  leave(open: number, answered: number): readonly ToolCallPart[] {
    const ids = Array.from({ length: open }, (_, index) => `open.${index}`)
    const done = ids.slice(0, Math.min(answered, open - 1))
    this.add(asks(ids), ...done.map((id) => result(id, 300)))
    return ids.slice(done.length).map(call)
  }
}

const failing = {
  provider: 'p',
  model: 'small',
  // biome-ignore lint/correctness/useYield: it fails before it says anything
  async *stream(): AsyncGenerator<never> {
    throw new Error('down')
  },
}

it('keeps the newest request, the tasks and every open call, without a lone call or result, below the threshold', async () => {
  const engine = createContextCompressor({ windowOf: () => WINDOW, models: [failing] })
  let compactions = 0
  const compact = async (played: Session) => {
    const before = project(played.entries)
    const requested: CompactRequest = {
      entries: played.entries,
      tokens: estimateTokens(before),
      provider: 'p',
      model: 'm',
      cause: 'threshold',
      carry: [TODOS],
    }
    const outcome = await engine.compact(requested, { signal: new AbortController().signal })
    if (outcome.type === 'unchanged') return
    compactions++
    played.add(outcome.entry)
    const messages = project(played.entries)
    expect(text(messages)).toContain(played.request)
    expect(text(messages)).toContain(TODOS)
    expect(lone(messages)).toEqual(lone(before))
    expect(estimateTokens(messages)).toBeLessThan(THRESHOLD)
  }
  await fc.assert(
    fc.asyncProperty(session, async ({ moves, open, answered, every }) => {
      const played = new Session()
      played.play({ type: 'say', words: 20 })
      for (const [index, each] of moves.entries()) {
        played.play(each)
        if (index % every === every - 1) await compact(played)
      }
      const calls = played.leave(open, answered)
      await compact(played)
      const messages = project(played.entries)
      const shown = messages.flatMap(({ content }) => content.filter((part) => part.type === 'tool-call'))
      for (const each of calls) expect(shown).toContainEqual(each)
      expect(lone(messages)).toEqual(calls.map(({ id }) => id))
    }),
    { numRuns: RUNS },
  )
  expect(compactions).toBeGreaterThan(RUNS)
})

const text = (messages: readonly Message[]) =>
  messages.flatMap(({ content }) => content.flatMap((part) => ('text' in part ? [part.text] : []))).join('\n')

/** Ids of calls without a result and of results without a call. */
function lone(messages: readonly Message[]): readonly string[] {
  const open = new Set<string>()
  const orphans: string[] = []
  for (const message of messages) {
    if (message.role === 'assistant')
      for (const part of message.content) if (part.type === 'tool-call') open.add(part.id)
    if (message.role === 'tool' && !open.delete(message.callId)) orphans.push(message.callId)
  }
  return [...orphans, ...open]
}
