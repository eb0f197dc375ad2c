import type { ProviderEntry, ProviderQuirks } from './provider.js'

/**
 * Which model such a server runs is not known: its answers may hold thoughts in any of the usual tags, and its template may refuse an
 * assistant that speaks first.
 */
const OPEN_MODEL_QUIRKS: ProviderQuirks = {
  thinkTags: ['think', 'thinking', 'thought', 'reasoning'],
  repair: { startWithUser: true },
}

/** Servers on the user's own machine, and any other endpoint. */
export const LOCAL_SERVERS: readonly ProviderEntry[] = Object.freeze([
  {
    id: 'ollama',
    name: 'Ollama',
    baseUrl: 'http://127.0.0.1:11434/v1',
    keyVariables: ['OLLAMA_API_KEY'],
    keyRequired: false,
    local: true,
    quirks: OPEN_MODEL_QUIRKS,
  },
  {
    id: 'lmstudio',
    aliases: ['lm-studio', 'lm_studio'],
    name: 'LM Studio',
    baseUrl: 'http://127.0.0.1:1234/v1',
    baseUrlVariable: 'LM_BASE_URL',
    keyVariables: ['LM_API_KEY'],
    keyRequired: false,
    local: true,
    quirks: OPEN_MODEL_QUIRKS,
  },
  {
    id: 'llamacpp',
    aliases: ['llama.cpp', 'llama-cpp', 'llama-server'],
    name: 'llama.cpp server',
    baseUrl: 'http://127.0.0.1:8080/v1',
    keyVariables: ['LLAMACPP_API_KEY'],
    keyRequired: false,
    local: true,
    quirks: { ...OPEN_MODEL_QUIRKS, schemaDialect: 'llama-cpp' },
  },
  {
    id: 'vllm',
    name: 'vLLM',
    baseUrl: 'http://127.0.0.1:8000/v1',
    keyVariables: ['VLLM_API_KEY'],
    keyRequired: false,
    local: true,
    quirks: OPEN_MODEL_QUIRKS,
  },
  {
    id: 'custom',
    aliases: ['openai-compatible', 'local'],
    name: 'OpenAI-compatible endpoint',
    baseUrl: null,
    keyVariables: ['OPENAI_API_KEY'],
    keyRequired: false,
    quirks: OPEN_MODEL_QUIRKS,
  },
] as const satisfies readonly ProviderEntry[])
