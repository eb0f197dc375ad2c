export type { Backup, BackupReport, Backups, BackupsOptions, RecoveryReport } from './backups.js'
export { type ImportResult, importSessions } from './import-sessions.js'
export type { Job, JobFilter, JobStatus, Jobs, NewJob } from './jobs.js'
export type { Learning, Learnings, NewLearning } from './learnings.js'
export { isMark, MARKS } from './marks.js'
export { openBackups } from './open-backups.js'
export { openStorage } from './open-storage.js'
export type { Outbox, OutboxMessage, OutboxOutcome, OutboxState } from './outbox.js'
export { describeStoreUrl } from './postgres/server/store-url.js'
export { bringIn, findRescueFiles, type RescueFile, type RescueOutcome } from './rescue-files.js'
export type {
  FactChange,
  ForkSession,
  LatestSessionFilter,
  ListSessionsOptions,
  MetaStore,
  PostgresOptions,
  SearchHit,
  SearchOptions,
  SessionResolution,
  SqliteOptions,
  Storage,
  StorageOptions,
  StoreStats,
} from './storage.js'
export type { NewSessionSummary, SessionSummaries, SessionSummary } from './summaries.js'
