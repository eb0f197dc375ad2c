import { mkdir, readdir, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '@hermes/contracts'
import type { KeepResult } from '@hermes/registry'

/** Options of {@link keepResultsIn}. */
export interface KeptResultsOptions {
  /** Made when the first result comes. */
  readonly directory: string
  /** Takes the secrets of the home out. */
  readonly redact: () => (text: string) => string
  readonly clock: Clock
}

const KEPT_MS = 86_400_000

/** Keeps results that are too long to be shown whole, for a day: files of mode 0600, without secrets. */
export function keepResultsIn({ directory, redact, clock }: KeptResultsOptions): KeepResult {
  let ready: Promise<unknown> | null = null
  return async ({ sessionId, callId, text }) => {
    ready ??= prepare(directory, clock.now() - KEPT_MS)
    await ready
    const name = `${sessionId}-${callId}`.replace(/[^\w-]/g, '_').slice(-120)
    const path = join(directory, `${name}.txt`)
    await writeFile(path, redact()(text), { mode: 0o600 })
    return path
  }
}

/** Makes the folder, and removes what is older than `beforeMs`. */
async function prepare(directory: string, beforeMs: number): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  for (const name of await readdir(directory)) {
    const path = join(directory, name)
    const found = await stat(path).catch(() => null)
    if (found?.isFile() && found.mtimeMs < beforeMs) await unlink(path).catch(() => undefined)
  }
}
