import type { HermesError } from '@hermes/contracts'
import type { ProcessHandle } from '../processes/process-handle.js'
import type { RemoteStart } from '../shell/remote-start.js'
import type { RemoteCommand } from './exec-script.js'

/** What a script said. */
export interface ProgramOutput {
  readonly exitCode: number | null
  readonly stdout: Buffer
  /** What the way there said, not the script. */
  readonly stderr: string
}

/** Told of a running script. */
export interface StreamListener {
  readonly onOutput: (chunk: Buffer) => void
  /** Once, after the last output. `why` is what to say when the end came too early. */
  readonly onClose: (why: HermesError) => void
}

/** A script that runs over there. */
export interface RemoteStream {
  /** Resolves when nothing more can come. */
  readonly closed: Promise<void>
  /** Gives up on it. What it started over there is not ended. */
  stop(): void
  /** Lets what was left behind write on, unheard; it keeps nobody alive. */
  leave(): void
}

/**
 * The way to another machine or container. Everything an environment does goes over it as shell scripts, so the other side needs a POSIX
 * shell and the usual small programs, nothing of ours.
 */
export interface RemoteHost {
  /** The environment's backend name, for example `ssh`. */
  readonly backend: string
  /** What errors call it, for example `ada@example.org` or `container 3f2a`. */
  readonly name: string
  /** Whether commands run apart from this machine's files. */
  readonly isolated: boolean
  /** Whether its background processes can have a pseudo-terminal, where the other side has a program for that. Default `false`. */
  readonly hasPty?: boolean
  /** Opens the way, or opens it again when it was lost. Called before each command. */
  connect(): Promise<void>
  /** The client program that runs a command line there with its three standard streams as plain pipes; missing where there is none. */
  client?(line: string): HostClient
  /** Runs a script to its end, with `input` as its standard input. */
  converse(script: string, input: Uint8Array): Promise<ProgramOutput>
  /** Runs a script in a session of its own and tells its output as it comes. */
  stream(script: string, input: string, listener: StreamListener): RemoteStream
  /** How a background process is started there; `mark` tells what it reports from what it prints. */
  background(remote: RemoteCommand, mark: string): RemoteStart
  /** A background process without a client here, found again by what its record says. */
  follow?(job: string, log: string): ProcessHandle
  /** What became of the other side since it was asked last, for whoever reads the output of a command; `null` when nothing did. */
  takeNotice?(): string | null
  /** Whether nothing can run there now and a script would only wake it up. Default: never. */
  isAsleep?(): boolean
  /** Why a script's way failed; `stderr` is what it said. */
  failure(exitCode: number | null, stderr: string): HermesError
  /** Lets go. With `keepProcesses` what runs over there goes on. */
  close(options: { readonly keepProcesses: boolean }): Promise<void>
}

/** A program of this machine whose standard input and output become those of a command on the other side. */
export interface HostClient {
  readonly program: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}
