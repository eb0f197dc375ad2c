import { describe, expect, it } from 'vitest'
import { modelNameAt, providersOf } from './model-names.js'

describe('the name of a model', () => {
  it.each([
    // Written as the provider writes it.
    ['anthropic', 'anthropic/claude-opus-4.6', 'claude-opus-4-6'],
    ['anthropic', 'claude-3.5-sonnet', 'claude-3-5-sonnet'],
    ['openrouter', 'claude-opus-4-6', 'anthropic/claude-opus-4.6'],
    ['kilocode', 'gpt-5', 'openai/gpt-5'],
    ['copilot', 'anthropic/claude-sonnet-4-6', 'claude-sonnet-4.6'],
    ['openai', 'openai/GPT-4.1', 'gpt-4.1'],
    ['openai-codex', 'openai/gpt-5', 'gpt-5'],
    ['gemini', 'google/gemini-3.8-flash', 'gemini-3.8-flash'],
    ['minimax', 'minimax/MiniMax-M2.7', 'MiniMax-M2.7'],
    // Dates are no versions.
    ['anthropic', 'claude-sonnet-4-20250514', 'claude-sonnet-4-20250514'],
    ['openrouter', 'claude-sonnet-4-20250514', 'anthropic/claude-sonnet-4-20250514'],
    ['openai', 'gpt-4o-2024-08-06', 'gpt-4o-2024-08-06'],
    // Fine-tunes and open weights.
    ['openai', 'ft:gpt-4o:Me::Id', 'ft:gpt-4o:Me::Id'],
    ['openrouter', 'ft:gpt-4o:Me::Id', 'ft:gpt-4o:Me::Id'],
    ['openai', 'gpt-oss-120b', 'gpt-oss-120b'],
    ['groq', 'openai/gpt-oss-120b', 'openai/gpt-oss-120b'],
    ['openrouter', 'openai/gpt-oss-120b', 'openai/gpt-oss-120b'],
    // Other vendors, and providers that are not the maker.
    ['openrouter', 'somebody/gpt-4-clone', 'somebody/gpt-4-clone'],
    ['anthropic', 'somebody/claude-4.6-tuned', 'somebody/claude-4.6-tuned'],
    ['openai', 'claude-opus-4.6', 'claude-opus-4.6'],
    ['groq', 'deepseek/deepseek-r1', 'deepseek/deepseek-r1'],
    ['ollama', 'deepseek-r1:8b', 'deepseek-r1:8b'],
    ['custom', 'openai/gpt-4o', 'openai/gpt-4o'],
    ['openai', 'Meta/Llama/8B', 'Meta/Llama/8B'],
  ])('at %s, of %s, is %s', (id, model, name) => {
    expect(modelNameAt({ id }, model)).toBe(name)
    expect(modelNameAt({ id }, name)).toBe(name)
  })

  it.each([
    ['claude-opus-4.6', ['anthropic', 'openrouter', 'kilocode']],
    ['x-ai/grok-4', ['xai', 'xai-oauth', 'openrouter', 'kilocode']],
    ['openai/gpt-oss-120b', ['openrouter', 'kilocode']],
    ['somebody/gpt-4-clone', ['openrouter', 'kilocode']],
    ['gpt-oss-120b', []],
    ['ft:gpt-4o:Me::Id', []],
  ])('%s is served by %j', (model, providers) => {
    expect(providersOf(model)).toEqual(providers)
  })
})
