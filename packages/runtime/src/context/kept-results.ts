import { mkdir, readdir, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '@hermes/contracts'
import type { KeepResult } from '@hermes/registry'

/** Options of {@link keepResultsIn}. */
interface KeptResultsOptions {
  /** Where those of a session go; made when the first result comes. */
  readonly directoryOf: (sessionId: string) => string
  /** Takes the secrets of the home out. */
  readonly redact: () => (text: string) => string
  readonly clock: Clock
}

const KEPT_MS = 86_400_000
const CLEARED_EVERY_MS = 3_600_000

/**
 * Keeps results that are too long to be shown whole, without secrets, in files for their user alone: for a day in a folder, or where the
 * environment keeps them.
 */
export function keepResultsIn({ directoryOf, redact, clock }: KeptResultsOptions): KeepResult {
  const clearedMs = new Map<string, number>()
  return async ({ sessionId, callId, text, environment }) => {
    if (environment.keepText) return environment.keepText(redact()(text))
    const directory = directoryOf(sessionId)
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const now = clock.now()
    // Again now and then, for programs that run for weeks.
    if (now - (clearedMs.get(directory) ?? Number.NEGATIVE_INFINITY) >= CLEARED_EVERY_MS) {
      clearedMs.set(directory, now)
      await clear(directory, now - KEPT_MS)
    }
    const name = `${sessionId}-${callId}`.replace(/[^\w-]/g, '_').slice(-120)
    const path = join(directory, `${name}.txt`)
    await writeFile(path, redact()(text), { mode: 0o600 })
    return path
  }
}

async function clear(directory: string, beforeMs: number): Promise<void> {
  for (const name of await readdir(directory)) {
    const path = join(directory, name)
    const found = await stat(path).catch(() => null)
    if (found?.isFile() && found.mtimeMs < beforeMs) await unlink(path).catch(() => undefined)
  }
}
