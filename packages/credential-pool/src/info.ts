import type { CredentialState, PoolEntry } from './entry.js'

/** A credential as it may be shown: without its secret. */
export interface CredentialInfo {
  /** Six characters; names it within its provider. */
  readonly id: string
  readonly label: string
  readonly type: 'api-key' | 'oauth'
  /** `manual`, `env:NAME`, `config:NAME`, `device_code` … */
  readonly source: string
  /** 0 comes first. */
  readonly priority: number
  /** The last four characters of the secret, where it is long enough that they give nothing away; else empty. */
  readonly hint: string
  readonly state: CredentialState
  /** The only server it may go to; `null` when that of the provider is meant. */
  readonly baseUrl: string | null
  /** Of a token; Unix milliseconds. */
  readonly expiresAtMs: number | null
  readonly isRenewable: boolean
  /** Counted by the strategies that need it. */
  readonly requestCount: number
  /** What the provider said when it last refused it. */
  readonly lastError: string | null
}

const MIN_CHARS_FOR_HINT = 16
const HINT_CHARS = 4

/** What may be shown of an entry. */
export function toInfo(entry: PoolEntry): CredentialInfo {
  const { id, label, source, priority, secret, state, baseUrl, expiresAtMs, requestCount, lastError } = entry
  return {
    id,
    label,
    type: entry.authType === 'oauth' ? 'oauth' : 'api-key',
    source,
    priority,
    hint: secret !== null && secret.length >= MIN_CHARS_FOR_HINT ? secret.slice(-HINT_CHARS) : '',
    state,
    baseUrl,
    expiresAtMs,
    isRenewable: entry.refreshToken !== null,
    requestCount,
    lastError: state.type === 'ready' ? null : lastError,
  }
}
