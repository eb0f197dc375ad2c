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
