import type { Clock, Logger } from '@hermes/contracts'
import type { Sample } from './answers/sampling.js'
import type { ConnectionPorts } from './connection/open-connection.js'
import type { OpenLoopback, StartDevice } from './login/log-in.js'
import type { Folders } from './settings/written-entry.js'

/** `mcp_servers` of config.yaml. */
export interface ConfiguredServers {
  /** With its variables in place; `undefined` without the key. */
  readonly value: unknown
  /** As the file has it. Default: the same. */
  readonly written?: unknown
  /** Names of those that plugins bring, which stand in no file of the person. */
  readonly brought?: readonly string[]
}

/** What MCP needs of a home. */
export interface McpOptions extends ConnectionPorts {
  /** As the home was opened with. */
  readonly configured: ConfiguredServers
  /** As it is now. Rejects in a line where nobody can read the file. */
  reread(): Promise<ConfiguredServers>
  /** The same where the file is another one than when this was asked last; `null` where it is not, or there is none. */
  changed(): Promise<ConfiguredServers | null>
  /** What `${userHome}` and `${workspaceFolder}` stand for. */
  readonly folders: Folders
  /** Writes one entry of `mcp_servers`, or takes it away with `null`. */
  writeServer(name: string, entry: object | null): Promise<void>
  /** Where listings are kept. Absolute; made on first write. */
  readonly cacheDir: string
  /** Where logins are kept. Absolute; made on first write. */
  readonly loginDir: string
  readonly openLoopback: OpenLoopback
  readonly startDevice: StartDevice
  /** Takes a text out of all that is stored and logged from now on. */
  conceal(secret: string): void
  /** Asks the model of a session for a server. Default: none is asked. */
  readonly sample?: Sample
  /** Of Hermes, as servers are told it. */
  readonly version: string
  readonly clock: Clock
  readonly logger: Logger
}
