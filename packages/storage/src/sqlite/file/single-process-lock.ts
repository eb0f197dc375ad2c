import { mkdirSync, readFileSync, rmdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { HermesError } from '@hermes/contracts'
import { hasEnded, processIdentity, shortIdentity } from '../../shared/process-identity.js'
import { realPath } from './open-files.js'

const RENEW_EVERY_MS = 10_000
/** Of a process whose end cannot be seen, as on another machine. */
const STALE_MS = 60_000

/** The one process that may open a file where the file system cannot keep others from it. */
export interface SingleProcessLock {
  /** Before each write. @throws HermesError `store.in_use` once somebody else has taken the file. */
  requireMine(): void
  release(): void
}

/**
 * Takes `PATH.owner`, a file that says who has the database open. Making a file or a folder that is not there yet is done by one of many
 * on every file system. That of a process that has ended on this machine is taken over at once; any other once nobody has renewed it for
 * a minute, by the clock of the file system.
 * @throws HermesError `store.in_use`.
 */
export function takeAlone(path: string): SingleProcessLock {
  const file = ownerFile(path)
  const mine = processIdentity()
  if (!make(file, mine)) takeOver(path, file, mine)
  const aheadMs = statSync(file).mtimeMs - Date.now()
  const renew = () => {
    const now = new Date(Date.now() + aheadMs)
    attempt(() => utimesSync(file, now, now))
  }
  const renewal = setInterval(renew, RENEW_EVERY_MS).unref()
  return {
    requireMine: () => {
      if (read(file) !== mine) throw inUse(path, read(file))
    },
    release: () => {
      clearInterval(renewal)
      if (read(file) === mine) rmSync(file, { force: true })
    },
  }
}

/** Who has the file open alone; `null` when nobody has. */
export function singleProcessLock(path: string): string | null {
  const file = ownerFile(path)
  const holder = read(file)
  return holder === null || hasEnded(holder) ? null : holder
}

function takeOver(path: string, file: string, mine: string): void {
  const turn = `${file}.turn`
  const nowMs = makeTurn(turn)
  if (nowMs === null) throw inUse(path, read(file))
  try {
    const holder = read(file)
    const isOver = holder === null || holder === '' || hasEnded(holder) || isStale(file, nowMs)
    if (!isOver) throw inUse(path, holder)
    rmSync(file, { force: true })
    if (!make(file, mine)) throw inUse(path, read(file))
  } finally {
    rmdirSync(turn)
  }
}

/** What time it is there; `null` while somebody else is taking the file over. */
function makeTurn(turn: string): number | null {
  if (attempt(() => mkdirSync(turn)) === null) {
    const other = statSync(turn, { throwIfNoEntry: false })
    if (!other || Date.now() - other.mtimeMs < STALE_MS) return null
    attempt(() => rmdirSync(turn))
    if (attempt(() => mkdirSync(turn)) === null) return null
  }
  return statSync(turn).mtimeMs
}

function isStale(file: string, nowMs: number): boolean {
  const made = statSync(file, { throwIfNoEntry: false })
  return made === undefined || nowMs - made.mtimeMs > STALE_MS
}

/** `false` when it is there already. */
function make(file: string, identity: string): boolean {
  try {
    writeFileSync(file, identity, { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function read(file: string): string | null {
  return attempt(() => readFileSync(file, 'utf8')) ?? null
}

/** `null` when it cannot be done, `undefined` when it can and gives nothing. */
function attempt<Result>(work: () => Result): Result | null {
  try {
    return work()
  } catch {
    return null
  }
}

function ownerFile(path: string): string {
  return `${realPath(path)}.owner`
}

/** Somebody else has the file open alone. */
export function inUse(path: string, holder: string | null): HermesError {
  const by = holder ? `process ${shortIdentity(holder)}` : 'another process'
  return new HermesError(
    `${path} is open in ${by}, and its file system has no locks, so one Hermes at a time can use it; end the other one.`,
    { code: 'store.in_use', retryable: true, details: { path, process: holder === null ? '' : shortIdentity(holder) } },
  )
}
