import { describe, expect, it } from 'vitest'
import { ABSENT_PROVIDERS, absentProvider, detectApi, findProvider, PROVIDERS } from './index.js'

describe('PROVIDERS', () => {
  it('gives each id and alias to one provider only', () => {
    const names = PROVIDERS.flatMap(({ id, aliases }) => [id, ...aliases])
    expect(new Set(names).size).toBe(names.length)
    for (const name of names) expect(name).toBe(name.toLowerCase())
  })

  it('names a variable for each provider that is unlocked by a key', () => {
    for (const { auth, keyVariables, sharedKeyVariables } of PROVIDERS)
      expect(keyVariables.length + sharedKeyVariables.length > 0).toBe(auth === 'key' || auth === 'aws')
  })

  it('has an address or a variable for it, except where any endpoint is meant', () => {
    const without = PROVIDERS.filter(({ baseUrl, baseUrlVariable }) => baseUrl === null && !baseUrlVariable)
    expect(without.map(({ id }) => id)).toEqual(['custom'])
    for (const { baseUrl } of PROVIDERS) if (baseUrl !== null) expect(baseUrl).toMatch(/^https?:\/\/.*[^/]$/)
  })

  it('tells gateways that want to know it who asks', () => {
    for (const id of ['openrouter', 'ai-gateway'])
      expect(findProvider(id)?.quirks.headers).toEqual({
        'http-referer': expect.stringMatching(/^https:\/\//),
        'x-title': 'Hermes',
      })
  })

  it('speaks at its own address the wire that it names', () => {
    for (const { id, baseUrl, api } of PROVIDERS)
      if (baseUrl !== null) expect([id, detectApi({ provider: id, baseUrl, model: '' })]).toEqual([id, api])
  })
})

describe('findProvider', () => {
  it('finds by id and alias in any case and gives null otherwise', () => {
    expect(findProvider(' OpenRouter ')?.id).toBe('openrouter')
    expect(findProvider('lm-studio')?.id).toBe('lmstudio')
    expect(findProvider('nobody')).toBeNull()
  })
})

describe('absentProvider', () => {
  it('says why, in a line that names what to use instead, and only of those that are not there', () => {
    for (const { names, reason } of ABSENT_PROVIDERS) {
      expect(reason).toMatch(/ (?:Use|Give) [^\n]+\.$/)
      for (const name of names)
        expect([findProvider(name), absentProvider(` ${name.toUpperCase()}`)]).toEqual([null, reason])
    }
    expect(absentProvider('openai')).toBeNull()
  })
})
