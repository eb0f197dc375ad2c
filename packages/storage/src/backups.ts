import type { Clock, Logger } from '@hermes/contracts'

/** Options of `openBackups`. */
export interface BackupsOptions {
  /** The database file that is backed up. */
  readonly path: string
  /** Where copies go; made with mode 0700 when missing. */
  readonly directory: string
  /** How many copies made by `create` stay. Default 7. */
  readonly keep?: number
  /** Default: the machine's clock. */
  readonly clock?: Clock
  readonly logger?: Logger
}

/** A copy of the database. */
export interface Backup {
  /** The name of its file without folders. */
  readonly name: string
  readonly path: string
  /** Unix milliseconds. */
  readonly atMs: number
  readonly bytes: number
}

/** What a check of a backup found. */
export interface BackupReport {
  readonly backup: Backup
  readonly sessions: number
  readonly messages: number
  /** One line each; empty when it is sound. */
  readonly problems: readonly string[]
}

/** What could be read of a damaged file. */
export interface RecoveryReport {
  /** The new file. */
  readonly path: string
  readonly sessions: number
  readonly messages: number
  /** Rows that could not be read, as far as that can be told. */
  readonly lost: number
}

/** Copies of one database, and ways back from them. All reject with a `HermesError` of one line. */
export interface Backups {
  /**
   * Copies the database while others use it, without holding anybody up; the copy is checked before it counts, then the oldest beyond
   * `keep` go. A kill leaves no half copy under a backup's name. @throws `store.no_backup` when there is no database.
   */
  create(): Promise<Backup>
  /** Newest first. */
  list(): Promise<readonly Backup[]>
  /** Reads all of a backup. `name` is one of `list` or a path. @throws `store.no_backup`. */
  verify(name: string): Promise<BackupReport>
  /**
   * Puts a backup in place of the database, in one transaction. What is there now is copied aside first, to a backup when it is
   * sound, else to `PATH.damaged-TIME`. @throws `store.in_use` while another process has it open, `store.bad_backup`.
   */
  restore(name: string): Promise<{ readonly restored: BackupReport; readonly savedAs: string | null }>
  /** Reads what can be read of a damaged file into a new one, `PATH.recovered-TIME`; the damaged one stays as it is. */
  recover(): Promise<RecoveryReport>
  /** Whether the newest copy is older than a day, or there is none. */
  isDue(): Promise<boolean>
}
