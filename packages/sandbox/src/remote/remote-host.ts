import type { HermesError } from '@hermes/contracts'

/** A program of this machine whose standard input and output become those of a command on the other side. */
export interface HostClient {
  readonly program: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/**
 * The way to another machine or container: how to start a program there. Everything an environment does goes over it as shell
 * scripts, so the other side needs a POSIX shell and the usual small programs, nothing of ours.
 */
export interface RemoteHost {
  /** The environment's backend name, for example `ssh`. */
  readonly backend: string
  /** What errors call it, for example `ada@example.org` or `container 3f2a`. */
  readonly name: string
  /** Whether commands run apart from this machine's files. */
  readonly isolated: boolean
  /** Opens the way, or opens it again when it was lost. Called before each command. */
  connect(): Promise<void>
  /**
   * The client that runs `line`, a command line without secrets, with its three standard streams as plain pipes. A client that `lasts`
   * goes on when this program and the connection it shares are gone.
   */
  client(line: string, options?: { readonly lasts?: boolean }): HostClient
  /** Why a client failed that never reached a shell, or lost it; `stderr` is what it said. */
  failure(exitCode: number | null, stderr: string): HermesError
  /** Lets go. With `keepProcesses` what runs over there goes on. */
  close(options: { readonly keepProcesses: boolean }): Promise<void>
}
