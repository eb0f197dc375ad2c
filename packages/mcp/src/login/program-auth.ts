import { type Clock, HermesError } from '@hermes/contracts'
import type { OAuthTokens } from '@modelcontextprotocol/client'
import type { ConnectionAuth } from '../connection/open-connection.js'
import type { ServerSettings } from '../settings/server-settings.js'
import { endOf } from './server-auth.js'

interface ProgramAuthOptions {
  readonly fetch: typeof fetch
  /** Told of each token before it is used. */
  readonly conceal: (secret: string) => void
  readonly clock: Clock
}

/** A token is had anew so long before its end. */
const EARLY_MS = 30_000

/**
 * The login of a program (`oauth.grant: client_credentials`): no person is needed. A token lives in memory; one that ends or is refused is had anew.
 * @see RFC 6749 section 4.4, RFC 7523 section 2.2
 */
export class ProgramAuth implements ConnectionAuth {
  readonly #settings: ServerSettings
  readonly #options: ProgramAuthOptions
  #token: { readonly value: string; readonly endsAtMs: number | null } | null = null
  #renewing: Promise<void> | null = null
  #lacked: string | undefined

  constructor(settings: ServerSettings, options: ProgramAuthOptions) {
    this.#settings = settings
    this.#options = options
  }

  async token(): Promise<string | undefined> {
    const { endsAtMs = null } = this.#token ?? {}
    if (endsAtMs !== null && endsAtMs - this.#options.clock.now() < EARLY_MS) this.#token = null
    return this.#token?.value
  }

  /** @throws HermesError `mcp.login_failed` in one line; sessions that ask at once share one request. */
  async onUnauthorized({ response }: { readonly response: Response }): Promise<void> {
    this.#renewing ??= this.#renew(response).finally(() => {
      this.#renewing = null
    })
    await this.#renewing
  }

  /** What was asked for with too few rights works with the next call. */
  async wants(scope: string): Promise<void> {
    const { computeScopeUnion } = await import('@modelcontextprotocol/client')
    this.#lacked = computeScopeUnion(this.#lacked, scope)
    this.#token = null
  }

  async #renew(response: Response): Promise<void> {
    const { address, name } = this.#settings
    if (address.type !== 'http') throw new TypeError('Not an address of the network.')
    const { auth, computeScopeUnion, extractWWWAuthenticateParams } = await import('@modelcontextprotocol/client')
    const { resourceMetadataUrl, scope: named } = extractWWWAuthenticateParams(response)
    // What the person wrote is the most that is asked for; what a request lacked is asked for besides what the server names.
    const scope = this.#settings.oauth.scope ?? computeScopeUnion(named, this.#lacked)
    const provider = await this.#provider(scope)
    try {
      await auth(provider, {
        serverUrl: address.url,
        fetchFn: this.#options.fetch as never,
        ...(resourceMetadataUrl ? { resourceMetadataUrl } : {}),
        ...(scope === undefined ? {} : { scope }),
      })
    } catch (error) {
      const why = HermesError.isInstance(error)
        ? error.message
        : `its authorization server refuses the client: ${line(error)}`
      throw new HermesError(`Cannot log in at the MCP server ${name}: ${why}`, {
        code: 'mcp.login_failed',
        details: { server: name },
        cause: error,
      })
    }
    this.#keep(provider.tokens())
  }

  #keep(tokens: OAuthTokens | undefined): void {
    if (!tokens) return
    this.#options.conceal(tokens.access_token)
    this.#token = { value: tokens.access_token, endsAtMs: endOf(tokens, this.#options.clock.now()) }
  }

  async #provider(scope: string | undefined) {
    const { ClientCredentialsProvider, PrivateKeyJwtProvider } = await import('@modelcontextprotocol/client')
    const {
      clientId = '',
      clientSecret = '',
      privateKey,
      signingAlgorithm = 'ES256',
      issuer = '',
    } = this.#settings.oauth
    const common = {
      clientId,
      clientName: 'Hermes',
      ...(scope === undefined ? {} : { scope }),
      expectedIssuer: issuer,
    }
    if (privateKey === undefined) return new ClientCredentialsProvider({ ...common, clientSecret })
    return new PrivateKeyJwtProvider({ ...common, privateKey, algorithm: signingAlgorithm })
  }
}

const line = (error: unknown) =>
  (error instanceof Error ? error.message : String(error)).replace(/\s+/g, ' ').slice(0, 300)
