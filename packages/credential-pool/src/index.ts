export { type CredentialPool, type CredentialPoolOptions, openCredentialPool } from './credential-pool.js'
export {
  type CredentialStore,
  type CredentialStoreOptions,
  type NewCredential,
  openCredentialStore,
} from './credential-store.js'
export type { BorrowedKey, CredentialState } from './entry.js'
export type { CredentialInfo } from './info.js'
export { parseResetTime } from './reset-time.js'
export { POOL_STRATEGIES, type PoolStrategy } from './strategy.js'
export type { OAuthSettings, RenewTokens, TokenSet } from './tokens.js'
