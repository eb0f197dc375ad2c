import type { Message } from '@hermes/contracts/conversation'
import type { ModelEvent, ModelFinish, ModelRequest } from '@hermes/contracts/model'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createTransport } from '../../index.js'
import { ThinkTags } from '../think-tags.js'

// biome-ignore lint/suspicious/noExplicitAny: JSON as it was sent, to be looked into.
type Sent = any

const text = (of: string) => ({ type: 'text', text: of }) as const
const user = (of: string): Message => ({ role: 'user', content: [text(of)] })
const plain: ModelRequest = { model: 'm', messages: [user('hi')], tools: [] }

const sse = (...chunks: readonly unknown[]) =>
  [...chunks, '[DONE]']
    .map((chunk) => `data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`)
    .join('')
const delta = (fields: object, finish_reason: string | null = null) => ({ choices: [{ delta: fields, finish_reason }] })

/** Sends one request as `provider` and gives its body and the answer to `chunks`. */
async function exchange(
  provider: string,
  request: ModelRequest,
  chunks: readonly unknown[] = [delta({ content: 'ok' })],
) {
  let body: Record<string, unknown> = {}
  const transport = createTransport({
    provider,
    api: 'chat-completions',
    baseUrl: 'https://api.example/v1',
    cacheTtl: '1h',
    fetch: async (_url, init) => {
      body = JSON.parse(String(init?.body)) as Record<string, unknown>
      return new Response(sse(...chunks, delta({}, 'stop')), { headers: { 'content-type': 'text/event-stream' } })
    },
  })
  const events: ModelEvent[] = []
  for await (const event of transport.stream(request, { credential: 'k' })) events.push(event)
  return { body, events, finish: events.at(-1) as ModelFinish, stamp: transport.stamp(request.model) }
}

describe('what a request leaves out or says another way', () => {
  it.each([
    ['openai', 'gpt-5.5', undefined],
    ['openai', 'gpt-4.1', 0.5],
    ['kimi-coding', 'kimi-k3', undefined],
    ['custom', 'kimi-k3', 0.5],
  ])('sends as %s to %s the temperature %j', async (provider, model, expected) => {
    const { body } = await exchange(provider, { ...plain, model, temperature: 0.5 })
    expect(body['temperature']).toBe(expected)
  })

  it.each([
    ['openai', 'gpt-5.5', { reasoning_effort: 'minimal' }],
    ['openrouter', 'x/y', { reasoning: { effort: 'minimal' } }],
    ['kimi-coding', 'kimi-k3', { reasoning_effort: 'low', thinking: { type: 'enabled' } }],
    ['xai', 'grok-4-fast', {}],
    ['xai', 'grok-4.6', { reasoning_effort: 'minimal' }],
    ['gemini', 'gemini-2.5-pro', { extra_body: { google: { thinking_config: { include_thoughts: true } } } }],
    [
      'gemini',
      'gemini-3.1-pro-preview',
      { extra_body: { google: { thinking_config: { include_thoughts: true, thinking_level: 'low' } } } },
    ],
    ['gemini', 'gemma-4', { reasoning_effort: 'minimal' }],
    ['mistral', 'm', {}],
  ])('asks %s for effort of %s', async (provider, model, expected) => {
    const { body } = await exchange(provider, { ...plain, model, reasoningEffort: 'minimal' })
    const { model: _model, messages: _messages, stream: _stream, stream_options: _options, ...rest } = body
    expect(rest).toEqual(expected)
  })

  it('asks for as much output as an endpoint wants to be told, unless the request names a limit', async () => {
    expect((await exchange('nvidia', plain)).body).toMatchObject({ max_tokens: 16_384 })
    expect((await exchange('nvidia', { ...plain, maxOutputTokens: 5 })).body).toMatchObject({ max_tokens: 5 })
  })

  it('sends text as a list of parts and further fields where an endpoint wants them', async () => {
    const { body } = await exchange('qwen-oauth', plain)
    expect(body).toMatchObject({ messages: [{ content: [text('hi')] }], vl_high_resolution_images: true })
  })

  it('brings call ids to the form of an endpoint, call and result alike', async () => {
    const id = `call_${'x'.repeat(60)}`
    const messages: Message[] = [
      user('hi'),
      { role: 'assistant', content: [{ type: 'tool-call', id, name: 'read', args: {}, rawArgs: '{}' }] },
      { role: 'tool', callId: id, toolName: 'read', content: [text('ok')] },
    ]
    for (const [provider, form] of [
      ['openai', /^[\w-]{1,40}$/],
      ['mistral', /^[a-z\d]{9}$/],
      ['groq', new RegExp(`^${id}$`)],
    ] as const) {
      const sent = (await exchange(provider, { ...plain, messages })).body['messages'] as Sent[]
      expect(sent[1].tool_calls[0].id).toMatch(form)
      expect(sent[2].tool_call_id).toBe(sent[1].tool_calls[0].id)
    }
  })
})

