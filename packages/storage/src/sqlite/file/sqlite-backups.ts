import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { Clock } from '@hermes/contracts'
import { HermesError, systemClock } from '@hermes/contracts'
import Database from 'better-sqlite3'
import type { Backup, BackupReport, Backups, BackupsOptions, RecoveryReport } from '../../backups.js'
import { processIdentity, shortIdentity } from '../../shared/process-identity.js'
import { inspectSchema } from '../schema/migrate.js'
import { checkCopy, checkFile, openCopy } from './health.js'
import { importedPath } from './import-newer.js'
import { hasNoLocks, isWithoutLocks, openAlone } from './open-alone.js'
import { processesWith } from './open-files.js'
import { recoverFile } from './recover.js'
import { inUse, singleProcessLock, takeAlone } from './single-process-lock.js'
import { isBusy, toStoreError } from './store-error.js'

const NAME = /^state-(\d{8})-(\d{6})(\.\d+)?\.db$/
const PARTIAL = '.partial'
const DEFAULT_KEEP = 7
const DAY_MS = 86_400_000
// So many pages are copied before others have a turn: half a millisecond.
const PAGES_A_STEP = 500
const ALL_PAGES = 0x7fffffff
const WAIT_MS = 2_000

/** Backups of an SQLite file. */
export class SqliteBackups implements Backups {
  readonly #path: string
  readonly #directory: string
  readonly #keep: number
  readonly #clock: Clock

  constructor({ path, directory, keep = DEFAULT_KEEP, clock = systemClock }: BackupsOptions) {
    const imported = importedPath(resolve(path))
    this.#path = existsSync(imported) ? imported : resolve(path)
    this.#directory = resolve(directory)
    this.#keep = keep
    this.#clock = clock
  }

  async create(): Promise<Backup> {
    const backup = await this.#make()
    this.#removeOld()
    return backup
  }

