import type { Clock } from '../clock.js'
import type { CreateContextEngine } from '../context.js'
import type { Environment } from '../environment.js'
import type { JsonObject } from '../json.js'
import type { Logger } from '../logger.js'

/** What extensions can make in place of what is built in, by kind. */
export interface Factories {
  /** Named by `context.engine`. Called once per agent, when a session is long enough to need it. */
  readonly 'context-engine': CreateContextEngine
  /** Named by `terminal.backend`. Called once per agent. */
  readonly backend: (request: BackendRequest) => Environment | Promise<Environment>
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