describe('marks for the cache', () => {
  const messages: Message[] = [
    { role: 'system', content: [text('sys')] },
    user('one'),
    { role: 'assistant', content: [{ type: 'tool-call', id: 'c', name: 'read', args: {}, rawArgs: '{}' }] },
    { role: 'tool', callId: 'c', toolName: 'read', content: [text('two')] },
    { role: 'assistant', content: [text('three')] },
    user('four'),
  ]
  const mark = (body: Record<string, unknown>) =>
    (body['messages'] as Sent[]).map(({ content }) => (Array.isArray(content) ? content.at(-1).cache_control : null))

  it('stand after the system text and on the last three messages with content, for an hour where asked', async () => {
    const { body } = await exchange('openrouter', { ...plain, model: 'anthropic/claude-sonnet-5', messages })
    const hour = { type: 'ephemeral', ttl: '1h' }
    expect(mark(body)).toEqual([hour, undefined, null, hour, hour, hour])
  })

  it('last no longer than the endpoint keeps them, and go to models that know them only', async () => {
    const { body } = await exchange('alibaba', { ...plain, model: 'qwen-plus', messages })
    expect(mark(body)[0]).toEqual({ type: 'ephemeral' })
    expect(mark((await exchange('openrouter', { ...plain, model: 'openai/gpt-5', messages })).body)[0]).toBeNull()
  })

  it('leave the bytes of a message alone when they move on', async () => {
    const model = 'anthropic/claude-sonnet-5'
    const bytes = async (upTo: number) => {
      const { body } = await exchange('openrouter', { ...plain, model, messages: messages.slice(0, upTo) })
      return JSON.stringify(body['messages'], (key, value) => (key === 'cache_control' ? undefined : value))
    }
    expect((await bytes(6)).startsWith((await bytes(4)).slice(0, -1))).toBe(true)
  })
})

