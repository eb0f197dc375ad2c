import {
  type AssistantPart,
  type Message,
  repairConversation,
  type ToolResultPart,
  type UserPart,
} from '@hermes/contracts/conversation'
import { checkMessagesRequest, checkPrefix } from '@hermes/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toWireConversation } from './wire-conversation.js'
import { toWireRequest } from './wire-request.js'

const stamp = { provider: 'p', endpoint: 'e', model: 'claude-m' }
const text = (value: string) => ({ type: 'text', text: value }) as const
const image = { type: 'image', mediaType: 'image/png', data: 'AAAA' } as const
const wireImage = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }
const user = (...content: UserPart[]): Message => ({ role: 'user', content })
const assistant = (...content: AssistantPart[]): Message => ({ role: 'assistant', content })
const call = (id: string) => ({ type: 'tool-call', id, name: 't', args: { n: 1 }, rawArgs: '{"n":1}' }) as const
const thought = (made = stamp) =>
  ({
    type: 'reasoning',
    text: 'hm',
    replay: { stamp: made, data: { type: 'thinking', thinking: 'hm', signature: 'sig' } },
  }) as const
const result = (callId: string, ...content: ToolResultPart[]): Message => ({
  role: 'tool',
  callId,
  toolName: 't',
  content,
})
const convert = (...messages: Message[]) => toWireConversation(messages, stamp).messages

describe('toWireConversation', () => {
  it('lifts the system text out and leaves out blank blocks', () => {
    const system: Message = { role: 'system', content: [text('You are.'), text(' \n'), text('Be brief.')] }
    expect(toWireConversation([system, user(text('a'), text(''), text('b'))], stamp)).toEqual({
      system: [text('You are.'), text('Be brief.')],
      messages: [{ role: 'user', content: [text('a'), text('b')] }],
    })
  })

  it('puts results, their images and what the user says next into one message, results first', () => {
    const failed: Message = { ...result('b', text('no such file')), isError: true } as Message
    const wire = convert(
      user(text('go')),
      assistant(call('a'), call('b')),
      result('a', image),
      failed,
      user(text('and?')),
    )
    expect(wire.slice(1)).toEqual([
      {
        role: 'assistant',
        content: ['a', 'b'].map((id) => ({ type: 'tool_use', id, name: 't', input: { n: 1 } })),
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: [wireImage] },
          { type: 'tool_result', tool_use_id: 'b', content: [text('no such file')], is_error: true },
          text('and?'),
        ],
      },
    ])
  })

  it('sends files and images the wire has, and says what was there in place of others', () => {
    const note = Buffer.from('naïve').toString('base64')
    const wire = convert(
      user(
        { type: 'image', mediaType: 'image/jpg', data: 'J' },
        { type: 'image', mediaType: 'image/tiff', data: 'T' },
        { type: 'audio', mediaType: 'audio/wav', data: 'W' },
        { type: 'file', mediaType: 'application/pdf', data: 'P', name: 'a.pdf' },
        { type: 'file', mediaType: 'text/plain', data: note },
        { type: 'file', mediaType: 'application/zip', data: 'Z', name: 'a.zip' },
      ),
    )
    expect(wire[0]?.content).toEqual([
      { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'J' } },
      text(expect.stringContaining('image/tiff')),
      text(expect.stringContaining('audio/wav')),
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'P' }, title: 'a.pdf' },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'naïve' } },
      text(expect.stringContaining('a.zip')),
    ])
  })

  it('keeps thoughts of this endpoint where they stood and leaves out those of others', () => {
    const foreign = thought({ ...stamp, model: 'other' })
    const unsigned = { type: 'reasoning', text: 'hm' } as const
    const [, first, , second] = convert(
      user(text('a')),
      assistant(text('x'), thought(), call('1')),
      result('1', text('ok')),
      assistant(foreign, unsigned, text('y')),
      user(text('b')),
    )
    expect(first?.content.map(({ type }) => type)).toEqual(['text', 'thinking', 'tool_use'])
    expect(second?.content).toEqual([text('y')])
  })

  it('gives ids of other servers a form this wire takes, each its own, the same for call and result', () => {
    const ids = ['functions.read:0', 'functions_read:0', 'x'.repeat(80), 'toolu_01-ok']
    const wire = convert(user(text('go')), assistant(...ids.map(call)), ...ids.map((id) => result(id, text('ok'))))
    const [sent, answered] = [wire[1]!, wire[2]!].map(({ content }) =>
      content.map((block) =>
        block.type === 'tool_use' ? block.id : block.type === 'tool_result' ? block.tool_use_id : '',
      ),
    )
    expect(sent).toEqual(answered)
    expect(new Set(sent).size).toBe(ids.length)
    for (const id of sent!) expect(id).toMatch(/^[\w-]{1,64}$/)
    expect(sent![3]).toBe('toolu_01-ok')
  })

  it('begins with the user and fills what would be empty', () => {
    expect(convert(assistant(text('hello')), user(text('hi')))[0]).toEqual({
      role: 'user',
      content: [text('(continue)')],
    })
    expect(convert(user(text('a')), assistant(call('1')), result('1', text('')))[2]?.content).toMatchObject([
      { content: [text('(no output)')] },
    ])
  })

  const part = fc.oneof(fc.string({ maxLength: 4 }).map(text), fc.constant(image))
  const answerPart = fc.oneof(
    fc.constantFrom<AssistantPart>(thought(), thought({ ...stamp, model: 'x' }), text(' '), text('x')),
  )
  const ids = fc.constantFrom('a', 'b', 'c:1')
  const message: fc.Arbitrary<Message> = fc.oneof(
    fc.array(part, { maxLength: 3 }).map((content) => user(...content)),
    fc
      .tuple(fc.array(answerPart, { maxLength: 3 }), fc.uniqueArray(ids, { maxLength: 2 }))
      .map(([parts, calls]) => assistant(...parts, ...calls.map(call))),
    fc.tuple(ids, fc.array(part, { maxLength: 2 })).map(([id, content]) => result(id, ...content)),
  )
  const body = (messages: readonly Message[]) => {
    const request = { model: 'claude-m', messages, tools: [] }
    return toWireRequest(request, { stamp, streaming: true, cacheTtl: '5m' }) as unknown as Parameters<
      typeof checkMessagesRequest
    >[0]
  }

  it('keeps the prompt prefix and gives requests the server takes, whatever the conversation', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 10 }), fc.nat(), (before, at) => {
        const messages = [...before, user(text('end'))]
        const cut = at % messages.length
        // A request goes out when the user or a tool has spoken, and all results of a turn have come.
        fc.pre(messages[cut]?.role !== 'tool')
        fc.pre(repairConversation(messages.slice(0, cut)).at(-1)?.role !== 'assistant')
        expect(checkPrefix({ body: body(messages.slice(0, cut)) }, { body: body(messages) })).toBeNull()
        expect(checkMessagesRequest(body(messages), { 'anthropic-version': '1' }, () => 'sig')).toEqual([])
      }),
      { numRuns: Number(process.env['HERMES_TEST_RUNS'] ?? 100) },
    )
  })
})
