import type { WireApi } from '@hermes/contracts/model'

/** How an endpoint departs from the plain protocol of its wire. */
export interface ProviderQuirks {
  /** The parameter that limits output. Default `max_tokens`. */
  readonly outputLimitParameter?: 'max_tokens' | 'max_completion_tokens'
  /** Parts of model names whose system text goes out with the role `developer`. Default none. */
  readonly developerRoleModels?: readonly string[]
  /** How reasoning effort is asked for: `reasoning_effort: x` (default) or `reasoning: { effort: x }`. */
  readonly reasoningEffortShape?: 'flat' | 'nested'
  /** The field in which earlier reasoning text goes back to the endpoint that made it. Default: it is left out. */
  readonly replayReasoningAs?: 'reasoning_content' | 'reasoning'
  /** How a key goes to an endpoint of the `anthropic-messages` wire. Default `x-api-key`. */
  readonly credentialHeader?: 'x-api-key' | 'authorization'
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>>
}

/** An endpoint Hermes knows by name. */
export interface Provider {
  readonly id: string
  readonly aliases: readonly string[]
  /** For people. */
  readonly name: string
  /** `null` where the user must give one. */
  readonly baseUrl: string | null
  /** Environment variables that may hold the key, first match wins. */
  readonly keyVariables: readonly string[]
  readonly keyRequired: boolean
  /** Runs on the user's own machine: calls cost nothing. */
  readonly local: boolean
  readonly api: WireApi
  readonly quirks: ProviderQuirks
  /** Used when no model is configured. */
  readonly defaultModel?: string
}

const OPENAI_QUIRKS: ProviderQuirks = {
  outputLimitParameter: 'max_completion_tokens',
  developerRoleModels: ['gpt-5', 'codex'],
}

/** Every provider Hermes knows, in the order in which they are offered. */
export const PROVIDERS: readonly Provider[] = Object.freeze([
  {
    id: 'openai',
    aliases: [],
    name: 'OpenAI',
    baseUrl: 'https://api.openai.com/v1',
    keyVariables: ['OPENAI_API_KEY'],
    keyRequired: true,
    local: false,
    api: 'chat-completions',
    quirks: OPENAI_QUIRKS,
    defaultModel: 'gpt-4.1',
  },
  {
    id: 'openrouter',
    aliases: ['or'],
    name: 'OpenRouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    keyVariables: ['OPENROUTER_API_KEY'],
    keyRequired: true,
    local: false,
    api: 'chat-completions',
    quirks: {
      developerRoleModels: ['gpt-5', 'codex'],
      reasoningEffortShape: 'nested',
      replayReasoningAs: 'reasoning',
      headers: { 'x-title': 'Hermes' },
    },
  },
  {
    id: 'anthropic',
    aliases: ['claude'],
    name: 'Anthropic',
    baseUrl: 'https://api.anthropic.com',
    keyVariables: ['ANTHROPIC_API_KEY', 'ANTHROPIC_TOKEN'],
    keyRequired: true,
    local: false,
    api: 'anthropic-messages',
    quirks: {},
    defaultModel: 'claude-sonnet-5-5',
  },
  {
    id: 'ollama',
    aliases: [],
    name: 'Ollama',
    baseUrl: 'http://127.0.0.1:11434/v1',
    keyVariables: ['OLLAMA_API_KEY'],
    keyRequired: false,
    local: true,
    api: 'chat-completions',
    quirks: {},
  },
  {
    id: 'lmstudio',
    aliases: ['lm-studio'],
    name: 'LM Studio',
    baseUrl: 'http://127.0.0.1:1234/v1',
    keyVariables: ['LM_API_KEY'],
    keyRequired: false,
    local: true,
    api: 'chat-completions',
    quirks: {},
  },
  {
    id: 'custom',
    aliases: ['openai-compatible', 'local'],
    name: 'OpenAI-compatible endpoint',
    baseUrl: null,
    keyVariables: ['OPENAI_API_KEY'],
    keyRequired: false,
    local: false,
    api: 'chat-completions',
    quirks: {},
  },
] as const satisfies readonly Provider[])

/** The provider with this id or alias, upper and lower case alike; `null` when there is none. */
export function findProvider(idOrAlias: string): Provider | null {
  const wanted = idOrAlias.trim().toLowerCase()
  return PROVIDERS.find(({ id, aliases }) => id === wanted || aliases.includes(wanted)) ?? null
}