describe('thoughts between tags', () => {
  const sort = (pieces: readonly string[], names = ['think', 'thought']) => {
    const tags = new ThinkTags(names)
    const out = [...pieces.map((piece) => tags.push(piece)), tags.end()]
    return [out.map(({ reasoning }) => reasoning).join(''), out.map((piece) => piece.text).join('')]
  }

  it.each([
    ['<think>why</think>\n\nBecause.', 'why', 'Because.'],
    ['\n <THINK>why</Think>x', 'why', 'x'],
    ['<thought>a < b</thought>', 'a < b', ''],
    ['<think>cut off', 'cut off', ''],
    ['The tag <think> opens a thought.', '', 'The tag <think> opens a thought.'],
    ['<thin', '', '<thin'],
    ['<p>hi</p>', '', '<p>hi</p>'],
    ['One.\n<think>two</think>\n\nThree.', 'two', 'One.\nThree.'],
    ['<think>a</think><think>b</think>c', 'ab', 'c'],
    ['One.\n  <think>two', 'two', 'One.\n  '],
    ['One.</think> Two.', '', 'One. Two.'],
    ['The tags `<think>` and `</think>`.', '', 'The tags `<think>` and `</think>`.'],
    ['See <think>\nx\n</think>.', '', 'See <think>\nx\n</think>.'],
    ['```html\n<think>\nx\n</think>\n```\n</think>so', '', '```html\n<think>\nx\n</think>\n```\nso'],
    ['~~~\n```\n<think>\n~~~~\n<think>a</think>b', 'a', '~~~\n```\n<think>\n~~~~\nb'],
    ['``` `\n<think>a', 'a', '``` `\n'],
    ['  indented', '', '  indented'],
  ])('finds in %j the reasoning %j, however it is cut', (answer, reasoning, rest) => {
    expect(sort([answer])).toEqual([reasoning, rest])
    expect(sort([...answer])).toEqual([reasoning, rest])
  })

  it('gives the same for every split', () => {
    const piece = fc.constantFrom('<think>', '</think>', '<', '>', 'think', ' ', '\n', 'a', '</', '`', '```')
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.array(fc.nat(30), { maxLength: 6 }), (words, cuts) => {
        const answer = words.join('')
        const at = [...new Set([0, ...cuts.map((cut) => cut % (answer.length + 1)), answer.length])].sort(
          (a, b) => a - b,
        )
        expect(sort(at.map((from, index) => answer.slice(from, at[index + 1])))).toEqual(sort([answer]))
      }),
      { numRuns: Number(process.env['HERMES_TEST_RUNS'] ?? 200) },
    )
  })

  it('takes what stands before a closing tag alone on its line for a thought', () => {
    const split = (answer: string) => {
      const tags = new ThinkTags(['think'])
      return tags.splitOrphan(tags.push(answer).text + tags.end().text)
    }
    expect(split('Let me see.\n</think>\n\nYes.')).toEqual({ reasoning: 'Let me see.', text: 'Yes.' })
    expect(split('Write </think> to close.')).toEqual({ reasoning: '', text: 'Write  to close.' })
    expect(split('Use <think>\nx\n</think>\nso.')).toEqual({ reasoning: '', text: 'Use <think>\nx\n</think>\nso.' })
  })

  it('become reasoning in events and message of an endpoint that has them, and stay text elsewhere', async () => {
    const chunks = ['<thi', 'nk>hm</th', 'ink>\n\nYes'].map((content) => delta({ content }))
    const { finish, events } = await exchange('ollama', plain, chunks)
    expect(finish.message.content).toMatchObject([{ type: 'reasoning', text: 'hm' }, text('Yes')])
    expect(events.map(({ type }) => type)).toEqual(['reasoning-delta', 'text-delta', 'finish'])
    expect((await exchange('openai', plain, chunks)).finish.message.content).toEqual([text('<think>hm</think>\n\nYes')])
  })
})

describe('what goes back to the endpoint that made it', () => {
  const replayed = async (provider: string, chunks: readonly unknown[], model = 'm') => {
    const { finish } = await exchange(provider, { ...plain, model }, chunks)
    const results: Message[] = finish.message.content.flatMap((part) =>
      part.type === 'tool-call' ? [{ role: 'tool', callId: part.id, toolName: part.name, content: [text('ok')] }] : [],
    )
    const messages: Message[] = [user('hi'), finish.message, ...results, user('go on')]
    return ((await exchange(provider, { ...plain, model, messages })).body['messages'] as Sent[])[1]
  }
  const call = (extra: object = {}) =>
    delta({ tool_calls: [{ index: 0, id: 'c1', function: { name: 'read', arguments: '{}' }, ...extra }] })

  it('are blocks of reasoning, put together from their pieces', async () => {
    const piece = (fields: object) => delta({ reasoning_details: [{ type: 'reasoning.text', index: 0, ...fields }] })
    const sent = await replayed('openrouter', [
      piece({ text: 'Let ' }),
      piece({ text: 'me see.' }),
      piece({ signature: 'sig', text: '' }),
      delta({ reasoning_details: [{ type: 'reasoning.encrypted', index: 1, data: 'xyz' }] }),
      delta({ content: 'Yes.' }),
    ])
    expect(sent.reasoning_details).toEqual([
      { type: 'reasoning.text', index: 0, text: 'Let me see.', signature: 'sig' },
      { type: 'reasoning.encrypted', index: 1, data: 'xyz' },
    ])
  })

  it('is what was attached to a call', async () => {
    const extra_content = { google: { thought_signature: 'abc' } }
    expect((await replayed('gemini', [call({ extra_content })])).tool_calls[0].extra_content).toEqual(extra_content)
    expect((await replayed('openai', [call({ extra_content })])).tool_calls[0]).not.toHaveProperty('extra_content')
  })

  it('is an empty thought where calls are refused without one', async () => {
    expect(await replayed('kimi-coding', [call()])).toMatchObject({ reasoning_content: '' })
    expect(await replayed('kimi-coding', [delta({ reasoning_content: 'hm' }), call()])).toMatchObject({
      reasoning_content: 'hm',
    })
    expect(await replayed('kimi-coding', [delta({ content: 'Yes.' })])).not.toHaveProperty('reasoning_content')
  })
})
