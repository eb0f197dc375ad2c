import type { ModelFinish, ModelRequest, WireApi } from '@hermes/contracts/model'
import { expect, it } from 'vitest'
import { createTransport } from '../index.js'

const request: ModelRequest = {
  model: 'm',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
  tools: [],
}

/** Asks `provider`, whose answer comes in one piece, and gives what was sent and what came. */
async function ask(
  { provider, api, headers = {} }: { provider: string; api: WireApi; headers?: Record<string, string> },
  more: Partial<ModelRequest>,
  answer: object,
) {
  let sent: { body: Record<string, unknown>; headers: Headers } | undefined
  const transport = createTransport({
    provider,
    api,
    baseUrl: 'https://api.example/v1',
    headers,
    fetch: async (_url, init) => {
      sent = { body: JSON.parse(String(init?.body)) as Record<string, unknown>, headers: new Headers(init?.headers) }
      return Response.json(answer)
    },
  })
  let finish: ModelFinish | undefined
  for await (const event of transport.stream({ ...request, ...more }, { credential: 'k' }))
    if (event.type === 'finish') finish = event
  return { ...sent!, finish: finish! }
}

const chat = { choices: [{ message: { content: 'ok' }, finish_reason: 'stop' }] }
const response = { status: 'completed', output: [{ type: 'message', content: [{ type: 'output_text', text: 'ok' }] }] }
const message = { content: [{ type: 'text', text: 'ok' }], stop_reason: 'end_turn', usage: {} }

it.each([
  ['openai', 'chat-completions', chat],
  ['openai', 'responses', response],
  ['openrouter', 'chat-completions', chat],
] as const)('is asked of %s over %s, and answers of another one have other prices', async (provider, api, answer) => {
  const usual = await ask({ provider, api }, { serviceTier: 'standard' }, answer)
  expect(usual.body).not.toHaveProperty('service_tier')
  expect(usual.finish).not.toHaveProperty('isPricedApart')
  const fast = await ask({ provider, api }, { serviceTier: 'fast' }, { ...answer, service_tier: 'priority' })
  expect([fast.body['service_tier'], fast.finish.isPricedApart]).toEqual(['priority', true])
  const flex = await ask({ provider, api }, { serviceTier: 'flex' }, { ...answer, service_tier: 'default' })
  expect([flex.body['service_tier'], flex.finish.isPricedApart]).toEqual(['flex', undefined])
})

it('is not asked of who has none', async () => {
  const { body } = await ask({ provider: 'custom', api: 'chat-completions' }, { serviceTier: 'fast' }, chat)
  expect(body).not.toHaveProperty('service_tier')
})

it('is a speed at Anthropic, for models that have it, beside what else of the protocol is no standard yet', async () => {
  const anthropic = { provider: 'anthropic', api: 'anthropic-messages', headers: { 'Anthropic-Beta': 'mine' } } as const
  const fast = await ask(
    anthropic,
    { model: 'claude-opus-5-5', serviceTier: 'fast' },
    { ...message, usage: { speed: 'fast' } },
  )
  expect([fast.body['speed'], fast.headers.get('anthropic-beta'), fast.finish.isPricedApart]).toEqual([
    'fast',
    'mine,fast-mode-2026-02-01',
    true,
  ])
  for (const [model, serviceTier] of [
    ['claude-sonnet-5-5', 'fast'],
    ['claude-opus-5-5', 'flex'],
  ] as const) {
    const other = await ask(anthropic, { model, serviceTier }, message)
    expect(other.body).not.toHaveProperty('speed')
    expect([other.headers.get('anthropic-beta'), other.finish.isPricedApart]).toEqual(['mine', undefined])
  }
})
