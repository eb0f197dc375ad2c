import type { Clock } from '@hermes/contracts'
import type { ProviderQuirks } from '../catalogue.js'

/** How long a provider that was told `5m` or `1h` keeps a prefix, in milliseconds. */
export const CACHE_LIFETIME_MS = { '5m': 300_000, '1h': 3_600_000 } as const

/** What a wire is made from; `createTransport` fills in the defaults. */
export interface WireOptions {
  readonly provider: string
  /** What messages call the endpoint. */
  readonly name: string
  readonly baseUrl: string
  readonly headers: Readonly<Record<string, string>>
  readonly quirks: ProviderQuirks
  readonly timeoutMs: number
  readonly stallTimeoutMs: number
  /** How long a provider with marks for its cache keeps a prefix. */
  readonly cacheTtl: '5m' | '1h'
  /** Where the key is from, for messages. */
  readonly keySource?: string | undefined
  readonly clock: Clock
  readonly fetch: typeof fetch | undefined
}
