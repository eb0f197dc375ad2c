import type { Clock } from '../clock.js'
import type { CreateContextEngine } from '../context.js'
import type { Environment } from '../environment.js'
import type { JsonObject } from '../json.js'
import type { Logger } from '../logger.js'
import type { MemoryProvider } from '../memory.js'
import type { WireApi } from '../model.js'
import type { Platform } from '../platform.js'
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
  /**
   * Named by `platforms` and `people` of config.yaml and wherever a chat is named; a lower case letter, then such letters, digits and `_`, 64 at
   * most. Called once, as the home is opened.
   */
  readonly platform: () => ChatPlatform
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

/** A chat platform, on which the gateway speaks once its account is known. */
export interface ChatPlatform {
  /** What an account needs. It is known once each of these has a value. */
  readonly account: readonly AccountVariable[]
  /** How the agent is to speak there, for the system text: 500 characters at most. Default: nothing is said. */
  readonly hint?: string
  /** Opens it, not connected yet, under the name it was registered by. Rejects with one line for an account that cannot be one. */
  open(request: PlatformRequest): Platform | Promise<Platform>
}

/** Something that an account needs; `hermes gateway setup NAME` asks for it and keeps it in `.env`. */
export interface AccountVariable {
  /** Of `.env` or the environment. */
  readonly variable: string
  /** What is asked for, in a few words. */
  readonly label: string
  /** It is not shown, commands do not get it, and it is taken out of what is stored. */
  readonly isSecret?: true
}

/** What a chat platform is opened with. */
export interface PlatformRequest {
  /** The values of its account, by variable. */
  readonly account: Readonly<Record<string, string>>
  /** The section `platforms.NAME` of config.yaml, with defaults for what all platforms take. */
  readonly settings: JsonObject
  /** A `fetch` to the origin of an address and nowhere else, through the proxy meant for it. */
  fetchTo(address: string): typeof fetch
  /** Keeps a small text of this account for good, such as how far it was heard. */
  readonly keeper: { get(): Promise<string | null>; set(text: string): Promise<void> }
  readonly clock: Clock
  readonly logger: Logger
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
