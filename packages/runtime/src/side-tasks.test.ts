import { describe, expect, it } from 'vitest'
import type { ModelChoice } from './model-choice.js'
import { chooseForSideTask, type SideTaskOptions } from './side-tasks.js'

const main: ModelChoice = {
  provider: 'anthropic',
  catalogueId: 'anthropic',
  model: 'claude-opus-4-6',
  baseUrl: 'https://api.anthropic.com',
  apiKey: 'a',
}
const wishes = { configured: {}, endpoints: {}, secrets: { ANTHROPIC_API_KEY: 'a', OPENROUTER_API_KEY: 'o' } }
const spare: ModelChoice = {
  ...main,
  provider: 'custom',
  catalogueId: 'custom',
  model: 'n',
  baseUrl: 'http://127.0.0.1:1/v1',
}

const chosen = async (over: Partial<SideTaskOptions> = {}) => {
  const choices = await chooseForSideTask({ settings: undefined, main, fallbacks: [], wishes, ...over })
  return choices.map(({ provider, model, apiKey }) => `${provider} ${model} ${apiKey}`)
}

describe('chooseForSideTask', () => {
  it('takes the model of the session, then fallbacks, and nobody whom the user did not choose', async () => {
    expect(await chosen({ fallbacks: [spare] })).toEqual(['anthropic claude-opus-4-6 a', 'custom n a'])
  })

  it('takes what config.yaml names for the task, and only its own chain after it', async () => {
    const settings = {
      enabled: true,
      provider: 'openrouter',
      model: 'x/y',
      fallback_chain: [{ provider: 'anthropic', model: 'claude-haiku-4-5' }],
    }
    expect(await chosen({ settings, fallbacks: [spare] })).toEqual(['openrouter x/y o', 'anthropic claude-haiku-4-5 a'])
  })

  it('takes another model of the same provider where only that is named', async () => {
    for (const provider of [undefined, 'auto', 'main'])
      expect(
        await chosen({
          settings: { enabled: true, model: 'small', fallback_chain: [], ...(provider ? { provider } : {}) },
        }),
      ).toEqual(['anthropic small a'])
  })

  it('goes to an address of its own, with a key of its own', async () => {
    const settings = {
      enabled: true,
      base_url: 'http://127.0.0.1:9/v1',
      model: 's',
      key_env: 'SIDE',
      fallback_chain: [],
    }
    const secrets = { ...wishes.secrets, SIDE: 'side' }
    expect(await chosen({ settings, wishes: { ...wishes, secrets } })).toEqual(['custom s side'])
  })

  it('looks for providers with a key where the model of the session cannot do the task', async () => {
    const can = ({ model }: ModelChoice) => model !== main.model
    expect(await chosen({ can, fallbacks: [spare] })).toEqual([
      'custom n a',
      'openrouter google/gemini-3-flash-preview o',
      'anthropic claude-haiku-4-5 a',
    ])
    expect(await chosen({ can: () => false })).toEqual([])
  })

  it('tells nobody else what was said to a model on the own machine', async () => {
    const local = { ...main, provider: 'ollama', catalogueId: 'ollama', apiKey: null }
    expect(await chosen({ main: local, can: ({ provider }) => provider !== 'ollama' })).toEqual([])
  })
})
