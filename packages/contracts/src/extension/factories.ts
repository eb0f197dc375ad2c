import type { Clock } from '../clock.js'
import type { CreateContextEngine } from '../context.js'
import type { Environment } from '../environment.js'
import type { JsonObject } from '../json.js'
import type { Logger } from '../logger.js'
import type { MemoryProvider } from '../memory.js'

/** What extensions can make in place of what is built in, by kind. */
export interface Factories {
  /** Named by `context.engine`. Called once per agent, when a session is long enough to need it. */
  readonly 'context-engine': CreateContextEngine
  /** Named by `terminal.backend`. Called once per agent. */
  readonly backend: (request: BackendRequest) => Environment | Promise<Environment>
  /** Named by `memory.provider`. Called once per home, when something is recalled or kept first. */
  readonly memory: (request: MemoryRequest) => MemoryProvider | Promise<MemoryProvider>
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
