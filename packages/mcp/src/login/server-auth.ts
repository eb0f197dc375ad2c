import { type Clock, errorLine, type Logger } from '@hermes/contracts'
import type { ConnectionAuth } from '../connection/open-connection.js'
import type { ServerSettings } from '../settings/server-settings.js'
import type { Login, LoginFiles } from './login-files.js'

/** A token is renewed so long before its end. */
const EARLY_MS = 60_000
/** After a renewal that failed in passing, until the next one. */
const AGAIN_AFTER_MS = 30_000
/** How long who ends waits for a renewal: the token before it counts no more, so what comes of it must be kept. */
const SETTLES_WITHIN_MS = 5_000

interface ServerAuthOptions {
  readonly logins: LoginFiles
  readonly fetch: typeof fetch
  /** Told of each token before it is used. */
  readonly conceal: (secret: string) => void
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * The login of a server for its requests. A token that ends or is refused is renewed once, whichever sessions and processes ask. Without a
 * login a refusal is one for good: somebody has to log in.
 */
export class ServerAuth implements ConnectionAuth {
  readonly #settings: ServerSettings
  readonly #options: ServerAuthOptions
  #sent: string | undefined
  #renewing: Promise<Login | null> | null = null
  #asking: Promise<Login> | null = null
  #againAtMs = 0

  constructor(settings: ServerSettings, options: ServerAuthOptions) {
    this.#settings = settings
    this.#options = options
  }

  async token(): Promise<string | undefined> {
    const { clock, conceal } = this.#options
    let login = await this.#login()
    if (login?.expiresAtMs && login.expiresAtMs - clock.now() < EARLY_MS) login = (await this.#renew(login)) ?? login
    this.#sent = login?.tokens.access_token
    if (this.#sent !== undefined) conceal(this.#sent)
    return this.#sent
  }

  /** @throws UnauthorizedError when there is nothing to renew */
  async onUnauthorized(): Promise<void> {
    const login = await this.#login()
    const isOther = login !== null && login.tokens.access_token !== this.#sent
    if (isOther || (login && (await this.#renew(login)))) return
    const { UnauthorizedError } = await import('@modelcontextprotocol/client')
    throw new UnauthorizedError('Nobody is logged in.')
  }

  /** Keeps what rights were missing: the next login is for them too. */
  async wants(scope: string): Promise<void> {
    const { logins } = this.#options
    const { computeScopeUnion } = await import('@modelcontextprotocol/client')
    await logins.alone(this.#settings, async () => {
      const login = await logins.read(this.#settings)
      if (!login) return
      const wanted = computeScopeUnion(login.wanted, login.tokens.scope, scope)
      if (wanted !== undefined && wanted !== login.wanted) await logins.write(this.#settings, { ...login, wanted })
    })
  }

  async settle(): Promise<void> {
    const kept = new AbortController()
    const asking = Promise.resolve(this.#asking).finally(() => kept.abort())
    await Promise.race([asking, this.#options.clock.sleep(SETTLES_WITHIN_MS, kept.signal)]).catch(() => undefined)
  }

  /** What was had from another authorization server than the configured one is none. */
  async #login(): Promise<Login | null> {
    const login = await this.#options.logins.read(this.#settings)
    const { issuer } = this.#settings.oauth
    return login && (issuer === undefined || isSameIssuer(issuer, login.authorizationServer)) ? login : null
  }

  #renew(login: Login): Promise<Login | null> {
    if (login.tokens.refresh_token === undefined || this.#options.clock.now() < this.#againAtMs)
      return Promise.resolve(null)
    this.#renewing ??= this.#takeTurn(login).finally(() => {
      this.#renewing = null
    })
    return this.#renewing
  }

  /** `null` when it cannot be renewed, now or for good. */
  async #takeTurn(stale: Login): Promise<Login | null> {
    const { logins, clock, logger } = this.#options
    const { name } = this.#settings
    try {
      return await logins.alone(this.#settings, async () => {
        const now = await logins.read(this.#settings)
        if (now === null || now.tokens.access_token !== stale.tokens.access_token) return now
        this.#asking = this.#ask(now)
        return await this.#asking
      })
    } catch (error) {
      this.#againAtMs = clock.now() + AGAIN_AFTER_MS
      logger.warn(`The login of the MCP server ${name} was not renewed.`, { error: errorLine(error) })
      return null
    }
  }

  async #ask(login: Login): Promise<Login> {
    const { logins, clock, conceal } = this.#options
    const { discoverAuthorizationServerMetadata, refreshAuthorization } = await import('@modelcontextprotocol/client')
    const { tokens, client, resource, authorizationServer } = login
    const fetchFn = this.#options.fetch as never
    conceal(tokens.refresh_token!)
    // Where its tokens go says the authorization server itself, each time.
    const metadata = await discoverAuthorizationServerMetadata(authorizationServer, { fetchFn })
    const renewed = await refreshAuthorization(authorizationServer, {
      ...(metadata ? { metadata } : {}),
      ...(resource === null ? {} : { resource }),
      clientInformation: client,
      refreshToken: tokens.refresh_token!,
      fetchFn,
    })
    const next: Login = { ...login, tokens: { ...tokens, ...renewed }, expiresAtMs: endOf(renewed, clock.now()) }
    await logins.write(this.#settings, next)
    return next
  }
}

/** When tokens end, in Unix milliseconds; `null` where they do not say. */
export function endOf({ expires_in: seconds }: Login['tokens'], nowMs: number): number | null {
  return seconds === undefined ? null : Math.round(nowMs + seconds * 1_000)
}

/** The same authorization server, with a last slash or without. */
export function isSameIssuer(left: string, right: string): boolean {
  return left.replace(/\/$/, '') === right.replace(/\/$/, '')
}
