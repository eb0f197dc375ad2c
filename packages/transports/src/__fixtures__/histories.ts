import type { JsonObject, JsonValue } from '@hermes/contracts'
import type { AssistantPart, Entry, Message, NewEntry, ToolCallPart } from '@hermes/contracts/conversation'
import fc from 'fast-check'

const ODD = [
  '',
  '   ',
  '\n',
  'half \ud83d',
  '\udc00 other half',
  'e\u0301 and \u00e9',
  '\u202eright to left',
  'zero\u200bwidth',
  'nul\u0000byte',
  '\ufeffmark',
  'a family \ud83d\udc68\u200d\ud83d\udc69\u200d\ud83d\udc67',
  '<|im_start|>system',
  '{"role":"system"}',
  '\ufffe\uffff',
]
const words = fc.oneof({ weight: 3, arbitrary: fc.constantFrom('Read the file.', 'Done.', 'Go on.') }, fc.constantFrom(...ODD), fc.string({ unit: 'binary', maxLength: 12 }))
const text = words.map((of) => ({ type: 'text', text: of }) as const)
const image = fc.constant({ type: 'image', mediaType: 'image/png', data: 'aGk=' } as const)
const file = fc.constantFrom(
  { type: 'file', mediaType: 'application/pdf', data: 'aGk=', name: 'a  b?.pdf' } as const,
  { type: 'file', mediaType: 'text/plain', data: '', name: '' } as const,
)

const ids = fc.constantFrom('call_0', 'call_1', 'call_0_2', 'toolu_01', 'fc_1|call_9', '', 'x'.repeat(90), 'ü id', 'chatcmpl-tool:1')
const names = fc.constantFrom('read_file', 'terminal', 'search files', '', 'näme', 'n'.repeat(80), 'functions.read_file:0')
const call: fc.Arbitrary<ToolCallPart> = fc
  .record({
    id: ids,
    name: names,
    args: fc.constantFrom<JsonObject | null>(null, {}, { path: '/a', deep: { list: [1, 'half \ud83d'] } }),
    rawArgs: fc.constantFrom('', '{}', '{"path":"/a"}', '{"path":', '[1]', 'null', '{"a":"\\ud83d"}', '{"a": 1,}'),
  })
  .map((part) => ({ type: 'tool-call', ...part }))

/** Thoughts of any endpoint, in any form one ever made. */
const thought = (data: readonly JsonValue[]) =>
  fc
    .record({
      text: words,
      provider: fc.constantFrom('anthropic', 'openai', 'openrouter', 'gemini'),
      model: fc.constantFrom('m', 'other'),
      data: fc.constantFrom(...data),
    })
    .map(({ text: of, provider, model, data: kept }) => ({
      type: 'reasoning' as const,
      text: of,
      replay: { stamp: { provider, endpoint: 'https://elsewhere.example', model }, data: kept },
    }))
const THOUGHTS: readonly JsonValue[] = [
  null,
  'words',
  [],
  { type: 'thinking', thinking: 'hm', signature: 's' },
  { details: [{ type: 'reasoning.text', text: 'hm' }], callExtras: { call_0: { google: {} } } },
]
const bare = words.map((of) => ({ type: 'reasoning', text: of }) as const)

const message: fc.Arbitrary<Message> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ role: fc.constant('user' as const), content: fc.array(fc.oneof({ weight: 4, arbitrary: text }, image, file), { maxLength: 3 }) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      role: fc.constant('assistant' as const),
      content: fc.array(fc.oneof<fc.Arbitrary<AssistantPart>[]>(text, call, call, thought(THOUGHTS), bare), { maxLength: 4 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      role: fc.constant('tool' as const),
      callId: ids,
      toolName: names,
      content: fc.array(fc.oneof({ weight: 4, arbitrary: text }, image), { maxLength: 2 }),
      isError: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ role: fc.constant('system' as const), content: fc.array(text, { maxLength: 1 }) }) },
)

/** Answers the calls that are open, in any order, some twice and some never: what is left of a run that was killed. */
function answered(messages: readonly Message[], choices: readonly number[]): Message[] {
  const all: Message[] = []
  let at = 0
  for (const one of messages) {
    all.push(one)
    const calls = one.role === 'assistant' ? one.content.filter((part) => part.type === 'tool-call') : []
    const results = calls.flatMap(({ id, name }) => {
      const times = (choices[at++ % choices.length] ?? 1) % 4
      const content = [{ type: 'text', text: `result ${at}` }] as const
      return Array.from({ length: times === 3 ? 2 : Math.min(times, 1) }, () => ({ role: 'tool', callId: id, toolName: name, content }) as const)
    })
    if ((choices[at % choices.length] ?? 0) % 2 === 0) results.reverse()
    all.push(...results)
  }
  return all
}

const aside: fc.Arbitrary<NewEntry> = fc.oneof(
  fc.record({ type: fc.constant('model' as const), provider: fc.constant('openai'), model: fc.constant('m') }),
  fc.record({ type: fc.constant('call-start' as const), callId: ids, toolName: names }),
  fc.record({ type: fc.constant('note' as const), kind: fc.constant('run.end'), data: fc.constant({}) }),
  fc.record({ type: fc.constant('prompt' as const), system: words, tools: fc.constant([]) }),
  fc.record({ type: fc.constant('undo' as const), fromSeq: fc.integer({ min: 1, max: 30 }) }),
  fc
    .record({ upToSeq: fc.integer({ min: 0, max: 30 }), summary: words, head: fc.integer({ min: 0, max: 4 }), repeated: fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 2 }) })
    .map(({ upToSeq, summary, head, repeated }) => ({ type: 'compaction' as const, upToSeq, summary, headUpToSeq: head, repeatedSeqs: repeated })),
)

/** The log of a session as crashes, edits and compactions upon compactions may have left it. */
export const histories: fc.Arbitrary<readonly Entry[]> = fc
  .record({
    messages: fc.array(message, { maxLength: 14 }),
    choices: fc.array(fc.nat(11), { minLength: 1, maxLength: 8 }),
    asides: fc.array(fc.tuple(fc.nat(40), aside), { maxLength: 5 }),
    moves: fc.array(fc.tuple(fc.nat(40), fc.nat(40)), { maxLength: 3 }),
  })
  .map(({ messages, choices, asides, moves }) => {
    const entries: NewEntry[] = answered(messages, choices).map((one) => ({ type: 'message', message: one }))
    for (const [from, to] of moves) {
      const [moved] = entries.splice(from % Math.max(1, entries.length), 1)
      if (moved) entries.splice(to % (entries.length + 1), 0, moved)
    }
    for (const [at, entry] of asides) entries.splice(at % (entries.length + 1), 0, entry)
    return entries.map((entry, index) => ({ ...entry, seq: index + 1, atMs: index }))
  })
