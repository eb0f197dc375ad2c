import { describe, expect, it } from 'vitest'
import { type AuxiliaryTaskOptions, chooseForAuxiliaryTask } from './auxiliary-tasks.js'
import type { ModelChoice } from './model-choice.js'

const main: ModelChoice = {
  provider: 'anthropic',
  catalogueId: 'anthropic',
  model: 'claude-opus-4-6',
  baseUrl: 'https://api.anthropic.com',
  apiKey: 'a',
}
const modelOptions = { configured: {}, endpoints: {}, secrets: { ANTHROPIC_API_KEY: 'a', OPENROUTER_API_KEY: 'o' } }
const spare: ModelChoice = {
  ...main,
  provider: 'custom',
  catalogueId: 'custom',
  model: 'n',
  baseUrl: 'http://127.0.0.1:1/v1',
}

const chosen = async (over: Partial<AuxiliaryTaskOptions> = {}) => {
  const choices = await chooseForAuxiliaryTask({ settings: undefined, main, fallbacks: [], modelOptions, ...over })
  return choices.map(({ provider, model, apiKey }) => `${provider} ${model} ${apiKey}`)
}

describe('chooseForAuxiliaryTask', () => {
  it('takes the model of the session, then fallbacks, then whoever a key is there for', async () => {
    expect(await chosen({ fallbacks: [spare] })).toEqual([
      'anthropic claude-opus-4-6 a',
      'custom n a',
      'openrouter google/gemini-3-flash-preview o',
      'anthropic claude-haiku-4-5 a',
    ])
  })

  it('goes from gateways to an own endpoint, to Anthropic, to keys of single houses; with images to the own endpoint late', async () => {
    const secrets = {
      ...modelOptions.secrets,
      OPENAI_API_KEY: 'p',
      GEMINI_API_KEY: 'g',
      GLM_API_KEY: 'z',
      KIMI_API_KEY: 'k',
      MINIMAX_API_KEY: 'x',
      GH_TOKEN: 'of another tool',
    }
    const configured = { model: 'own', baseUrl: 'https://own.example/v1', apiKey: 'c' }
    const all = { ...modelOptions, configured, secrets, stored: { nous: null } }
    const deepseek = { ...main, provider: 'deepseek', catalogueId: 'deepseek', baseUrl: 'https://api.deepseek.com/v1' }
    const order = async (kind: 'text' | 'vision') =>
      (await chosen({ main: deepseek, modelOptions: all, kind })).slice(1)
    const [openrouter, nous] = ['openrouter google/gemini-3-flash-preview o', 'nous google/gemini-3-flash-preview null']
    const houses = [
      'openai gpt-4.1-mini p',
      'gemini gemini-3-flash-preview g',
      'zai glm-5.3-flash z',
      'kimi-coding kimi-k2.6 k',
      'minimax MiniMax-M2.7 x',
    ]
    expect(await order('text')).toEqual([openrouter, nous, 'custom own c', 'anthropic claude-haiku-4-5 a', ...houses])
    expect(await order('vision')).toEqual([openrouter, nous, 'anthropic claude-haiku-4-5 a', 'custom own c', ...houses])
  })

  it('stays with the model of the session where config.yaml says so', async () => {
    const settings = { enabled: true, provider: 'main', fallback_chain: [] }
    expect(await chosen({ settings })).toEqual(['anthropic claude-opus-4-6 a'])
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

  it('asks an endpoint of config.yaml for the model that is named there', async () => {
    const endpoints = {
      acme: { baseUrl: 'https://acme.example/v1', model: 'acme-small', apiKey: 'e', aliases: ['ac'] },
    }
    const settings = { enabled: true, provider: 'ac', fallback_chain: [] }
    expect(await chosen({ settings, modelOptions: { ...modelOptions, endpoints } })).toEqual(['acme acme-small e'])
  })

  it('goes to an address of its own, with a key of its own', async () => {
    const settings = {
      enabled: true,
      base_url: 'http://127.0.0.1:9/v1',
      model: 's',
      key_env: 'SIDE',
      fallback_chain: [],
    }
    const secrets = { ...modelOptions.secrets, SIDE: 'side' }
    expect(await chosen({ settings, modelOptions: { ...modelOptions, secrets } })).toEqual(['custom s side'])
  })

  it('adds the fields of the task to the first that is asked, and to nobody who stands in', async () => {
    const settings = { enabled: true, extra_body: { enable_thinking: false }, fallback_chain: [] }
    const bodies = async (more: Partial<typeof settings> & { model?: string }) => {
      const choices = await chooseForAuxiliaryTask({
        settings: { ...settings, ...more },
        main,
        fallbacks: [spare],
        modelOptions,
      })
      return choices.slice(0, 2).map(({ body }) => body)
    }
    expect(await bodies({})).toEqual([{ enable_thinking: false }, undefined])
    expect(await bodies({ model: 'small' })).toEqual([{ enable_thinking: false }])
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

  it.each(['http://127.0.0.1:11434/v1', 'http://192.168.1.7:8000/v1', 'http://box.local/v1'])(
    'tells nobody else what was said to a model at %s',
    async (baseUrl) => {
      const near = { ...main, provider: 'near', catalogueId: 'custom', baseUrl, apiKey: null }
      expect(await chosen({ main: near })).toEqual(['near claude-opus-4-6 null'])
      expect(await chosen({ main: near, can: ({ provider }) => provider !== 'near' })).toEqual([])
    },
  )
})
