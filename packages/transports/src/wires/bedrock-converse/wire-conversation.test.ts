import {
  type AssistantPart,
  type Message,
  repairConversation,
  type ToolResultPart,
  type UserPart,
} from '@hermes/contracts/conversation'
import type { ModelRequest } from '@hermes/contracts/model'
import { checkConverseRequest, checkPrefix, type WireBody } from '@hermes/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toWireConversation } from './wire-conversation.js'
import { toWireRequest } from './wire-request.js'

const stamp = { provider: 'p', endpoint: 'e', model: 'anthropic.claude-sonnet-4-5-20250929-v1:0' }
const bytes = Buffer.from('AAAA', 'base64')
const text = (value: string) => ({ type: 'text', text: value }) as const
const image = { type: 'image', mediaType: 'image/png', data: 'AAAA' } as const
const wireImage = { image: { format: 'png', source: { bytes } } }
const user = (...content: UserPart[]): Message => ({ role: 'user', content })
const assistant = (...content: AssistantPart[]): Message => ({ role: 'assistant', content })
const call = (id: string) => ({ type: 'tool-call', id, name: 't', args: { n: 1 }, rawArgs: '{"n":1}' }) as const
const thought = (made = stamp) =>
  ({
    type: 'reasoning',
    text: 'hm',
    replay: { stamp: made, data: { reasoningText: { text: 'hm', signature: 'sig' } } },
  }) as const
const hidden = { type: 'reasoning', text: '', replay: { stamp, data: { redactedContent: 'AAAA' } } } as const
const result = (callId: string, ...content: ToolResultPart[]): Message => ({
  role: 'tool',
  callId,
  toolName: 't',
  content,
})
const file = (mediaType: string, name?: string) =>
  ({ type: 'file', mediaType, data: 'AAAA', ...(name === undefined ? {} : { name }) }) as const
const options = { stamp, resultStatus: true }
const convert = (...messages: Message[]) => toWireConversation(messages, options).messages

describe('toWireConversation', () => {
  it('lifts the system text out and leaves out blank blocks', () => {
    const system: Message = { role: 'system', content: [text('You are.'), text(' \n'), text('Be brief.')] }
    expect(toWireConversation([system, user(text('a'), text(''), text('b'))], options)).toEqual({
      system: [{ text: 'You are.' }, { text: 'Be brief.' }],
      messages: [{ role: 'user', content: [{ text: 'a' }, { text: 'b' }] }],
    })
  })

  it('puts results, their images and what the user says next into one message', () => {
    const failed = { ...result('b', text('no such file')), isError: true } as Message
    const turns = [user(text('go')), assistant(call('a'), call('b')), result('a', image), failed, user(text('and?'))]
    const done = { toolResult: { toolUseId: 'a', content: [wireImage] } }
    const broken = { toolUseId: 'b', content: [{ text: 'no such file' }] }
    expect(convert(...turns).slice(1)).toEqual([
      {
        role: 'assistant',
        content: ['a', 'b'].map((id) => ({ toolUse: { toolUseId: id, name: 't', input: { n: 1 } } })),
      },
      { role: 'user', content: [done, { toolResult: { ...broken, status: 'error' } }, { text: 'and?' }] },
    ])
    const plain = toWireConversation(turns, { stamp, resultStatus: false }).messages
    expect(plain[2]?.content[1]).toEqual({ toolResult: broken })
  })

  it('gives documents names that the service takes, no two alike, and a text beside them', () => {
    const wire = convert(
      user(file('application/pdf', 'report_v1.2.pdf'), file('text/x-python')),
      assistant(text('Which?')),
      user(text('this'), file('application/pdf', 'report_v1.2.pdf')),
    )
    const source = { bytes }
    expect(wire[0]?.content).toEqual([
      { text: '(see the document)' },
      { document: { format: 'pdf', name: 'report v1 2 pdf (1)', source } },
      { document: { format: 'txt', name: 'document (2)', source } },
    ])
    expect(wire[2]?.content).toEqual([
      { text: 'this' },
      { document: { format: 'pdf', name: 'report v1 2 pdf (3)', source } },
    ])
  })

  it('says what was there in place of what the wire does not take', () => {
    const wire = convert(
      user(
        { type: 'image', mediaType: 'image/jpg', data: 'AAAA' },
        { type: 'image', mediaType: 'image/tiff', data: 'T' },
        { type: 'audio', mediaType: 'audio/wav', data: 'W' },
        file('application/zip', 'a.zip'),
      ),
    )
    expect(wire[0]?.content).toEqual([
      { image: { format: 'jpeg', source: { bytes } } },
      ...['image/tiff', 'audio/wav', 'a.zip'].map((word) => ({ text: expect.stringContaining(word) })),
    ])
  })

  it('gives thoughts back to the same endpoint and model only', () => {
    const foreign = thought({ ...stamp, model: 'other' })
    const turns = [user(text('a')), assistant(foreign, thought(), hidden, text('b')), user(text('c'))]
    expect(convert(...turns)[1]?.content).toEqual([
      { reasoningContent: { reasoningText: { text: 'hm', signature: 'sig' } } },
      { reasoningContent: { redactedContent: bytes } },
      { text: 'b' },
    ])
  })

  it('begins with the user, fills what is empty and brings ids into the form of the wire', () => {
    const id = 'call|with.dots and a name of more than sixty-four characters in all'
    const wire = convert(
      assistant(call(id)),
      result(id, text(' ')),
      assistant(thought({ ...stamp, endpoint: 'other' })),
    )
    expect(wire[0]).toEqual({ role: 'user', content: [{ text: '(continue)' }] })
    const requested = wire[1]?.content[0]?.toolUse?.toolUseId
    expect(requested).toMatch(/^[\w-]{1,64}$/)
    expect(wire[2]?.content).toEqual([{ toolResult: { toolUseId: requested, content: [{ text: '(no output)' }] } }])
    expect(wire[3]?.content).toEqual([{ text: '(empty)' }])
  })
})

