import type { ModelRequest } from '@hermes/contracts/model'
import { expect, it } from 'vitest'
import { createTransport, type TransportOptions } from './create-transport.js'

const MINUTES = 60_000

it.each<readonly [string, Partial<TransportOptions>, Partial<ModelRequest>, number | null]>([
  ['Anthropic keeps five minutes', { provider: 'anthropic' }, {}, 5 * MINUTES],
  ['or an hour', { provider: 'anthropic', cacheTtl: '1h' }, {}, 60 * MINUTES],
  ['adaptive thoughts need no budget', {}, { model: 'claude-opus-4-6', reasoningEffort: 'high' }, 5 * MINUTES],
  ['a budget of thoughts costs more', {}, { model: 'claude-haiku-4-5', reasoningEffort: 'high' }, null],
  [
    'OpenRouter passes marks on for Claude',
    { provider: 'openrouter' },
    { model: 'anthropic/claude-sonnet-4.5' },
    5 * MINUTES,
  ],
  [
    'and not with an effort',
    { provider: 'openrouter' },
    { model: 'anthropic/claude-sonnet-4.5', reasoningEffort: 'low' },
    null,
  ],
  ['models without marks keep what they like', { provider: 'openrouter' }, { model: 'openai/gpt-5' }, null],
  [
    'Bedrock keeps an hour of newer Claude',
    { provider: 'bedrock', cacheTtl: '1h' },
    { model: 'us.anthropic.claude-sonnet-4-5' },
    60 * MINUTES,
  ],
  ['and five minutes of Nova', { provider: 'bedrock', cacheTtl: '1h' }, { model: 'amazon.nova-pro-v1:0' }, 5 * MINUTES],
  ['OpenAI says no time', { provider: 'openai' }, { model: 'gpt-5' }, null],
])('%s', (_, options, request, lifetimeMs) => {
  const whole: ModelRequest = { model: 'claude-sonnet-4-5', messages: [], tools: [], ...request }
  const { model } = whole
  const transport = createTransport({ provider: 'anthropic', baseUrl: 'https://models.example', model, ...options })
  expect(transport.cacheLifetimeMs?.(whole)).toBe(lifetimeMs)
})
