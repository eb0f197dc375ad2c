import {
  type Clock,
  errorLine,
  HermesError,
  type JsonObject,
  type Logger,
  silentLogger,
  systemClock,
} from '@hermes/contracts'
import type { Credential, CredentialOutcome, CredentialSource } from '@hermes/contracts/model'
import { type AccountChoice, type AccountSource, projectAccount } from './account.js'
import type { AuthDocument } from './auth-store.js'
import { AuthStore } from './auth-store.js'
import { afterFailure, type Failure } from './cooldown.js'
import { type BorrowedKey, CLEARED, changeEntry, findEntry, type PoolEntry, poolEntries } from './entry.js'
import { type CredentialInfo, toInfo } from './info.js'
import { Renewals } from './renewals.js'
import { choose, isCounting, type PoolStrategy } from './strategy.js'
import type { OAuthSettings, RenewTokens } from './tokens.js'

/** Which keys, kept where, and how to choose among them. */
export interface CredentialPoolOptions {
  /** `auth.json` of a home. Absolute; need not exist. */
  readonly path: string
  /** The name under `credential_pool`: a provider id, or `custom:NAME` for an endpoint of config.yaml. */
  readonly provider: string
  /** Default `fill-first`. */
  readonly strategy?: PoolStrategy
  /** Keys that live in the environment or in config.yaml, the first choice first. Default none. */
  readonly borrowed?: readonly BorrowedKey[]
  /** The server that is called: entries that belong to another one are left alone. Default: any. */
  readonly baseUrl?: string
  /** With which client logins are renewed that do not say so themselves. Default none. */
  readonly oauth?: OAuthSettings | null
  /** The way to token endpoints. Default: the guarded fetch, pinned to the origin of each. */
  readonly fetchTo?: (address: string) => typeof fetch
  /** Default: a POST to the token endpoint. */
  readonly renewTokens?: RenewTokens
  readonly clock?: Clock
  /** 0 to below 1. Default `Math.random`. */
  readonly random?: () => number
  readonly logger?: Logger
  /** Told once of each thing that is wrong with the file, in one line without secrets. Must not throw. */
  readonly onProblem?: (line: string) => void
  /** Told of each secret before it is handed out, so that it can be kept out of logs and texts. Must not throw. */
  readonly onSecret?: (secret: string) => void
}

/** The credentials of one provider, shared by all processes that use the same file. */
export interface CredentialPool extends CredentialSource {
  /** All of them in the order of their priority, without secrets. */
  entries(): Promise<readonly CredentialInfo[]>
  /**
   * Renews one login now, named by id, label or place in the list, although its token may still be good.
   * @throws HermesError `credentials.unknown`, `credentials.not_renewable` for a key or a login without a refresh token,
   * `credentials.not_renewed` with what the provider said; an `AbortError` on abort
   */
  renew(name: string, options?: { readonly signal?: AbortSignal }): Promise<CredentialInfo>
  /**
   * The same as a session may use it: while an account is chosen no other is handed out, also where that one cannot be used. `select` and
   * `usableAtMs` reject while the chosen one does not exist (`credentials.unknown`), and while it cannot be told which one is chosen
   * (`credentials.unreadable`, `credentials.damaged`).
   */
  forAccount(choice: AccountChoice): AccountSource
}

/** Opens the pool of one provider. Reads nothing yet; there is nothing to close. */
export function openCredentialPool(options: CredentialPoolOptions): CredentialPool {
  return new FilePool(options)
}

const NO_CHOICE: AccountChoice = { chosen: async () => null, folder: null }

class FilePool implements CredentialPool {
  readonly #options: CredentialPoolOptions
  readonly #store: AuthStore
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #renewals: Renewals
  /** What could not be written, for the secret it is about. */
  readonly #unwritten = new Map<string, { readonly secret: string | null; readonly fields: JsonObject }>()

