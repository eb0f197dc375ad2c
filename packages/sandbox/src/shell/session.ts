import { HermesError } from '@hermes/contracts'
import type { ExecOptions, ExecResult } from '@hermes/contracts/environment'
import type { OutputCollector } from './output-collector.js'
import { nextState, parseShellState, type ShellState } from './shell-state.js'

const DEFAULT_TIMEOUT_MS = 180_000
/** The longest a Node timer can run. */
const MAX_TIMER_MS = 2 ** 31 - 1
const EXIT_TIMED_OUT = 124
const EXIT_CANCELED = 130

/** Directory and exported variables of a shell, which pass from one command to the next although each has a process of its own. */
export class ShellSession {
  /** What the shell may have by itself: names that no shell can show are taken from here. */
  base: Readonly<Record<string, string>>
  #state: ShellState

  constructor(state: ShellState, base: Readonly<Record<string, string>>) {
    this.base = base
    this.#state = state
  }

  get cwd(): string {
    return this.#state.cwd
  }

  get env(): Readonly<Record<string, string>> {
    return this.#state.env
  }

  /** Begins anew with other variables, in the same directory. */
  restart(env: Readonly<Record<string, string>>): void {
    this.base = env
    this.#state = { ...this.#state, env }
  }

  /**
   * Takes over what the shell of a command saved, of the directory alone with `onlyDirectory`; the line that tells of variables that could
   * not be kept. `null` when nothing was taken over: the command ran beside the shell, or its shell ended before it was done.
   */
  keep(saved: Buffer, options: ExecOptions, onlyDirectory = false): string | null {
    if (options.aside || options.throwAway) return null
    const parsed = parseShellState(saved, this.base)
    if (parsed === null) return null
    const { state, notice } = nextState(this.#state, parsed, options)
    this.#state = onlyDirectory ? { ...this.#state, cwd: state.cwd } : state
    return notice
  }
}

/** How a command ended, wherever it ran; `stopped`: why it was ended, or never started. */
interface CommandEnding {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly stopped: 'timeout' | 'abort' | null
}

/** What a command came to, without where all of its output is. */
export function commandResult(
  { exitCode, signal, stopped }: CommandEnding,
  output: OutputCollector,
  rest: Pick<ExecResult, 'durationMs' | 'cwd' | 'fullOutputPath'>,
): ExecResult {
  const { savedBytes, totalBytes } = output
  return {
    exitCode: stopped === 'timeout' ? EXIT_TIMED_OUT : stopped === 'abort' ? EXIT_CANCELED : exitCode,
    signal,
    timedOut: stopped === 'timeout',
    canceled: stopped === 'abort',
    output: output.text(),
    outputBytes: totalBytes,
    ...(savedBytes > 0 && savedBytes < totalBytes ? { savedBytes } : {}),
    ...rest,
  }
}

export function commandLimitMs({ timeoutMs = DEFAULT_TIMEOUT_MS }: ExecOptions): number {
  return Math.min(timeoutMs, MAX_TIMER_MS)
}

/** A directory that a command was to run in. */
export function missingDirectory(path: string): HermesError {
  return new HermesError(`Cannot run in ${path}: there is no such directory.`, {
    code: 'environment.not_found',
    details: { path },
  })
}

/** Who stops a command waits for nothing that takes long. */
export function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
