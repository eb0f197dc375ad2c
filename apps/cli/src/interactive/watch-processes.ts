import { formatDuration } from '@hermes/contracts'
import type { BackgroundProcess, ProcessInfo } from '@hermes/contracts/environment'

const MAX_COMMAND = 60

/** Tells once of each background process that it has ended. */
export class ProcessWatch {
  readonly #say: (line: string) => void
  readonly #watched = new Map<string, () => void>()

  constructor(say: (line: string) => void) {
    this.#say = say
  }

  /** Watches those that are new. */
  see(processes: readonly BackgroundProcess[]): void {
    for (const process of processes) {
      const info = process.info()
      if (info.endedAtMs !== null || this.#watched.has(info.id)) continue
      this.#watched.set(info.id, process.observe({ onExit: (ended) => this.#say(describe(ended)) }))
    }
  }

  stop(): void {
    for (const stop of this.#watched.values()) stop()
    this.#watched.clear()
  }
}

function describe({ id, command, exitCode, signal, startedAtMs, endedAtMs }: ProcessInfo): string {
  const line = command.trim().split('\n')[0] ?? ''
  const shown = line.length > MAX_COMMAND ? `${line.slice(0, MAX_COMMAND - 1)}…` : line
  const how = exitCode === null ? `ended by ${signal ?? 'a signal'}` : `exit ${exitCode}`
  return `${id} has ended: ${shown} · ${how} · ${formatDuration((endedAtMs ?? startedAtMs) - startedAtMs)}`
}
