export {
  type Backup,
  type BackupReport,
  type Backups,
  type BackupsOptions,
  openBackups,
  type RecoveryReport,
} from './backups.js'
export { openStorage } from './open-storage.js'
export type {
  ForkSession,
  LatestSessionFilter,
  ListSessionsOptions,
  MetaStore,
  SearchContext,
  SearchHit,
  SearchOptions,
  SessionResolution,
  Storage,
  StorageOptions,
} from './storage.js'
