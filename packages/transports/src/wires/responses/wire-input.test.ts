import type { AssistantPart, Message, ToolResultPart, UserPart } from '@hermes/contracts/conversation'
import { checkPrefix, checkResponsesRequest, type WireBody } from '@hermes/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toWireInput } from './wire-input.js'
import { toWireRequest } from './wire-request.js'

const stamp = { provider: 'p', endpoint: 'e', model: 'gpt-5' }
const text = (value: string) => ({ type: 'text', text: value }) as const
const image = { type: 'image', mediaType: 'image/png', data: 'AAAA' } as const
const wireImage = { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'auto' }
const user = (...content: UserPart[]): Message => ({ role: 'user', content })
const assistant = (...content: AssistantPart[]): Message => ({ role: 'assistant', content })
const call = (id: string) => ({ type: 'tool-call', id, name: 't', args: { n: 1 }, rawArgs: '{"n":1}' }) as const
const result = (callId: string, ...content: ToolResultPart[]): Message => ({
  role: 'tool',
  callId,
  toolName: 't',
  content,
})
const sealed = { type: 'reasoning', id: 'rs_1', status: 'completed', summary: [], encrypted_content: 'sealed' }
const thought = (made = stamp) => ({ type: 'reasoning', text: '', replay: { stamp: made, data: sealed } }) as const
const wireThought = { type: 'reasoning', summary: [], encrypted_content: 'sealed' }
const messageItem = (value: string) => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text: value }],
})
const convert = (...messages: Message[]) => toWireInput(messages, stamp).input

describe('toWireInput', () => {
  it('lifts the system text out and sends each part of a user message by itself', () => {
    const system: Message = { role: 'system', content: [text('You are.'), text('Be brief.')] }
    expect(toWireInput([system, user(text('a'), text(''), image)], stamp)).toEqual({
      instructions: 'You are.\n\nBe brief.',
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'a' }, wireImage] }],
    })
  })

  it('sends files as they are and says where a recording was', () => {
    const [item] = convert(
      user(
        { type: 'file', mediaType: 'application/pdf', data: 'P', name: 'a.pdf' },
        { type: 'audio', mediaType: 'audio/wav', data: 'W' },
      ),
    )
    expect(item).toMatchObject({
      content: [
        { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,P' },
        { type: 'input_text', text: expect.stringContaining('audio/wav') },
      ],
    })
  })

  it('keeps images within the results they belong to', () => {
    const requested = [user(text('go')), assistant(text('on it'), call('a'), call('b'))]
    const [, spoken, ...rest] = convert(...requested, result('a', text('look'), image), result('b', text('')))
    expect(spoken).toEqual(messageItem('on it'))
    expect(rest).toEqual([
      { type: 'function_call', call_id: 'a', name: 't', arguments: '{"n":1}' },
      { type: 'function_call', call_id: 'b', name: 't', arguments: '{"n":1}' },
      { type: 'function_call_output', call_id: 'a', output: [{ type: 'input_text', text: 'look' }, wireImage] },
      { type: 'function_call_output', call_id: 'b', output: '(no output)' },
    ])
  })

  it('shortens ids and cleans names that other servers made, the same each time', () => {
    const odd = { ...call(`functions.${'x'.repeat(70)}:0`), name: 'made.up name' }
    const [, first, second] = convert(user(text('go')), assistant(odd), result(odd.id, text('ok')))
    expect(first).toMatchObject({ call_id: expect.stringMatching(/^[\w-]{1,64}$/), name: 'made_up_name' })
    expect(second).toHaveProperty('call_id', (first as { call_id: string }).call_id)
  })

  it('keeps calls apart that share an id', () => {
    const turn = [assistant(call('a')), result('a', text('ok'))]
    const items = convert(user(text('go')), ...turn, user(text('again')), ...turn)
    const ids = items.flatMap((item) => ('call_id' in item ? [item.call_id] : []))
    expect(ids).toEqual(['a', 'a', 'a_2', 'a_2'])
  })

  it('replays valid arguments byte for byte, repaired ones repaired, unparsed ones as {}', () => {
    const calls = [
      { ...call('1'), rawArgs: '{ "n":1 }' },
      { ...call('2'), rawArgs: '{"n":1,}' },
      { ...call('3'), args: null, rawArgs: '{"cut' },
    ]
    const sent = convert(user(text('go')), assistant(...calls)).flatMap((item) =>
      item.type === 'function_call' ? [item.arguments] : [],
    )
    expect(sent).toEqual(['{ "n":1 }', '{"n":1}', '{}'])
  })

  it('gives thoughts back without the ids under which nothing is kept, and leaves out those of others', () => {
    const foreign = thought({ ...stamp, model: 'gpt-5.2' })
    const unsealed = { type: 'reasoning', text: 'hm' } as const
    expect(convert(user(text('a')), assistant(thought(), text('x'), foreign, unsealed, call('1'))).slice(1, 4)).toEqual(
      [wireThought, messageItem('x'), { type: 'function_call', call_id: '1', name: 't', arguments: '{"n":1}' }],
    )
  })

  it('never sends a thought without what followed it', () => {
    const items = convert(user(text('a')), assistant(text('x'), thought(), thought()), user(text('b')))
    expect(items.map((item) => item.type)).toEqual(['message', 'message', 'message'])
  })

  it('marks a message with its phase where this endpoint gave it one', () => {
    const phase = (made = stamp) => ({
      type: 'reasoning' as const,
      text: '',
      replay: { stamp: made, data: { type: 'message', phase: 'commentary' } },
    })
    const foreign = phase({ ...stamp, endpoint: 'other' })
    expect(convert(user(text('a')), assistant(phase(), text('x'), text('y'), foreign, text('z'))).slice(1)).toEqual([
      { ...messageItem('x'), phase: 'commentary' },
      messageItem('y'),
      messageItem('z'),
    ])
  })

  const part = fc.oneof(fc.string({ maxLength: 4 }).map(text), fc.constant(image))
  const answer = fc.constantFrom<AssistantPart>(thought(), thought({ ...stamp, model: 'x' }), text(''), text('x'))
  const ids = fc.constantFrom('a', 'b', 'c:1')
  const message: fc.Arbitrary<Message> = fc.oneof(
    fc.array(part, { maxLength: 3 }).map((content) => user(...content)),
    fc
      .tuple(fc.array(answer, { maxLength: 3 }), fc.uniqueArray(ids, { maxLength: 2 }))
      .map(([parts, calls]) => assistant(...parts, ...calls.map(call))),
    fc.tuple(ids, fc.array(part, { maxLength: 2 })).map(([id, content]) => result(id, ...content)),
  )
  const body = (messages: readonly Message[]) => {
    const options = { quirks: {}, stamp, streaming: true, summaries: true }
    return toWireRequest({ model: 'gpt-5', messages, tools: [] }, options) as unknown as WireBody
  }

  it('keeps the prompt prefix and gives requests the server takes, whatever the conversation', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 10 }), fc.nat(), (messages, at) => {
        const cut = at % (messages.length + 1)
        fc.pre(messages[cut]?.role !== 'tool')
        expect(checkPrefix({ body: body(messages.slice(0, cut)) }, { body: body(messages) })).toBeNull()
        expect(checkResponsesRequest(body(messages), (_model, value) => value === 'sealed')).toEqual([])
      }),
      { numRuns: Number(process.env['HERMES_TEST_RUNS'] ?? 100) },
    )
  })
})