const anyText = fc.oneof(fc.string(), fc.constantFrom('', ' ', '\ud800', '😀')).map(text)
const anyPart: fc.Arbitrary<UserPart> = fc.oneof(anyText, fc.constantFrom(image, file('text/csv', 'ä/b.csv')))
const anyId = fc.constantFrom('a', 'b', 'c|d', 'x'.repeat(80))
const anyMessage: fc.Arbitrary<Message> = fc.oneof(
  fc.array(anyPart, { maxLength: 3 }).map((parts) => user(...parts)),
  fc
    .array(fc.oneof(anyText, anyId.map(call), fc.constant(hidden)), { maxLength: 4 })
    .map((parts) => assistant(...parts)),
  fc.tuple(anyId, anyText).map(([id, text]) => result(id, text)),
)
const tools: ModelRequest['tools'] = [{ name: 't', description: '', parameters: { type: 'object', properties: {} } }]

function wireBody(messages: readonly Message[]): WireBody {
  const input = toWireRequest({ model: stamp.model, messages, tools }, { stamp, cacheTtl: '1h', uncached: false })
  return JSON.parse(JSON.stringify({ ...input, model: input.modelId })) as WireBody
}

describe('toWireRequest', () => {
  it('makes a valid request of any conversation, the same bytes each time', () => {
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 12 }), (before) => {
        const messages = [...before, user(text('go on'))]
        const body = wireBody(messages)
        expect(checkConverseRequest(body, () => '')).toEqual([])
        expect(JSON.stringify(wireBody(messages))).toBe(JSON.stringify(body))
      }),
    )
  })

  it('keeps the prefix of any conversation that grows', () => {
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 12 }), fc.nat(), (before, at) => {
        const messages = [...before, user(text('go on'))]
        const cut = at % messages.length
        // A request goes out when the user or a tool has spoken, and all results of a turn have come.
        fc.pre(messages[cut]?.role !== 'tool')
        fc.pre(repairConversation(messages.slice(0, cut)).at(-1)?.role !== 'assistant')
        expect(checkPrefix({ body: wireBody(messages.slice(0, cut)) }, { body: wireBody(messages) })).toBeNull()
      }),
    )
  })
})
