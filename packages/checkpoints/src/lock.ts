import { randomUUID } from 'node:crypto'
import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { HermesError } from '@hermes/contracts'

const RETRY_MS = 20
/** Nothing done under a lock takes that long; its holder is gone, perhaps on another machine. */
const ABANDONED_MS = 15 * 60_000

/**
 * Runs `work` while this process alone holds the lock file.
 * @throws HermesError `checkpoint.busy` (retryable) when somebody else held it for `waitMs`.
 */
export async function withLock<T>(
  path: string,
  { waitMs, signal }: { readonly waitMs: number; readonly signal?: AbortSignal },
  work: () => Promise<T>,
): Promise<T> {
  const untilMs = performance.now() + waitMs
  while (!take(path)) {
    if (performance.now() >= untilMs) {
      throw new HermesError('Another process is busy with the checkpoints of this folder; try again in a moment.', {
        code: 'checkpoint.busy',
        retryable: true,
      })
    }
    await setTimeout(RETRY_MS, undefined, { signal })
  }
  try {
    return await work()
  } finally {
    rmSync(path, { force: true })
  }
}

/** A link appears with its content, unlike a file that is opened and then written. */
function take(path: string): boolean {
  const own = `${path}.${randomUUID()}`
  writeFileSync(own, JSON.stringify({ pid: process.pid, host: hostname() }), { mode: 0o600 })
  try {
    linkSync(own, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    if (isAbandoned(path)) removeAbandoned(path)
    return false
  } finally {
    rmSync(own, { force: true })
  }
}

function isAbandoned(path: string): boolean {
  try {
    const { pid, host } = JSON.parse(readFileSync(path, 'utf8')) as { pid: number; host: string }
    if (Date.now() - statSync(path).mtimeMs > ABANDONED_MS) return true
    return host === hostname() && !isAlive(pid)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    return error instanceof SyntaxError
  }
}

/** Of several that find it abandoned only one moves it away; one that moved a fresh lock by mistake puts it back. */
function removeAbandoned(path: string): void {
  const aside = `${path}.${randomUUID()}`
  try {
    renameSync(path, aside)
    if (!isAbandoned(aside)) linkSync(aside, path)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code !== 'ENOENT' && code !== 'EEXIST') throw error
  } finally {
    rmSync(aside, { force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
