export { openStorage } from './open-storage.js'
export type {
  LatestSessionFilter,
  ListSessionsOptions,
  MetaStore,
  SearchHit,
  SearchOptions,
  SessionResolution,
  Storage,
  StorageOptions,
} from './storage.js'
