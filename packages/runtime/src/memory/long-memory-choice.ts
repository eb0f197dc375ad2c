import { join } from 'node:path'
import { type HermesConfig, homeLayout, readText } from '@hermes/config'
import { type Clock, errorLine, HermesError, isJsonObject, type JsonObject } from '@hermes/contracts'
import { MEMORY_PROVIDERS, MEMORY_SERVICES, type ProviderChoice } from '@hermes/memory/providers'

/** What decides about a provider and its account. */
export interface LongMemorySettings {
  readonly home: string
  readonly settings: HermesConfig['memory']
  /** Keys from `.env` and the environment. */
  readonly secrets: Readonly<Record<string, string>>
  /** Whose memories they are unless it is said. */
  readonly user: string
  /** They are of another person than the owner, whose account none of the settings names: by this name, and here where they are files. */
  readonly person?: { readonly name: string; readonly directory: string } | undefined
  readonly fetchTo: (address: string) => typeof fetch
  /** Told of keys that stand elsewhere than in `secrets`. */
  readonly onSecret: (secret: string) => void
  readonly clock: Clock
}

const WORKSPACE = 'hermes'
const EMBEDDINGS = {
  baseUrl: 'https://api.openai.com/v1',
  model: 'text-embedding-3-small',
  keyVariable: 'OPENAI_API_KEY',
}
/** Where servers of one's own are said to be, beside config.yaml. */
const ADDRESS_VARIABLES: Readonly<Record<string, readonly string[]>> = {
  honcho: ['HONCHO_URL', 'HONCHO_BASE_URL'],
  mem0: ['MEM0_HOST'],
  supermemory: ['SUPERMEMORY_BASE_URL'],
}

/**
 * Which provider config.yaml names, and with what: config.yaml first, then `.env` and the environment, then `honcho.json`, `mem0.json` or
 * `supermemory.json` of the home.
 * @throws HermesError `memory.provider_unconfigured` with what is missing, or for a name that is none.
 */
export async function chooseLongMemory(options: LongMemorySettings): Promise<ProviderChoice> {
  const { home, settings, secrets, user, fetchTo, onSecret } = options
  const name = settings.provider
  if (name === 'local') return localVectors(options)
  if (name !== 'honcho' && name !== 'mem0' && name !== 'supermemory') throw unconfigured(unknownProvider(name))
  const file = await readAccount(join(home, `${name}.json`))
  const { baseUrl: usual, keyVariable } = MEMORY_SERVICES[name]
  const address = ADDRESS_VARIABLES[name]!.map((variable) => secrets[variable]).find((value) => value)
  const baseUrl = settings.base_url ?? address ?? text(file, ['baseUrl', 'base_url', 'host', 'environmentUrl']) ?? usual
  const apiKey = secrets[keyVariable] ?? text(file, ['apiKey', 'api_key']) ?? null
  if (apiKey === null && baseUrl === usual)
    throw unconfigured(
      `${name} needs a key: put ${keyVariable} into .env, or name a server of your own as memory.base_url.`,
    )
  if (apiKey !== null) onSecret(apiKey)
  return {
    name,
    fetch: fetchTo(baseUrl),
    baseUrl,
    apiKey,
    userId: options.person?.name ?? settings.user_id ?? text(file, ['peerName', 'user_id', 'userId']) ?? user,
    workspace: settings.workspace ?? text(file, ['workspace', 'workspaceId', 'workspace_id']) ?? WORKSPACE,
  }
}

/** One line for a name that is none. */
function unknownProvider(name: string): string {
  return `memory.provider: "${name}" is none of ${MEMORY_PROVIDERS.join(', ')}.`
}

function localVectors({ home, person, settings, secrets, fetchTo, clock }: LongMemorySettings): ProviderChoice {
  const { base_url: baseUrl = EMBEDDINGS.baseUrl, model = EMBEDDINGS.model, key_env: named } = settings.embedding
  const apiKey = secrets[named ?? EMBEDDINGS.keyVariable] ?? null
  if (apiKey === null && (baseUrl === EMBEDDINGS.baseUrl || named !== undefined))
    throw unconfigured(
      `local needs embeddings: put ${named ?? EMBEDDINGS.keyVariable} into .env, or name an endpoint as memory.embedding.base_url.`,
    )
  const embeddings = { fetch: fetchTo(baseUrl), baseUrl, model, apiKey }
  return {
    name: 'local',
    path: join(person?.directory ?? homeLayout(home).memories, 'vectors.db'),
    embeddings,
    now: () => clock.now(),
  }
}

/** Without the file there is nothing in it; one that is broken may name another account than what would be used without it. */
async function readAccount(path: string): Promise<JsonObject> {
  try {
    const parsed: unknown = JSON.parse((await readText(path)) ?? '{}')
    return isJsonObject(parsed) ? parsed : {}
  } catch (error) {
    // What a parser says may quote a key.
    const reason = error instanceof SyntaxError ? 'it is not valid JSON' : errorLine(error)
    throw unconfigured(`${path} cannot be used: ${reason}. Fix it, or move it away.`)
  }
}

function text(file: JsonObject, names: readonly string[]): string | undefined {
  const value = names.map((name) => file[name]).find((candidate) => typeof candidate === 'string' && candidate !== '')
  return value as string | undefined
}

function unconfigured(message: string): HermesError {
  return new HermesError(message, { code: 'memory.provider_unconfigured' })
}
