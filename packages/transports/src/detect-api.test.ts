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
  ['openai', 'https://api.openai.com/v1', 'responses'],
  ['custom', 'https://eu.api.openai.com/v1', 'responses'],
  ['openai', 'http://127.0.0.1:8080/v1', 'chat-completions'],
  ['custom', 'https://api.openai.com.example/v1', 'chat-completions'],
  ['custom', 'https://example.com/anthropic-like/v1', 'chat-completions'],
  ['custom', 'not a url', 'chat-completions'],
] as const)('finds for %s at %s the wire %s', (provider, baseUrl, api) => {
  expect(detectApi({ provider, baseUrl, model: 'gpt-5' })).toBe(api)
})

it.each([
  ['gpt-5.2', 'responses'],
  ['codex-mini-latest', 'responses'],
  ['gpt-4.1', 'chat-completions'],
  ['', 'chat-completions'],
] as const)("finds for %s at OpenAI's own address the wire %s", (model, api) => {
  expect(detectApi({ provider: 'openai', baseUrl: 'https://api.openai.com/v1', model })).toBe(api)
})
