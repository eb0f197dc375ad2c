import { describe, expect, it } from 'vitest'
import { findProvider, PROVIDERS } from './index.js'

describe('PROVIDERS', () => {
  it('gives each id and alias to one provider only', () => {
    const names = PROVIDERS.flatMap(({ id, aliases }) => [id, ...aliases])
    expect(new Set(names).size).toBe(names.length)
    for (const name of names) expect(name).toBe(name.toLowerCase())
  })

  it('names a variable for each provider that needs a key', () => {
    for (const { keyRequired, keyVariables } of PROVIDERS) if (keyRequired) expect(keyVariables).not.toEqual([])
  })
})

describe('findProvider', () => {
  it('finds by id and alias in any case and gives null otherwise', () => {
    expect(findProvider(' OpenRouter ')?.id).toBe('openrouter')
    expect(findProvider('lm-studio')?.id).toBe('lmstudio')
    expect(findProvider('nobody')).toBeNull()
  })
})
