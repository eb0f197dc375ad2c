import type { HermesError } from '@hermes/contracts'
import type { ProcessHandle } from '../processes/process-handle.js'
import type { RemoteProcessId } from '../processes/process-record.js'

/** How a process on another side is started by a client here. */
export interface Launch {
  /** The client's command line, its standard error apart. */
  readonly command: (report: string) => string
  readonly env: Readonly<Record<string, string>>
  /** What it reads first. */
  readonly input: string
  /** Which process it started, from what it reported so far; `null` when that is not said yet. */
  readonly started: (report: string) => RemoteProcessId | null
  /** Why it ended without having started one. */
  readonly failure: (exitCode: number | null, report: string) => HermesError
}

/** A process on another side that needs no client here: it is asked for what is new. */
export interface RemoteProcess {
  readonly handle: ProcessHandle
  readonly id: RemoteProcessId
  /** What finds it again. */
  readonly token: string
}

/** How a process on another side is started; what a job prints goes to `log` on this machine. */
export type RemoteStart =
  | { readonly type: 'client'; readonly launch: Launch }
  | { readonly type: 'job'; readonly start: (log: string) => Promise<RemoteProcess> }
