import { isJsonObject, type JsonObject, type JsonValue } from '@hermes/contracts'
import type { WireApi } from '@hermes/contracts/model'
import { detectApi, modelListRequest, type ProviderQuirks } from '@hermes/transports'
import { isLoopback } from '../endpoint.js'
import { type ModelAbilities, type PartialFacts, positive } from './facts.js'

/** An endpoint that is asked about one of its models. */
export interface ProbedEndpoint {
  readonly provider: string
  readonly baseUrl: string
  readonly model: string
  readonly apiKey: string | null
  /** The wire, where it is known. Default: judged by provider, address and model. */
  readonly api?: WireApi | undefined
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** How the endpoint departs from what the catalogue says of its provider. */
  readonly quirks?: ProviderQuirks | undefined
  /** Reaches that endpoint. */
  readonly fetch: typeof fetch
  readonly signal: AbortSignal
}

/** What an endpoint said of a model, with the name of the question that brought it, or that it has nothing to say. */
type ProbeAnswer =
  | { readonly question: string; readonly facts: PartialFacts }
  | { readonly question: null; readonly facts: null }

/**
 * What an endpoint itself says of a model: in its list of models, and for servers on the own machine where they say it. A question that
 * brought an answer before (`first`) is asked alone; the others follow when it brings nothing now. `null` when no question brought
 * anything and one of them failed. Never rejects.
 */
export async function probeEndpoint(endpoint: ProbedEndpoint, first?: string): Promise<ProbeAnswer | null> {
  const questions = questionsFor(endpoint)
  let hasFailed = false
  for (const isFirst of [true, false]) {
    const group = questions.filter((question) => (question === first) === isFirst)
    const answers = group.map(async (question) => {
      const facts = await QUESTIONS[question](endpoint).catch(() => 'failed' as const)
      return { question, facts }
    })
    for (const answer of answers) {
      const { question, facts } = await answer
      if (facts === 'failed') hasFailed = true
      else if (facts) return { question, facts }
    }
  }
  return hasFailed ? null : { question: null, facts: null }
}

const QUESTIONS = { ollama: knownToOllama, lmstudio: listedByLmStudio, llamacpp: llamaProperties, listed }
type Question = keyof typeof QUESTIONS

/** On this machine any of these servers may be behind an address, whatever it is called; elsewhere one without a name may be llama.cpp. */
function questionsFor(endpoint: ProbedEndpoint): readonly Question[] {
  const { provider, baseUrl, model, api = detectApi({ provider, baseUrl, model }) } = endpoint
  if (provider === 'ollama' || provider === 'lmstudio' || provider === 'llamacpp') return [provider, 'listed']
  if (api !== 'chat-completions') return ['listed']
  if (isLoopback(baseUrl)) return ['llamacpp', 'ollama', 'lmstudio', 'listed']
  return provider === 'custom' ? ['llamacpp', 'listed'] : ['listed']
}

/** The list of models, or the one model where an endpoint can be asked for it: every vendor has its own name for the window. */
async function listed(endpoint: ProbedEndpoint): Promise<PartialFacts | null> {
  const request = modelListRequest(endpoint)
  if (!request) return null
  const list = asObject(await readJson(endpoint, request.url, request.headers))
  if (list['type'] === 'model') return toFacts(list)
  const models = Array.isArray(list['data']) ? list['data'] : []
  const found = models.find((item) => isJsonObject(item) && item['id'] === endpoint.model)
  return isJsonObject(found) ? toFacts(found) : null
}

const WINDOW_NAMES = ['context_length', 'max_model_len', 'context_window', 'max_context_length', 'max_input_tokens']
const OUTPUT_NAMES = ['max_output_tokens', 'max_completion_tokens', 'max_tokens']

function toFacts(item: JsonObject): PartialFacts | null {
  const top = asObject(item['top_provider'])
  const contextLength = firstOf({ ...item, ...top }, WINDOW_NAMES) ?? firstOf(item, WINDOW_NAMES)
  const maxOutputTokens = firstOf(top, OUTPUT_NAMES) ?? firstOf(item, OUTPUT_NAMES)
  const abilities = abilitiesOf(item)
  if (contextLength === undefined && Object.keys(abilities).length === 0) return null
  return { contextLength, maxOutputTokens, abilities }
}

function abilitiesOf(item: JsonObject): ModelAbilities {
  const kinds = asObject(item['architecture'])['input_modalities']
  const capabilities = asObject(item['capabilities'])
  const can = (name: string) => asObject(capabilities[name])['supported']
  const [sees, thinks] = [can('image_input'), can('thinking')]
  const parameters = item['supported_parameters']
  return {
    ...(Array.isArray(kinds) ? { vision: kinds.includes('image'), audio: kinds.includes('audio') } : {}),
    ...(Array.isArray(parameters)
      ? { tools: parameters.includes('tools'), reasoning: parameters.includes('reasoning') }
      : {}),
    // As Anthropic says it.
    ...(typeof sees === 'boolean' ? { vision: sees } : {}),
    ...(typeof thinks === 'boolean' ? { reasoning: thinks } : {}),
  }
}

