import type { Clock } from '../clock.js'
import type { CreateContextEngine } from '../context.js'
import type { Environment } from '../environment.js'
import type { JsonObject } from '../json.js'
import type { Logger } from '../logger.js'
import type { MemoryProvider } from '../memory.js'
import type { WireApi } from '../model.js'
import type { ExtractProvider, SearchProvider } from '../web.js'

/** What extensions can make in place of what is built in, by kind. */
export interface Factories {
  /** Named by `context.engine`. Called once per agent, when a session is long enough to need it. */
  readonly 'context-engine': CreateContextEngine
  /** Named by `terminal.backend`. Called once per agent. */
  readonly backend: (request: BackendRequest) => Environment | Promise<Environment>
  /** Named by `memory.provider`. Called once per home, when something is recalled or kept first. */
  readonly memory: (request: MemoryRequest) => MemoryProvider | Promise<MemoryProvider>
  /** Named by `model.provider`, `--provider` and wherever a provider can be named. Called once, as the home is opened. */
  readonly 'model-provider': () => ModelProvider
  /** Named by `web.search_backend` or `web.backend`. Called for each search. */
  readonly 'web-search': () => SearchProvider
  /** Named by `web.extract_backend`. Called for each page. */
  readonly 'web-extract': () => ExtractProvider
}

/** A server of models, as an entry of `providers` in config.yaml would say it; an entry of that name counts more. */
interface ModelProvider {
  /** Requests go to its origin and nowhere else. */
  readonly baseUrl: string
  /** The wire it speaks. Default: judged by its address. */
  readonly api?: WireApi
  /** Default: the person has to name one. */
  readonly defaultModel?: string
  /** Variables with its key, which commands do not get. Default: it wants none. */
  readonly keyVariables?: readonly string[]
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Further members of each request. */
  readonly body?: JsonObject
  /** Tokens of the window of its models. Default: what is known of them. */
  readonly contextLength?: number
}

/** What a memory provider is opened with. */
export interface MemoryRequest {
  /** The section `memory` of config.yaml. */
  readonly settings: JsonObject
  /** Whose memories they are. */
  readonly userId: string
  /** A key from `.env` or the environment, which is then taken out of what is stored; `undefined` where there is none. */
  secret(name: string): string | undefined
  /** A `fetch` to the origin of an address and nowhere else, through the proxy meant for it. */
  fetchTo(address: string): typeof fetch
  readonly clock: Clock
  readonly logger: Logger
}

/** What a terminal backend is opened with. */
export interface BackendRequest {
  /** Where the agent works on this machine. Absolute. */
  readonly cwd: string
  readonly home: string
  /** Whose resources may be shared: a session with those it delegates to. Default: nobody's. */
  readonly task?: string
  /** The section `terminal` of config.yaml. */
  readonly settings: JsonObject
  readonly clock: Clock
  readonly logger: Logger
}
