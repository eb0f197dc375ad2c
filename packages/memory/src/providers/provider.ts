/** What a provider over HTTP is made of. */
export interface ServiceOptions {
  /** Reaches `baseUrl` and nothing else. */
  readonly fetch: typeof globalThis.fetch
  readonly baseUrl: string
  /** `null` where the service runs without one. */
  readonly apiKey: string | null
  /** Whose memories these are. */
  readonly userId: string
  /** Keeps programs apart that use the same account. */
  readonly workspace: string
}