  constructor(options: CredentialPoolOptions) {
    const { path, provider, clock = systemClock, logger = silentLogger, onProblem } = options
    this.#options = options
    this.#clock = clock
    this.#logger = logger
    this.#store = new AuthStore({ path, clock, logger, onProblem })
    this.#renewals = new Renewals({
      provider,
      store: this.#store,
      clock,
      logger,
      find: async (id) => (await this.#all()).find((entry) => entry.id === id) ?? null,
      change: (entry, fields) => this.#change(entry, ({ secret }) => (secret === entry.secret ? fields : null)),
      renewTokens: options.renewTokens ?? ((...args) => renewOverHttp(options, ...args)),
      oauth: options.oauth ?? null,
    })
  }

  select({ signal }: { readonly signal?: AbortSignal } = {}): Promise<Credential | null> {
    return this.#select(signal, NO_CHOICE)
  }

  async #select(signal: AbortSignal | undefined, choice: AccountChoice): Promise<Credential | null> {
    const tried = new Set<string>()
    for (;;) {
      signal?.throwIfAborted()
      const chosen = await this.#chosen(choice)
      const entry = chosen ? this.#ifUsable(chosen, tried) : await this.#choose(tried)
      if (!entry) return null
      const credential = await this.#fresh(entry, signal)
      if (credential) return this.#handOut(chosen ? { ...credential, account: chosen.id } : credential)
      tried.add(entry.id)
    }
  }

  forAccount(choice: AccountChoice): AccountSource {
    return {
      select: ({ signal } = {}) => this.#select(signal, choice),
      usableAtMs: () => this.#usableAtMs(choice),
      report: (credential, outcome) => this.report(credential, outcome),
      refresh: async (credential, options) => {
        const renewed = await this.refresh(credential, options)
        return renewed && credential.account !== undefined ? { ...renewed, account: credential.account } : renewed
      },
      alone: async () => {
        const chosen = await this.#chosen(choice)
        return chosen && toInfo(chosen)
      },
      find: async (name) => toInfo(findEntry(await this.#all(), this.#options.provider, name)),
    }
  }

  /** The entry that a session or its project uses alone; `null` where all are used. */
  async #chosen({ chosen, folder }: AccountChoice): Promise<PoolEntry | null> {
    const { provider, path } = this.#options
    const own = await chosen()
    if (own === null && folder === null) return null
    const document = await this.#store.readable()
    const project = own === null ? projectAccount(document, { provider, folder: folder!, path }) : null
    const name = own ?? project?.label
    if (name === undefined) return null
    const entries = this.#entriesOf(this.#patched(document))
    const called = entries.filter(({ label }) => label === name)
    const [entry, twin] = called.length > 0 ? called : entries.filter(({ id }) => id === name)
    if (entry && !twin) return entry
    const whose = project ? `the project ${project.folder}` : 'this session'
    const undo = project
      ? `hermes auth use ${provider} default --project ${quoted(project.folder)}`
      : '/account default'
    const there = entries.length > 0 ? ` There are: ${entries.map(({ label }) => label).join(', ')}.` : ''
    const why = twin ? 'is not the only one of that name' : 'is not there any more'
    throw new HermesError(
      `The account "${name}" of ${provider}, chosen for ${whose}, ${why}.${there} Choose anew: /account NAME, or ${undo}.`,
      { code: 'credentials.unknown' },
    )
  }

  #ifUsable(entry: PoolEntry, tried: ReadonlySet<string>): PoolEntry | null {
    return entry.state.type === 'ready' && this.#fits(entry) && !tried.has(entry.id) ? entry : null
  }

  usableAtMs(): Promise<number | null> {
    return this.#usableAtMs(NO_CHOICE)
  }

  async #usableAtMs(choice: AccountChoice): Promise<number | null> {
    const nowMs = this.#clock.now()
    const chosen = await this.#chosen(choice)
    const times = (chosen ? [chosen] : await this.#all()).flatMap((entry) => {
      if (!this.#fits(entry)) return []
      if (entry.state.type === 'cooling') return [entry.state.untilMs]
      if (entry.state.type !== 'ready') return []
      return [this.#isExpired(entry) ? Math.max(nowMs, this.#renewals.nextAtMs(entry.id)) : nowMs]
    })
    return times.length > 0 ? Math.min(...times) : null
  }

  async report(credential: Credential, outcome: CredentialOutcome): Promise<void> {
    try {
      if (outcome.type === 'accepted') await this.#accepted(credential)
      else await this.#failed(credential, outcome)
    } catch (error) {
      this.#logger.error('The outcome of a call could not be noted.', { error: errorLine(error) })
    }
  }

  async refresh(
    credential: Credential,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<Credential | null> {
    signal?.throwIfAborted()
    const renewed = await this.#renewals.renew(credential, signal)
    return renewed ? this.#handOut(renewed) : null
  }

  async entries(): Promise<readonly CredentialInfo[]> {
    return (await this.#all()).map(toInfo)
  }

  async renew(name: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<CredentialInfo> {
    const { provider } = this.#options
    const { id, label, secret, refreshToken, state } = findEntry(await this.#all(), provider, name)
    if (refreshToken === null || secret === null)
      throw new HermesError(`${label} of ${provider} has no refresh token: there is nothing to renew it with.`, {
        code: 'credentials.not_renewable',
      })
    const renewed = state.type === 'dead' ? null : await this.#renewals.renew({ id, secret }, signal)
    const after = (await this.#all()).find((entry) => entry.id === id)
    if (renewed && after) return toInfo(after)
    const why =
      after?.state.type === 'dead'
        ? `the provider ended this login (${after.state.reason}); log in again under the same label`
        : (this.#renewals.lastError(id) ?? 'another process may be at it; try again in a minute')
    throw new HermesError(`${label} of ${provider} was not renewed: ${why}.`.replace(/\.\.$/, '.'), {
      code: 'credentials.not_renewed',
      retryable: after?.state.type !== 'dead',
    })
  }

  #handOut(credential: Credential): Credential {
    this.#options.onSecret?.(credential.secret)
    return credential
  }

  async #all(): Promise<PoolEntry[]> {
    return this.#entriesOf(this.#patched(await this.#store.read()))
  }

  #entriesOf(document: AuthDocument): PoolEntry[] {
    const { provider, borrowed = [] } = this.#options
    return poolEntries(document, provider, { borrowed, nowMs: this.#clock.now() })
  }

  /** The document with what could not be written so far, unless the secret has been replaced since. */
  #patched(document: AuthDocument): AuthDocument {
    let patched = document
    for (const [id, { secret, fields }] of this.#unwritten) {
      const entry = this.#entriesOf(patched).find((other) => other.id === id && other.secret === secret)
      if (entry) patched = changeEntry(patched, { provider: this.#options.provider, entry, fields })
    }
    return patched
  }

  #fits({ baseUrl }: PoolEntry): boolean {
    const wanted = this.#options.baseUrl
    return baseUrl === null || wanted === undefined || originOf(baseUrl) === originOf(wanted)
  }

  #isExpired({ expiresAtMs }: PoolEntry): boolean {
    return expiresAtMs !== null && expiresAtMs <= this.#clock.now()
  }

  /** The next by strategy; one that counts writes its choice down, so that other processes go on from there. */
  async #choose(tried: ReadonlySet<string>): Promise<PoolEntry | null> {
    const { provider, strategy = 'fill-first', random = Math.random } = this.#options
    const pick = (entries: readonly PoolEntry[]) =>
      choose(
        entries.filter((entry) => this.#ifUsable(entry, tried) !== null),
        strategy,
        random,
      )
    if (!isCounting(strategy)) return pick(await this.#all())
    try {
      return await this.#store.update((document) => {
        const patched = this.#patched(document)
        const entries = this.#entriesOf(patched)
        const entry = pick(entries)
        if (!entry) return { document, result: null }
        const lastUsedAtMs = Math.max(this.#clock.now(), 1 + Math.max(...entries.map((other) => other.lastUsedAtMs)))
        const fields = { request_count: entry.requestCount + 1, last_used_at: lastUsedAtMs / 1_000 }
        return { document: changeEntry(patched, { provider, entry, fields }), result: entry }
      })
    } catch (error) {
      this.#logger.warn('The choice of a key could not be noted.', { error: errorLine(error) })
      return pick(await this.#all())
    }
  }

  /** The credential of an entry, renewed when it is about to expire; `null` when it has expired and cannot be renewed now. */
  async #fresh(entry: PoolEntry, signal: AbortSignal | undefined): Promise<Credential | null> {
    const { id, renewAtMs } = entry
    const credential = { id, secret: entry.secret! }
    const nowMs = this.#clock.now()
    if (renewAtMs === null || renewAtMs > nowMs) return credential
    const renewed = this.#renewals.nextAtMs(id) > nowMs ? null : await this.#renewals.renew(credential, signal)
    return renewed ?? (this.#isExpired(entry) ? null : credential)
  }

  /** A key that worked after its rest is as good as new. While it rests, an older call that worked says nothing. */
  async #accepted({ id, secret }: Credential): Promise<void> {
    const entry = (await this.#all()).find((other) => other.id === id)
    const status = entry?.stored?.['last_status']
    if (
      !entry ||
      entry.secret !== secret ||
      entry.state.type !== 'ready' ||
      status === undefined ||
      status === null ||
      status === 'ok'
    )
      return
    await this.#change(entry, () => ({ ...CLEARED, last_status_at: this.#clock.now() / 1_000 }))
  }

  async #failed({ id, secret }: Credential, failure: Failure): Promise<void> {
    await this.#change({ id }, (entry, all) => {
      // A token that has been replaced since says nothing about the one there is now.
      if (entry.secret !== secret) return null
      const isSole = all.every((other) => other.id === id || other.secret === null || other.state.type === 'dead')
      return afterFailure(entry, failure, { nowMs: this.#clock.now(), isSole })
    })
  }

  /** Changes an entry as it is now in the file. What cannot be written holds in this process. */
  async #change(
    { id }: Pick<PoolEntry, 'id'>,
    fieldsFor: (entry: PoolEntry, all: readonly PoolEntry[]) => JsonObject | null,
  ): Promise<void> {
    const { provider } = this.#options
    const plan = (all: readonly PoolEntry[]) => {
      const entry = all.find((other) => other.id === id)
      const fields = entry ? fieldsFor(entry, all) : null
      return entry && fields ? { entry, fields } : null
    }
    if (!plan(await this.#all())) return
    try {
      await this.#store.update((document) => {
        const patched = this.#patched(document)
        const planned = plan(this.#entriesOf(patched))
        return { document: planned ? changeEntry(patched, { provider, ...planned }) : document, result: null }
      })
      this.#unwritten.delete(id)
    } catch (error) {
      const planned = plan(await this.#all())
      if (planned) this.#unwritten.set(id, { secret: planned.entry.secret, fields: planned.fields })
      throw error
    }
  }
}

async function renewOverHttp(
  { fetchTo, clock = systemClock }: CredentialPoolOptions,
  ...[refreshToken, settings]: Parameters<RenewTokens>
): ReturnType<RenewTokens> {
  const { renewTokens } = await import('./oauth/index.js')
  return renewTokens(refreshToken, settings, { fetchTo, now: () => clock.now() })
}

/** A word for a shell of the person's. */
function quoted(word: string): string {
  return /^[\w./:@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url
}
