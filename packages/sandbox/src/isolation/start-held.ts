import type { Clock } from '@hermes/contracts'
import type { IsolatedProgram } from './isolated-program.js'

const POLL_MS = 5

/**
 * Starts a program by `start`, which resolves when the program runs or has ended. Lock files, temporary files and sockets come and go all
 * day, and bubblewrap fails when a place that it was to hide was removed since the bounds were drawn: then, as the program did not run, it is
 * started once more within bounds drawn anew, unless `mayRepeat` says no. Everything that isolated programs are started by comes through here.
 */
export async function startHeld<Program extends IsolatedProgram, Result>(
  isolate: () => Promise<Program>,
  start: (program: Program, isLast: boolean) => Promise<Result>,
  mayRepeat: (result: Result) => boolean = () => true,
): Promise<{ readonly program: Program; readonly result: Result }> {
  for (let isLast = false; ; isLast = true) {
    const program = await isolate()
    try {
      const result = await start(program, isLast)
      if (isLast || (program.mark?.isSet() ?? true) || !mayRepeat(result)) return { program, result }
    } finally {
      program.release()
      program.mark?.close()
    }
  }
}

/** Resolves once the program of the mark runs, or what was to start it has ended. */
export async function untilStarted(
  { mark }: Pick<IsolatedProgram, 'mark'>,
  exit: Promise<unknown>,
  clock: Clock,
): Promise<void> {
  let hasEnded = false
  const ended = exit.then(
    () => (hasEnded = true),
    () => (hasEnded = true),
  )
  while (mark && !mark.isSet() && !hasEnded) await Promise.race([ended, clock.sleep(POLL_MS)])
}

/** Holds output back until the program of the mark runs: before, only what was to start it can have written something. */
export class HeldOutput {
  readonly #emit: (chunk: Buffer) => void
  #kept: Buffer[] | null = []

  constructor(emit: (chunk: Buffer) => void) {
    this.#emit = emit
  }

  push({ mark }: Pick<IsolatedProgram, 'mark'>, chunk: Buffer): void {
    if (this.#kept === null || (mark?.isSet() ?? true)) {
      this.flush()
      this.#emit(chunk)
    } else this.#kept.push(chunk)
  }

  /** Forgets what was held back. */
  drop(): void {
    if (this.#kept) this.#kept = []
  }

  /** Passes on what was held back, and from now on everything. */
  flush(): void {
    const kept = this.#kept
    this.#kept = null
    for (const chunk of kept ?? []) this.#emit(chunk)
  }
}
