import type { JsonObject, JsonValue } from '@hermes/contracts'
import type { AssistantMessage, Entry, Message, NewEntry } from '@hermes/contracts/conversation'
import { userText } from '@hermes/contracts/conversation'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { temporaryStore } from '../__fixtures__/temporary-store.js'
import { decodeMessage, encodeMessage } from './message-codec.js'

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string(),
  fc.constantFrom('', '\0', 'a\0b', '\ud83d', '\ude00', '😀', 'ß\r\n', '>>>x<<<', '{"a":1}'),
)
/** Through JSON once: it knows no -0. */
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as JsonValue)
const object = fc.dictionary(fc.string(), json, { maxKeys: 3, noNullPrototype: true }) as fc.Arbitrary<JsonObject>
const origin = fc.constantFrom('user', 'memory', 'steer', 'reminder', 'external')
const textPart = fc.record(
  { type: fc.constant('text'), text, origin, withFencedInput: fc.constant(true) },
  { requiredKeys: ['type', 'text'] },
)
const image = fc.record({ type: fc.constant('image'), mediaType: fc.constant('image/png'), data: text })
const stamp = fc.record({ provider: text, endpoint: text, model: text })
const reasoning = fc.record(
  { type: fc.constant('reasoning'), text, replay: fc.record({ stamp, data: json }) },
  { requiredKeys: ['type', 'text'] },
)
const call = fc.oneof(
  fc.record({ type: fc.constant('tool-call'), id: text, name: text, args: fc.option(object), rawArgs: text }),
  fc.record({ id: text, name: text, args: object }).map((one) => ({
    ...one,
    type: 'tool-call',
    rawArgs: JSON.stringify(one.args),
  })),
)
const parts = (...kinds: fc.Arbitrary<unknown>[]) => fc.array(fc.oneof(...kinds), { maxLength: 4 })
const message = fc.oneof(
  fc.record({ role: fc.constant('system'), content: parts(textPart) }),
  fc.record(
    { role: fc.constant('user'), content: parts(textPart, image), author: text, platformMessageId: text },
    { requiredKeys: ['role', 'content'] },
  ),
  fc.record(
    {
      role: fc.constant('assistant'),
      content: parts(textPart, reasoning, call),
      finishReason: fc.constantFrom('stop', 'tool-calls', 'length', 'content-filter', 'unknown'),
    },
    { requiredKeys: ['role', 'content'] },
  ),
  fc.record(
    {
      role: fc.constant('tool'),
      callId: text,
      toolName: text,
      content: parts(textPart, image),
      isError: fc.boolean(),
      data: json,
    },
    { requiredKeys: ['role', 'callId', 'toolName', 'content'] },
  ),
) as fc.Arbitrary<Message>
const count = fc.nat(1_000_000)
const usage = fc.record({
  inputTokens: count,
  outputTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
  reasoningTokens: count,
  costUsd: fc.oneof(
    fc.constant('unknown' as const),
    fc.double({ min: 0, max: 10, noNaN: true }).map((cost) => cost + 0),
  ),
})
const entry = fc.oneof(
  {
    arbitrary: fc.record({ type: fc.constant('message'), message, usage }, { requiredKeys: ['type', 'message'] }),
    weight: 6,
  },
  { arbitrary: fc.record({ type: fc.constant('call-start'), callId: text, toolName: text }), weight: 1 },
  { arbitrary: fc.record({ type: fc.constant('compaction'), upToSeq: count, summary: text }), weight: 1 },
  { arbitrary: fc.record({ type: fc.constant('model'), provider: text, model: text }), weight: 1 },
  {
    arbitrary: fc.record({
      type: fc.constant('prompt'),
      system: text,
      tools: fc.array(fc.record({ name: text, description: text, parameters: object }), { maxLength: 2 }),
    }),
    weight: 1,
  },
  { arbitrary: fc.record({ type: fc.constant('note'), kind: text, data: object }), weight: 1 },
) as fc.Arbitrary<NewEntry>

describe('the log', () => {
  it('gives back any entries as they were, to the byte of their JSON', async () => {
    const store = await temporaryStore()
    await store.sessions.create({ id: 's', source: 'cli' })
    const lease = await store.leases.acquire('s', { owner: 'me' })
    let afterSeq = 0
    const property = fc.asyncProperty(
      fc.array(entry, { minLength: 1, maxLength: 5 }),
      fc.oneof(fc.nat(2 ** 42), fc.double({ min: 0, max: 2 ** 42, noNaN: true })),
      async (entries, atMs) => {
        const seqs = await store.log.append('s', entries, { lease, atMs: atMs + 0 })
        const expected = entries.map((one, index) => ({ ...one, seq: seqs[index]!, atMs: atMs + 0 }) as Entry)
        const stored = await store.log.entries('s', { afterSeq })
        afterSeq = seqs.at(-1)!
        expect(stored).toEqual(expected)
        expect(stored.map(argumentsOf)).toEqual(expected.map(argumentsOf))
      },
    )
    await fc.assert(property, { numRuns: Number(process.env['HERMES_TEST_RUNS'] ?? 150) })
    expect(await store.maintenance.check()).toEqual([])
  })
})