  async #make(): Promise<Backup> {
    if (!existsSync(this.#path)) throw noBackup(`There are no sessions yet: ${this.#path} does not exist.`, this.#path)
    const target = this.#newName()
    const partial = `${target}${PARTIAL}-${process.pid}`
    try {
      mkdirSync(this.#directory, { recursive: true, mode: 0o700 })
      if (isWithoutLocks(this.#path)) await copyAlone(this.#path, partial)
      else {
        await copy(this.#path, partial)
        standAlone(partial)
      }
      chmodSync(partial, 0o600)
      const [problem] = await check(partial, { quick: true })
      if (problem !== undefined) throw badBackup(this.#path, problem)
      renameSync(partial, target)
    } catch (error) {
      for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(partial + suffix, { force: true })
      throw toStoreError(error, this.#path)
    }
    return toBackup(target)!
  }

  async list(): Promise<readonly Backup[]> {
    if (!existsSync(this.#directory)) return []
    const backups = readdirSync(this.#directory).flatMap((name) => toBackup(join(this.#directory, name)) ?? [])
    return backups.sort((left, right) => byAge(right.name, left.name))
  }

  async verify(name: string): Promise<BackupReport> {
    const backup = this.#find(name)
    const problems = await check(backup.path, { quick: false })
    const [sessions, messages] = problems.length > 0 ? [0, 0] : await counts(backup.path)
    return { backup, sessions, messages, problems }
  }

  async restore(name: string): Promise<{ readonly restored: BackupReport; readonly savedAs: string | null }> {
    const restored = await this.verify(name)
    const [problem] = restored.problems
    if (problem !== undefined) throw badBackup(restored.backup.path, problem)
    this.#requireUnused()
    const savedAs = await this.#saveAside()
    try {
      if (isWithoutLocks(restored.backup.path)) replaceAlone(restored.backup.path, this.#path)
      else await copy(restored.backup.path, this.#path, ALL_PAGES)
      chmodSync(this.#path, 0o600)
    } catch (error) {
      throw toStoreError(error, this.#path)
    }
    return { restored, savedAs }
  }

  async recover(): Promise<RecoveryReport> {
    if (!existsSync(this.#path)) throw noBackup(`${this.#path} does not exist.`, this.#path)
    const target = `${this.#path}.recovered-${stamp(this.#clock.now())}`
    return { path: target, ...(await recoverFile(this.#path, target)) }
  }

  async isDue(): Promise<boolean> {
    const [newest] = await this.list()
    return newest === undefined || this.#clock.now() - newest.atMs >= DAY_MS
  }

  /** A sound database becomes a backup; a damaged one is moved aside, with its logs, since it cannot be written over. */
  async #saveAside(): Promise<string | null> {
    if (!existsSync(this.#path)) return null
    if ((await check(this.#path, { quick: true })).length === 0) return (await this.#make()).path
    const aside = `${this.#path}.damaged-${stamp(this.#clock.now())}`
    for (const suffix of ['-wal', '-shm', '-journal', ''])
      if (existsSync(this.#path + suffix)) renameSync(this.#path + suffix, aside + suffix)
    return aside
  }

  #requireUnused(): void {
    const others = processesWith(this.#path).join(', ')
    if (others === '' && !isOpenElsewhere(this.#path)) return
    const which = others === '' ? '' : ` (${others})`
    throw new HermesError(`${this.#path} is open in other processes${which}; end them and try again.`, {
      code: 'store.in_use',
      retryable: true,
      details: { path: this.#path, processes: others },
    })
  }

  #find(name: string): Backup {
    const backup = toBackup(join(this.#directory, basename(name))) ?? toBackup(resolve(name), true)
    if (backup) return backup
    throw noBackup(`There is no backup "${name}"; hermes backup list shows them.`, name)
  }

  #newName(): string {
    const base = join(this.#directory, `state-${stamp(this.#clock.now())}`)
    let name = `${base}.db`
    for (let number = 1; existsSync(name); number++) name = `${base}.${number}.db`
    return name
  }

  /** Also what a kill left unfinished a day ago or longer. */
  #removeOld(): void {
    const names = readdirSync(this.#directory)
    const backups = names.filter((name) => NAME.test(name)).sort(byAge)
    const stale = names.filter((name) => name.includes(`.db${PARTIAL}-`) && this.#isOld(name))
    for (const name of [...backups.slice(0, Math.max(0, backups.length - this.#keep)), ...stale])
      rmSync(join(this.#directory, name), { force: true })
  }

  #isOld(name: string): boolean {
    const made = statSync(join(this.#directory, name), { throwIfNoEntry: false })
    return made !== undefined && Date.now() - made.mtimeMs > DAY_MS
  }
}

/**
 * Copies page by page out of one state of the database. Where writers use a write-ahead log they are not held up by that; elsewhere
 * a write in between starts the copy anew. The target is written in one transaction.
 */
async function copy(from: string, to: string, pages = PAGES_A_STEP): Promise<void> {
  const source = new Database(from, { readonly: true, timeout: WAIT_MS })
  try {
    if (source.pragma('journal_mode', { simple: true }) === 'wal') {
      source.exec('BEGIN')
      source.prepare('SELECT count(*) FROM sqlite_master').get()
    }
    await source.backup(to, { progress: () => pages })
  } finally {
    source.close()
  }
}

/**
 * Whether anybody else has the database open, told by its locks: who uses a write-ahead log keeps one as long as the file is open. Others
 * have one within a transaction only, and it is in one that a backup takes their place.
 */
function isOpenElsewhere(path: string): boolean {
  if (!existsSync(path)) return false
  const database = new Database(path, { timeout: 0 })
  try {
    database.pragma('locking_mode = EXCLUSIVE')
    database.exec('BEGIN EXCLUSIVE; ROLLBACK')
    return false
  } catch (error) {
    return isBusy(error) && !hasNoLocks(error, path)
  } finally {
    database.close()
  }
}

function check(path: string, options: { readonly quick: boolean }): Promise<readonly string[]> {
  return isWithoutLocks(path) ? checkCopy(path, options) : checkFile(path, options)
}

/** Without a write-ahead log, so that reading it leaves no files beside it. */
function standAlone(path: string): void {
  const database = new Database(path)
  database.pragma('journal_mode = DELETE')
  database.close()
}

async function counts(path: string): Promise<[sessions: number, messages: number]> {
  const database = isWithoutLocks(path) ? await openCopy(path) : new Database(path, { readonly: true })
  try {
    inspectSchema(database, path)
    const count = (table: string) => database.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number
    return [count('sessions'), count('messages')]
  } catch (error) {
    throw toStoreError(error, path)
  } finally {
    database.close()
  }
}

function toBackup(path: string, anyName = false): Backup | null {
  const found = statSync(path, { throwIfNoEntry: false })
  const [, day, time] = NAME.exec(basename(path)) ?? []
  if (!found?.isFile() || (day === undefined && !anyName)) return null
  const atMs =
    day === undefined
      ? found.mtimeMs
      : Date.parse(`${day}T${time}Z`.replace(/(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)/, '$1-$2-$3T$4:$5:'))
  return { name: basename(path), path, atMs, bytes: found.size }
}

/** Oldest first; of one second those without a number come before `.1`. */
function byAge(left: string, right: string): number {
  const numbered = (name: string) => name.replace(/(\.\d+)?\.db$/, (_, number: string | undefined) => number ?? '.0')
  return numbered(left).localeCompare(numbered(right), 'en', { numeric: true })
}

/** `20260301-123000`, in UTC. */
function stamp(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')
}

function noBackup(message: string, path: string): HermesError {
  return new HermesError(message, { code: 'store.no_backup', details: { path } })
}

function badBackup(path: string, problem: string): HermesError {
  return new HermesError(`${path} is damaged (${problem}) and was not used.`, {
    code: 'store.bad_backup',
    details: { path, problem },
  })
}

/**
 * Copies a database on a file system without locks. This process may have it open: no transaction goes on while the file is copied, and
 * what is committed is in it. @throws HermesError `store.in_use` while another process has it open.
 */
async function copyAlone(from: string, to: string): Promise<void> {
  const holder = singleProcessLock(from)
  if (holder === null) await copyUnused(from, to)
  else if (shortIdentity(holder) === shortIdentity(processIdentity())) copyFileSync(from, to)
  else throw inUse(from, holder)
}

/** Opening it first takes back what a kill left half done. */
async function copyUnused(from: string, to: string): Promise<void> {
  const { database, owner } = await openAlone(from)
  try {
    database.pragma('schema_version')
    database.close()
    copyFileSync(from, to)
  } finally {
    database.close()
    owner.release()
  }
}

/** Puts a copy in place of a database that nobody has open, in one step. @throws HermesError `store.in_use`. */
function replaceAlone(copy: string, path: string): void {
  const owner = takeAlone(path)
  const partial = `${path}.restoring`
  try {
    copyFileSync(copy, partial)
    for (const suffix of ['-journal', '-wal', '-shm']) rmSync(path + suffix, { force: true })
    renameSync(partial, path)
  } finally {
    rmSync(partial, { force: true })
    owner.release()
  }
}
