import { PROVIDERS } from '@hermes/transports'
import { describe, expect, it } from 'vitest'
import { chooseModel, type ModelChoiceOptions } from './model-choice.js'

const modelOptions = (over: Partial<ModelChoiceOptions>): ModelChoiceOptions => ({
  requested: {},
  session: null,
  configured: {},
  endpoints: {},
  secrets: {},
  ...over,
})

describe('chooseModel', () => {
  it('takes names of the person for the models they stand for', () => {
    const all = modelOptions({
      configured: { provider: 'openai', model: 'Best', apiKey: 'for-openai' },
      aliases: {
        best: { model: 'anthropic/claude-opus-4.6', provider: 'anthropic' },
        home: { model: 'Qwen3', baseUrl: 'http://10.0.0.2:8000/v1', keyEnv: 'HOME_KEY' },
        quick: { model: 'gpt-4.1-mini' },
      },
      secrets: { ANTHROPIC_API_KEY: 'ka', OPENAI_API_KEY: 'ko', HOME_KEY: 'kh' },
    })
    const anthropic = { provider: 'anthropic', model: 'claude-opus-4-6', apiKey: 'ka' }
    expect(chooseModel(all)).toMatchObject(anthropic)
    expect(chooseModel({ ...all, requested: { model: 'BEST' } })).toMatchObject(anthropic)
    expect(chooseModel({ ...all, requested: { model: 'quick', provider: 'openai' } })).toMatchObject({
      provider: 'openai',
      model: 'gpt-4.1-mini',
      apiKey: 'for-openai',
    })
    const home = { provider: 'custom', model: 'Qwen3', baseUrl: 'http://10.0.0.2:8000/v1', apiKey: 'kh' }
    expect(chooseModel({ ...all, requested: { model: 'home' } })).toMatchObject(home)
    expect(chooseModel({ ...all, session: home })).toMatchObject(home)
    const { home: _home, ...others } = all.aliases!
    const keyless = { ...all, aliases: { ...others, home: { model: 'Qwen3', baseUrl: home.baseUrl } } }
    expect(() => chooseModel({ ...keyless, requested: { model: 'home' } })).toThrow(/OPENAI_API_KEY is not sent to/)
    // What the catalogue or a server has is none of these.
    const other = { model: 'bestest', baseUrl: home.baseUrl, keyEnv: 'HOME_KEY' }
    expect(chooseModel({ ...all, requested: other }).model).toBe('bestest')
  })

  it('takes flags before the session, the session before config, config before keys', () => {
    const all = modelOptions({
      requested: { provider: 'openrouter', model: 'a/b' },
      session: { provider: 'openai', model: 'gpt-4.1', baseUrl: 'https://api.openai.com/v1' },
      configured: { provider: 'ollama', model: 'llama' },
      secrets: { OPENAI_API_KEY: 'k1', OPENROUTER_API_KEY: 'k2' },
    })
    expect(chooseModel(all)).toEqual({
      provider: 'openrouter',
      catalogueId: 'openrouter',
      model: 'a/b',
      baseUrl: 'https://openrouter.ai/api/v1',
      apiKey: 'k2',
    })
    expect(chooseModel({ ...all, requested: {} })).toMatchObject({ provider: 'openai', model: 'gpt-4.1', apiKey: 'k1' })
    expect(chooseModel({ ...all, requested: {}, session: null })).toMatchObject({
      provider: 'ollama',
      model: 'llama',
      apiKey: null,
    })
    expect(chooseModel(modelOptions({ secrets: { OPENAI_API_KEY: 'k1' } }))).toMatchObject({
      provider: 'openai',
      apiKey: 'k1',
    })
  })

  it.each([
    ['anthropic', 'anthropic/claude-opus-4.6', 'claude-opus-4-6'],
    ['anthropic', 'Claude-Opus-4.6', 'claude-opus-4-6'],
    ['anthropic', 'claude-3.5-sonnet', 'claude-3-5-sonnet'],
    ['anthropic', 'claude-sonnet-4-20250514', 'claude-sonnet-4-20250514'],
    ['anthropic', 'claude-sonnet-5-5', 'claude-sonnet-5-5'],
    ['openrouter', 'claude-opus-4-6', 'anthropic/claude-opus-4.6'],
    ['openrouter', 'anthropic/claude-opus-4.6', 'anthropic/claude-opus-4.6'],
    ['openrouter', 'anthropic/claude-3-5-haiku:beta', 'anthropic/claude-3.5-haiku:beta'],
    ['openrouter', 'gpt-5', 'openai/gpt-5'],
    ['openrouter', 'xai/grok-4', 'x-ai/grok-4'],
    ['openrouter', 'glm-5.3', 'z-ai/glm-5.3'],
    ['openrouter', 'somebody/gpt-4-clone', 'somebody/gpt-4-clone'],
    ['copilot', 'anthropic/claude-sonnet-4-6', 'claude-sonnet-4.6'],
    ['openai', 'openai/GPT-4.1', 'gpt-4.1'],
    ['openai', 'ft:gpt-4.1:me', 'ft:gpt-4.1:me'],
    ['gemini', 'google/gemini-3.8-flash', 'gemini-3.8-flash'],
    ['minimax', 'minimax/MiniMax-M2.7', 'MiniMax-M2.7'],
    ['groq', 'openai/gpt-oss-120b', 'openai/gpt-oss-120b'],
    ['ollama', 'deepseek-r1:8b', 'deepseek-r1:8b'],
  ])('asks %s for %s as %s', (provider, model, name) => {
    const secrets = Object.fromEntries(
      PROVIDERS.flatMap(({ keyVariables }) => keyVariables.map((variable) => [variable, 'k'] as const)),
    )
    expect(chooseModel(modelOptions({ requested: { provider, model }, secrets })).model).toBe(name)
    expect(chooseModel(modelOptions({ requested: { provider, model: name }, secrets })).model).toBe(name)
    const elsewhere = { provider, model, baseUrl: 'http://127.0.0.1:9/v1' }
    expect(chooseModel(modelOptions({ requested: { ...elsewhere, keyEnv: 'OPENAI_API_KEY' }, secrets })).model).toBe(
      model,
    )
    expect(chooseModel(modelOptions({ configured: { ...elsewhere, apiKey: 'k' } })).model).toBe(model)
  })

  it('finds where a model is served when the provider is auto: at its maker, else at a gateway whose key is there', () => {
    const configured = { provider: 'auto', model: 'anthropic/claude-opus-4.6' }
    const at = (...variables: string[]) => {
      const secrets = Object.fromEntries(variables.map((variable) => [variable, 'k']))
      const { provider, model } = chooseModel(modelOptions({ configured, secrets }))
      return [provider, model]
    }
    const direct = ['anthropic', 'claude-opus-4-6']
    expect(at('OPENAI_API_KEY', 'ANTHROPIC_API_KEY')).toEqual(direct)
    expect(at('OPENROUTER_API_KEY', 'ANTHROPIC_API_KEY')).toEqual(direct)
    expect(at('OPENAI_API_KEY', 'OPENROUTER_API_KEY')).toEqual(['openrouter', 'anthropic/claude-opus-4.6'])
  })

  it('takes a base URL alone as an OpenAI-compatible endpoint', () => {
    expect(chooseModel(modelOptions({ requested: { baseUrl: 'http://127.0.0.1:9/v1', model: 'm' } }))).toEqual({
      provider: 'custom',
      catalogueId: 'custom',
      model: 'm',
      baseUrl: 'http://127.0.0.1:9/v1',
      apiKey: null,
    })
  })

  it('makes the credential for Bedrock of the variables of AWS, and asks in the region they name', () => {
    const bedrock = (secrets: Record<string, string>) =>
      chooseModel(modelOptions({ requested: { provider: 'bedrock', model: 'm' }, secrets }))
    expect(bedrock({})).toMatchObject({
      apiKey: 'aws',
      baseUrl: 'https://bedrock-runtime.us-east-1.amazonaws.com',
    })
    const keys = { AWS_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE', AWS_SECRET_ACCESS_KEY: 's', AWS_REGION: 'eu-west-1' }
    expect(bedrock(keys)).toMatchObject({
      apiKey: 'AKIAIOSFODNN7EXAMPLE:s',
      baseUrl: 'https://bedrock-runtime.eu-west-1.amazonaws.com',
    })
    const moved = { ...keys, AWS_BEARER_TOKEN_BEDROCK: 'b', BEDROCK_BASE_URL: 'https://proxy.example' }
    expect(bedrock(moved)).toMatchObject({ apiKey: 'b', baseUrl: 'https://proxy.example' })
    const body = { guardrailConfig: { guardrailIdentifier: 'g', guardrailVersion: '1' } }
    const configured = { requested: { provider: 'bedrock', model: 'm' }, bedrock: { region: 'eu-north-1', body } }
    expect(chooseModel(modelOptions({ ...configured, secrets: keys }))).toMatchObject({
      baseUrl: 'https://bedrock-runtime.eu-north-1.amazonaws.com',
      body,
    })
    expect(() => chooseModel(modelOptions({ secrets: keys }))).toThrow(/^No model is set up/)
  })

  it('says of a provider that is left out on purpose why, and what to use instead', () => {
    const requested = (provider: string) => () => chooseModel(modelOptions({ requested: { provider, model: 'm' } }))
    expect(requested('copilot-acp')).toThrow(/^Hermes does not offer the provider copilot-acp: .* Use copilot/)
    const endpoints = { router: { baseUrl: 'http://127.0.0.1:9/v1' } }
    expect(chooseModel(modelOptions({ requested: { provider: 'router', model: 'm' }, endpoints }))).toMatchObject({
      model: 'm',
    })
  })

  it('goes on at the address a nameless endpoint was last asked at', () => {
    const session = { provider: 'custom', model: 'm', baseUrl: 'http://127.0.0.1:9/v1' }
    expect(chooseModel(modelOptions({ session }))).toMatchObject({ model: 'm', baseUrl: 'http://127.0.0.1:9/v1' })
  })

  it('uses a named endpoint of the config with its own key variable', () => {
    const endpoints = { work: { baseUrl: 'https://llm.example/v1', keyEnv: 'WORK_KEY', model: 'big' } }
    expect(
      chooseModel(modelOptions({ requested: { provider: 'work' }, endpoints, secrets: { WORK_KEY: 'w' } })),
    ).toEqual({
      provider: 'work',
      catalogueId: 'custom',
      model: 'big',
      baseUrl: 'https://llm.example/v1',
      apiKey: 'w',
      keySource: 'WORK_KEY',
    })
  })

  it('speaks the wire that the config names for an endpoint', () => {
    const endpoints = { work: { baseUrl: 'https://llm.example', api: 'anthropic-messages', model: 'big' } } as const
    expect(chooseModel(modelOptions({ requested: { provider: 'work' }, endpoints })).api).toBe('anthropic-messages')
    const configured = {
      provider: 'custom',
      baseUrl: 'https://llm.example',
      api: 'anthropic-messages',
      model: 'big',
    } as const
    expect(chooseModel(modelOptions({ configured })).api).toBe('anthropic-messages')
    expect(chooseModel(modelOptions({ configured, requested: { provider: 'ollama', model: 'm' } })).api).toBeUndefined()
  })

  it('finds Anthropic by its keys', () => {
    expect(chooseModel(modelOptions({ secrets: { ANTHROPIC_API_KEY: 'k' } }))).toMatchObject({
      provider: 'anthropic',
      baseUrl: 'https://api.anthropic.com',
      model: expect.stringMatching(/^claude-/),
      apiKey: 'k',
    })
  })

  it('does not send the key of a provider to an address configured for none', () => {
    const choice = chooseModel(
      modelOptions({
        requested: { provider: 'openai' },
        configured: { baseUrl: 'https://x.example/v1' },
        secrets: { OPENAI_API_KEY: 'k' },
      }),
    )
    expect(choice.baseUrl).toBe('https://api.openai.com/v1')
  })

  it('does not send a configured key to another provider', () => {
    const choice = chooseModel(
      modelOptions({
        requested: { provider: 'ollama', model: 'm' },
        configured: { provider: 'openai', apiKey: 'secret', baseUrl: 'https://x.example' },
      }),
    )
    expect(choice).toEqual({
      provider: 'ollama',
      catalogueId: 'ollama',
      model: 'm',
      baseUrl: 'http://127.0.0.1:11434/v1',
      apiKey: null,
    })
  })

  it.each([
    [
      { requested: { provider: 'opnai' } },
      /Unknown provider "opnai"\. Did you mean openai\? Valid providers: openai, openrouter/,
    ],
    [{ requested: { provider: 'openai' } }, /OpenAI needs a key: export OPENAI_API_KEY=/],
    [{}, /No model is set up\. Set OPENAI_API_KEY or OPENROUTER_API_KEY/],
    [{ requested: { provider: 'ollama' } }, /No model chosen for ollama: pass -m/],
    [{ requested: { provider: 'custom', model: 'm' } }, /needs an address/],
    [{ requested: { baseUrl: 'localhost:80', model: 'm' } }, /not a web address/],
  ] as const)('says in one line what is missing: %j', (over, line) => {
    expect(() => chooseModel(modelOptions(over as Partial<ModelChoiceOptions>))).toThrow(line)
  })
})