/** Key order is part of what is sent to a model again. */
function argumentsOf(one: Entry): string {
  const content = one.type === 'message' ? (one.message.content as AssistantMessage['content']) : []
  return JSON.stringify(content.flatMap((part) => (part.type === 'tool-call' ? [part.args] : [])))
}

describe('encodeMessage', () => {
  const big = 'long text '.repeat(1_000)

  it('needs nothing beside the columns for plain messages', () => {
    const plain: Message[] = [
      userText(big),
      { role: 'tool', callId: 'c', toolName: 't', content: [{ type: 'text', text: big }] },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: big },
          { type: 'text', text: big },
          { type: 'tool-call', id: 'c', name: 't', args: { a: 1 }, rawArgs: '{"a": 1}' },
        ],
        finishReason: 'tool-calls',
      },
    ]
    for (const one of plain) expect(encodeMessage({ type: 'message', message: one }).payload).toBeNull()
  })

  it('stores no long text twice when a message is more than plain', () => {
    const messages: Message[] = [
      {
        role: 'user',
        content: [
          { type: 'text', text: big },
          { type: 'text', text: big, origin: 'user' },
        ],
        author: 'ann',
      },
      {
        role: 'tool',
        callId: 'c',
        toolName: 't',
        content: [{ type: 'text', text: JSON.stringify({ big }), origin: 'external' }],
        data: { big },
      },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: big },
          { type: 'reasoning', text: big, replay: { stamp: { provider: 'p', endpoint: 'e', model: 'm' }, data: 1 } },
          { type: 'tool-call', id: 'c', name: 't', args: { big }, rawArgs: JSON.stringify({ big }) },
        ],
      },
    ]
    for (const one of messages) {
      expect(encodeMessage({ type: 'message', message: one }).payload?.length).toBeLessThan(300)
    }
  })

  it('keeps what a person should not see out of the columns of a user message', () => {
    const { columns } = encodeMessage({
      type: 'message',
      message: {
        role: 'user',
        content: [
          { type: 'text', text: 'visible' },
          { type: 'text', text: 'hidden', origin: 'memory' },
        ],
      },
    })
    expect(columns).toMatchObject({ role: 'user', content: 'visible' })
  })

  it('writes calls and finish reasons the way chat completions has them', () => {
    const { columns } = encodeMessage({
      type: 'message',
      message: {
        role: 'assistant',
        content: [{ type: 'tool-call', id: 'c', name: 't', args: { a: 1 }, rawArgs: '{"a":1}' }],
        finishReason: 'tool-calls',
      },
    })
    expect(columns).toEqual({
      role: 'assistant',
      content: null,
      tool_call_id: null,
      tool_name: null,
      tool_calls: '[{"id":"c","type":"function","function":{"name":"t","arguments":"{\\"a\\":1}"}}]',
      finish_reason: 'tool_calls',
      reasoning: null,
    })
  })
})

describe('decodeMessage', () => {
  const none = {
    content: null,
    tool_call_id: null,
    tool_calls: null,
    tool_name: null,
    finish_reason: null,
    reasoning: null,
  }

  it('reads rows of other programs as far as they make sense', () => {
    const calls = '[{"id":"c","call_id":"x","function":{"name":"t","arguments":{"a":1}}},"odd",{}]'
    expect(decodeMessage({ ...none, role: 'assistant', tool_calls: calls, finish_reason: 'end_turn' }, null)).toEqual({
      type: 'message',
      message: {
        role: 'assistant',
        content: [
          { type: 'tool-call', id: 'c', name: 't', args: { a: 1 }, rawArgs: '{"a":1}' },
          { type: 'tool-call', id: '', name: '', args: null, rawArgs: '' },
        ],
        finishReason: 'unknown',
      },
    })
    expect(decodeMessage({ ...none, role: 'assistant', content: 'hi', tool_calls: 'not json' }, null)).toEqual({
      type: 'message',
      message: { role: 'assistant', content: [{ type: 'text', text: 'hi' }] },
    })
    expect(decodeMessage({ ...none, role: 'tool', content: 'out', tool_call_id: 'c' }, null)).toEqual({
      type: 'message',
      message: { role: 'tool', callId: 'c', toolName: 'unknown', content: [{ type: 'text', text: 'out' }] },
    })
  })
})
