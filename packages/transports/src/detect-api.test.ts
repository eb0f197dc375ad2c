import { expect, it } from 'vitest'
import { detectApi } from './index.js'

it.each([
  ['anthropic', 'https://gateway.example/v1', 'anthropic-messages'],
  ['custom', 'https://api.anthropic.com', 'anthropic-messages'],
  ['custom', 'https://api.example.com/anthropic/', 'anthropic-messages'],
  ['bedrock', '', 'bedrock-converse'],
  ['custom', 'https://bedrock-runtime.eu-west-1.amazonaws.com', 'bedrock-converse'],
  ['custom', 'https://chatgpt.com/backend-api/codex', 'responses'],
  ['openai-codex', 'https://example.com', 'responses'],
  ['openai', 'https://api.openai.com/v1', 'chat-completions'],
  ['custom', 'https://example.com/anthropic-like/v1', 'chat-completions'],
  ['custom', 'not a url', 'chat-completions'],
] as const)('finds for %s at %s the wire %s', (provider, baseUrl, api) => {
  expect(detectApi({ provider, baseUrl, model: 'gpt-5' })).toBe(api)
})
