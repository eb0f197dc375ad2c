/** `web` of config.yaml. */
export interface WebSettings {
  /** For both, where the two below say nothing. */
  readonly backend: string
  readonly search_backend: string
  readonly extract_backend: string
  /** Characters of a page that are shown. */
  readonly extract_char_limit: number
  /** Whether services may be asked without a key where no other one is configured. */
  readonly keyless_fallback: boolean
  /** Whether they may be asked so where those with a key fail. */
  readonly keyless_rescue: boolean
  /** `free`: never with the key, `paid`: never without one. By service. */
  readonly provider_tier: Readonly<Record<string, 'auto' | 'free' | 'paid'>>
  readonly cache_enabled: boolean
  readonly cache_ttl_minutes: number
  /** Nothing from these hosts is kept. */
  readonly cache_exempt_hosts: readonly string[]
}