/**
 * What the model is loaded with counts, else what its Modelfile sets. What it was trained for does not: unless told otherwise Ollama loads
 * a small part of it, and leaves out without a word what does not fit. Models of its cloud run with all of it.
 */
async function knownToOllama(endpoint: ProbedEndpoint): Promise<PartialFacts | null> {
  const [loaded, shown] = await Promise.all([loadedByOllama(endpoint).catch(() => null), shownByOllama(endpoint)])
  return shown || loaded ? { ...shown, ...loaded } : null
}

/** @see https://github.com/ollama/ollama/blob/main/docs/api.md#list-running-models */
async function loadedByOllama(endpoint: ProbedEndpoint): Promise<PartialFacts | null> {
  if (!isLoopback(endpoint.baseUrl)) return null
  const { models } = asObject(await getJson(endpoint, `${root(endpoint)}/api/ps`))
  const names = [endpoint.model, `${endpoint.model}:latest`]
  const running = Array.isArray(models) ? models.map(asObject) : []
  const found = running.find(({ name, model }) => names.includes(String(name)) || names.includes(String(model)))
  const contextLength = positive(found?.['context_length'])
  return contextLength === undefined ? null : { contextLength }
}

/** @see https://github.com/ollama/ollama/blob/main/docs/api.md#show-model-information */
async function shownByOllama(endpoint: ProbedEndpoint): Promise<PartialFacts | null> {
  const body = JSON.stringify({ model: endpoint.model })
  const shown = asObject(await getJson(endpoint, `${root(endpoint)}/api/show`, { method: 'POST', body }))
  const configured = /^num_ctx\s+(\d+)/m.exec(String(shown['parameters'] ?? ''))?.[1]
  const info = Object.entries(asObject(shown['model_info'])).find(([name]) => name.endsWith('.context_length'))
  const trained = /[:-]cloud$/.test(endpoint.model) ? positive(info?.[1]) : undefined
  const contextLength = positive(Number(configured)) ?? trained
  const can = Array.isArray(shown['capabilities']) ? shown['capabilities'] : null
  const abilities = can
    ? { tools: can.includes('tools'), vision: can.includes('vision'), reasoning: can.includes('thinking') }
    : {}
  return contextLength === undefined && can === null ? null : { contextLength, abilities }
}

/** @see https://lmstudio.ai/docs/app/api/endpoints/rest */
async function listedByLmStudio(endpoint: ProbedEndpoint): Promise<PartialFacts | null> {
  const shown = asObject(
    await getJson(endpoint, `${root(endpoint)}/api/v0/models/${encodeURIComponent(endpoint.model)}`),
  )
  const contextLength = positive(shown['loaded_context_length']) ?? positive(shown['max_context_length'])
  return contextLength === undefined ? null : { contextLength, abilities: { vision: shown['type'] === 'vlm' } }
}

/** @see https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md */
async function llamaProperties(endpoint: ProbedEndpoint): Promise<PartialFacts | null> {
  const properties = asObject(await getJson(endpoint, `${root(endpoint)}/props`))
  const contextLength = positive(asObject(properties['default_generation_settings'])['n_ctx'])
  const vision = asObject(properties['modalities'])['vision']
  return contextLength === undefined
    ? null
    : { contextLength, abilities: typeof vision === 'boolean' ? { vision } : {} }
}

function getJson(endpoint: ProbedEndpoint, url: string, init: RequestInit = {}): Promise<unknown> {
  const { apiKey, headers } = endpoint
  const all = {
    ...(init.body ? { 'content-type': 'application/json' } : {}),
    ...headers,
    ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
  }
  return readJson(endpoint, url, all, init)
}

async function readJson(
  { fetch, signal }: ProbedEndpoint,
  url: string,
  headers: Readonly<Record<string, string>>,
  init: RequestInit = {},
): Promise<unknown> {
  const response = await fetch(url, { ...init, headers, signal })
  if (response.ok) return response.json()
  await response.body?.cancel()
  if (response.status >= 500) throw new Error(`${url} answered with ${response.status}`)
  return null
}

function base({ baseUrl }: ProbedEndpoint): string {
  return baseUrl.replace(/\/+$/, '')
}

function root(endpoint: ProbedEndpoint): string {
  return base(endpoint).replace(/\/v1$/, '')
}

function firstOf(item: JsonObject, names: readonly string[]): number | undefined {
  for (const name of names) {
    const value = positive(item[name])
    if (value !== undefined) return value
  }
  return undefined
}

function asObject(value: JsonValue | unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}
