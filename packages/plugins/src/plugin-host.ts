import type { Clock, JsonValue, Logger } from '@hermes/contracts'
import type { RunningProgram } from '@hermes/contracts/environment'
import type { ActingPlugin, Action, Permit } from '@hermes/contracts/policy'

import type { PluginLimits } from './process/plugin-process.js'

/** How the process of a plugin is started. */
export interface PluginProgram {
  readonly name: string
  readonly argv: readonly [string, ...string[]]
  /** Absolute: what it sees besides the system, and where it may write. */
  readonly readable: readonly string[]
  readonly writable: string
  /** Whether sockets reach the network where it is isolated. */
  readonly network: boolean
}

/** What a program that installs something came to. */
export interface ProgramResult {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

/** What plugins need of a home. All paths absolute. */
export interface PluginHost {
  /** Where plugins are installed, and their own data lies; made on first write. */
  readonly directory: string
  readonly dataDirectory: string
  readonly stateFile: string
  /** No plugin counts this time. Default `false`. */
  readonly isSafe?: boolean
  /** Where other agents install plugins for the person. */
  readonly sharedDirectory: string
  /** The project that is worked in. */
  project(): Promise<{ readonly folder: string; readonly isTrusted: boolean }>
  /** The values of config.yaml that Hermes itself has no meaning for. */
  config(key: string): JsonValue | undefined
  secret(name: string): string | undefined
  /** Starts the process of a plugin: isolated where that can be had. */
  startProgram(program: PluginProgram): Promise<RunningProgram>
  /** Why processes of plugins are not isolated here; `null` when they are. */
  isolationProblem(): Promise<string | null>
  /** Runs npm, git or tar as the person who asked for it. */
  run(
    argv: readonly [string, ...string[]],
    options: { readonly cwd: string; readonly signal: AbortSignal },
  ): Promise<ProgramResult>
  /** The permit for what a plugin does outside of any session. */
  permit(action: Action, plugin: ActingPlugin): Promise<Permit>
  fetchTo(address: string): typeof fetch
  /** Keeps the yes of a person for the hooks of a file, and takes it back. */
  agreeToHooks(source: string): Promise<void>
  /** How long processes may take; see {@link PluginLimits}. */
  readonly limits?: Partial<PluginLimits>
  readonly clock: Clock
  readonly logger: Logger
}
