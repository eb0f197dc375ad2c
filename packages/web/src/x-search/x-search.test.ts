import type { HermesError, JsonObject } from '@hermes/contracts'
import { createFakeClock } from '@hermes/testkit'
import OpenAI from 'openai'
import { describe, expect, it, onTestFinished } from 'vitest'
import { allowing, failingReply, type Reply, type Seen, serve } from '../__fixtures__/serve.js'
import { createXSearchTool } from '../tools/index.js'
import type { Web } from '../web.js'
import { createXSearch, type XQuery, type XSearchOptions, type XSearchSettings } from './x-search.js'

const SETTINGS: XSearchSettings = { model: 'grok-4.5', reasoning_effort: null, timeout_seconds: 180, retries: 2 }
const POST = 'https://x.com/someone/status/1'
const TEXT = `Someone says it rains [[1]](${POST}).`
const ANSWER: JsonObject = {
  id: 'r',
  object: 'response',
  status: 'completed',
  citations: [POST, 'https://x.com/other/status/2'],
  output: [
    { type: 'custom_tool_call', status: 'completed', name: 'x_keyword_search' },
    {
      type: 'message',
      role: 'assistant',
      content: [
        {
          type: 'output_text',
          text: TEXT,
          annotations: [{ type: 'url_citation', url: POST, title: '1', start_index: 22, end_index: 60 }],
        },
      ],
    },
  ],
}

async function open(
  reply: (seen: Seen, count: number) => Reply,
  {
    settings = {},
    ...more
  }: { readonly settings?: Partial<XSearchSettings> } & Partial<Pick<XSearchOptions, 'login'>> = {},
) {
  let count = 0
  const server = await serve((seen) => reply(seen, ++count))
  onTestFinished(server.close)
  const clock = createFakeClock()
  const x = createXSearch({
    settings: { ...SETTINGS, ...settings },
    variables: { XAI_API_KEY: 'xai-key', XAI_BASE_URL: `${server.baseUrl}/v1/` },
    fetchTo: server.fetchTo,
    login: null,
    clock: { ...clock, sleep: async () => undefined },
    ...more,
  })
  const call = { permit: allowing().permit, signal: AbortSignal.timeout(10_000) }
  return { ...server, x, call, search: (query: XQuery) => x.search(query, call) }
}

