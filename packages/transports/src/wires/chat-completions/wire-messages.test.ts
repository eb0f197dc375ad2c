import type { Message } from '@hermes/contracts/conversation'
import { checkPrefix, checkWirePairs } from '@hermes/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toWireMessages } from '../../index.js'

const text = (value: string) => ({ type: 'text', text: value }) as const
const image = { type: 'image', mediaType: 'image/png', data: 'AAAA' } as const
const url = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
const user = (...content: Extract<Message, { role: 'user' }>['content'][number][]): Message => ({
  role: 'user',
  content,
})
const call = (id: string, rawArgs = '{}', args: object | null = {}) =>
  ({ type: 'tool-call', id, name: 't', args, rawArgs }) as Extract<
    Extract<Message, { role: 'assistant' }>['content'][number],
    { type: 'tool-call' }
  >
const result = (callId: string, ...content: Extract<Message, { role: 'tool' }>['content'][number][]): Message => ({
  role: 'tool',
  callId,
  toolName: 't',
  content,
})

describe('toWireMessages', () => {
  it('sends text as one string and joins parts by an empty line', () => {
    expect(toWireMessages([user(text('a'), text(''), text('b'))])).toEqual([{ role: 'user', content: 'a\n\nb' }])
  })

  it('sends other content as a list with neighbouring texts joined', () => {
    const audio = { type: 'audio', mediaType: 'audio/mpeg', data: 'BBBB' } as const
    const file = { type: 'file', mediaType: 'application/pdf', data: 'CCCC', name: 'a.pdf' } as const
    expect(toWireMessages([user(text('a'), text('b'), image, audio, file, text('c'))])).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a\n\nb' },
          url,
          { type: 'input_audio', input_audio: { data: 'BBBB', format: 'mp3' } },
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,CCCC' } },
          { type: 'text', text: 'c' },
        ],
      },
    ])
  })

  it('replays valid arguments byte for byte, repaired ones repaired, unparsed ones as {}', () => {
    const calls = [call('1', '{ "a":1 }', { a: 1 }), call('2', '{"a":1,}', { a: 1 }), call('3', '{"cut', null)]
    const wire = toWireMessages([
      user(text('go')),
      { role: 'assistant', content: [text('on it'), ...calls] },
      ...calls.map(({ id }) => result(id, text('ok'))),
    ])
    const sent = (id: string, args: string) => ({ id, type: 'function', function: { name: 't', arguments: args } })
    expect(wire[1]).toEqual({
      role: 'assistant',
      content: 'on it',
      tool_calls: [sent('1', '{ "a":1 }'), sent('2', '{"a":1}'), sent('3', '{}')],
    })
  })

  it('puts images of results into a user message after all results, together with what the user says next', () => {
    const requested: Message[] = [user(text('go')), { role: 'assistant', content: [call('1'), call('2')] }]
    const answered = [...requested, result('1', image), result('2', text('ok'))]
    const shown = [{ type: 'text', text: 'Images from the result of t (1):' }, url]
    expect(toWireMessages(answered).slice(2)).toEqual([
      { role: 'tool', tool_call_id: '1', content: '(the result is an image; it follows)' },
      { role: 'tool', tool_call_id: '2', content: 'ok' },
      { role: 'user', content: shown },
    ])
    expect(toWireMessages([...answered, user(text('stop'))]).at(-1)).toEqual({
      role: 'user',
      content: [...shown, text('stop')],
    })
  })

  it('gives reasoning back only to the endpoint it came from, and only where the endpoint takes it', () => {
    const stamp = { provider: 'p', endpoint: 'e', model: 'm' }
    const thought = { type: 'reasoning', text: 'hm', replay: { stamp, data: null } } as const
    const messages: Message[] = [user(text('q')), { role: 'assistant', content: [thought, text('a')] }]
    const quirks = { replayReasoningAs: 'reasoning_content' } as const
    expect(toWireMessages(messages, { stamp, quirks })[1]).toHaveProperty('reasoning_content', 'hm')
    const plain = { role: 'assistant', content: 'a' }
    expect(toWireMessages(messages, { stamp: { ...stamp, model: 'n' }, quirks })[1]).toEqual(plain)
    expect(toWireMessages(messages, { stamp })[1]).toEqual(plain)
  })

  it('sends system text as developer to the models that want it', () => {
    const messages: Message[] = [{ role: 'system', content: [text('You are.')] }, user(text('q'))]
    const quirks = { developerRoleModels: ['gpt-5'] }
    const roles = ['gpt-5-mini', 'gpt-4.1'].map((model) => toWireMessages(messages, { quirks, model })[0]?.role)
    expect(roles).toEqual(['developer', 'system'])
  })

  const part = fc.oneof(fc.string({ maxLength: 4 }).map(text), fc.constant(image))
  const message: fc.Arbitrary<Message> = fc.oneof(
    fc.array(part, { maxLength: 3 }).map((content) => user(...content)),
    fc
      .uniqueArray(fc.constantFrom('a', 'b'), { maxLength: 2 })
      .map((ids): Message => ({ role: 'assistant', content: [text('x'), ...ids.map((id) => call(id))] })),
    fc
      .tuple(fc.constantFrom('a', 'b'), fc.array(part, { maxLength: 2 }))
      .map(([id, content]) => result(id, ...content)),
  )

  it('keeps the prompt prefix and pairs calls with results, whatever the conversation', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 10 }), fc.nat(), (messages, at) => {
        const cut = at % (messages.length + 1)
        fc.pre(messages[cut]?.role !== 'tool')
        const body = (list: readonly Message[]) => ({ body: { model: 'm', messages: toWireMessages(list) } })
        expect(checkPrefix(body(messages.slice(0, cut)), body(messages))).toBeNull()
        expect(checkWirePairs(toWireMessages(messages))).toEqual([])
      }),
      { numRuns: Number(process.env['HERMES_TEST_RUNS'] ?? 100) },
    )
  })
})