describe('searches on X', () => {
  it('ask the Responses API of xAI with its own tool, and keep what the answer cites', async () => {
    const { search, requests } = await open(() => ANSWER, { settings: { reasoning_effort: 'low' } })
    const found = await search({
      query: 'rain',
      allowed_x_handles: ['@someone', 'someone'],
      from_date: '1970-01-01',
      to_date: '2999-01-01',
      enable_image_understanding: true,
    })
    expect(requests).toMatchObject([
      { method: 'POST', path: '/v1/responses', headers: { authorization: 'Bearer xai-key' } },
    ])
    expect(requests[0]!.body).toEqual({
      model: 'grok-4.5',
      store: false,
      input: [{ role: 'user', content: 'rain' }],
      tools: [
        {
          type: 'x_search',
          allowed_x_handles: ['someone'],
          from_date: '1970-01-01',
          to_date: '2999-01-01',
          enable_image_understanding: true,
        },
      ],
      reasoning: { effort: 'low' },
    })
    expect(found).toEqual({
      text: TEXT,
      citations: [
        { url: POST, title: '', isNamed: true },
        { url: 'https://x.com/other/status/2', title: '', isNamed: false },
      ],
    })
  })

  it('get what the package that xAI names for its API gets from the same server', async () => {
    const { baseUrl, search, requests } = await open(() => ANSWER)
    const client = new OpenAI({ apiKey: 'xai-key', baseURL: `${baseUrl}/v1`, maxRetries: 0 })
    const tools = [{ type: 'x_search' }] as never
    const theirs = await client.responses.create({ model: 'grok-4.5', store: false, input: 'rain', tools })
    expect(theirs.output_text).toBe((await search({ query: 'rain' })).text)
    expect(requests[1]!.path).toBe(requests[0]!.path)
  })

  it.each<[string, XQuery]>([
    ['exclude each other', { query: 'x', allowed_x_handles: ['a'], excluded_x_handles: ['b'] }],
    ['no handle', { query: 'x', allowed_x_handles: ['not a handle'] }],
    ['10 handles at most', { query: 'x', excluded_x_handles: [...'abcdefghijk'] }],
    ['no date', { query: 'x', from_date: '2026-02-31' }],
    ['after to_date', { query: 'x', from_date: '1970-01-02', to_date: '1970-01-01' }],
    ['not come yet', { query: 'x', from_date: '2999-01-01' }],
  ])('are not made where they would be refused: %s', async (words, query) => {
    const { search, requests } = await open(() => ANSWER)
    await expect(search(query)).rejects.toMatchObject({
      code: 'web.bad_query',
      message: expect.stringContaining(words),
    })
    expect(requests).toEqual([])
  })

  it('are made again where that may help, so often and no more', async () => {
    const busy = await open((_, count) => (count < 3 ? failingReply({ type: 'status', status: 503 }) : ANSWER))
    expect((await busy.search({ query: 'x' })).text).toBe(TEXT)
    expect(busy.requests).toHaveLength(3)
    const limited = await open(() => failingReply({ type: 'status', status: 429, headers: { 'retry-after': '7' } }))
    await expect(limited.search({ query: 'x' })).rejects.toThrow(/xAI was asked too often \(429\).*7 s/)
    expect(limited.requests).toHaveLength(3)
  })

  it.each([
    [401, 'web.refused'],
    [402, 'web.refused'],
    [400, 'web.failed'],
  ])('end with one line at once where they are answered %i', async (status, code) => {
    const { search, requests } = await open(() => failingReply({ type: 'status', status }))
    const error: unknown = await search({ query: 'x' }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code, message: expect.stringContaining(String(status)) })
    expect((error as HermesError).message).not.toMatch(/\n|xai-key/)
    expect(requests).toHaveLength(1)
  })

  it('go by the login of a person before the key, and say what is missing where there is neither', async () => {
    const login = { isThere: () => true, token: async () => 'token-of-the-person' }
    const { search, requests } = await open(() => ANSWER, { login })
    await search({ query: 'x' })
    expect(requests[0]!.headers.authorization).toBe('Bearer token-of-the-person')
    const none = createXSearch({
      settings: SETTINGS,
      variables: {},
      fetchTo: () => fetch,
      login: null,
      clock: createFakeClock(),
    })
    expect(none.isConfigured()).toBe(false)
    const run = none.search({ query: 'x' }, { permit: allowing().permit, signal: AbortSignal.timeout(1_000) })
    await expect(run).rejects.toMatchObject({ code: 'web.not_configured' })
  })
})

describe('x_search', () => {
  const run = async (reply: JsonObject) => {
    const { x, call } = await open(() => reply)
    const tool = createXSearchTool({ web: { x, mayFetch: async () => true } as unknown as Web })
    expect(await tool.available?.()).toBe(true)
    const result = await tool.execute({ query: ' rain\n' }, call as never)
    return result as { readonly text: string; readonly data: JsonObject }
  }

  it('gives the answer with its sources', async () => {
    const { text, data } = await run(ANSWER)
    expect(text).toBe(`${TEXT}\n\nSources:\n1. ${POST}\n2. https://x.com/other/status/2`)
    expect(data).toMatchObject({ served_by: 'xai', citations: [{ url: POST, named: true }, { named: false }] })
  })

  it('says so where an answer names no post', async () => {
    const content = [{ type: 'output_text', text: 'It rains.' }]
    const { text } = await run({ output: [{ type: 'message', content }] })
    expect(text).toContain('names no post')
  })
})
