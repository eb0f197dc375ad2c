import { setTimeout as delay } from 'node:timers/promises'
import { type Clock, errorLine, type JsonObject, type Logger } from '@hermes/contracts'
import type { Credential } from '@hermes/contracts/model'
import type { AuthStore } from './auth-store.js'
import { afterTerminalRefusal } from './cooldown.js'
import type { PoolEntry } from './entry.js'
import { type OAuthSettings, type RenewTokens, settingsOf, terminalRefusal, tokenFields } from './tokens.js'

/** Longer than a renewal may take; whoever waited in vain goes on without, and nothing is held against the login. */
const LOCK_TIMEOUT_MS = 60_000
/** After a renewal that failed in passing, until the next attempt. */
const AGAIN_AFTER_MS = 30_000

/** What renewals need of their pool. */
interface RenewalsOptions {
  readonly provider: string
  readonly store: AuthStore
  readonly clock: Clock
  readonly logger: Logger
  /** The entry as it is now. */
  readonly find: (id: string) => Promise<PoolEntry | null>
  readonly change: (entry: PoolEntry, fields: JsonObject) => Promise<void>
  readonly renewTokens: RenewTokens
  readonly oauth: OAuthSettings | null
}

/**
 * Renews logins, each refresh token spent once: many providers take a second use for theft and end the whole login. Callers in one
 * process share a renewal; processes take turns by a lock that spans reading, asking and writing, and adopt what the first one got.
 */
export class Renewals {
  readonly #options: RenewalsOptions
  readonly #running = new Map<string, Promise<Credential | null>>()
  /** Renewals that failed in passing: when the next may be tried, and what went wrong. */
  readonly #setbacks = new Map<string, { readonly againAtMs: number; readonly error: string }>()

  constructor(options: RenewalsOptions) {
    this.#options = options
  }

  /** Before this time an entry is not tried again; 0 when it may be. */
  nextAtMs(id: string): number {
    return this.#setbacks.get(id)?.againAtMs ?? 0
  }

  /** Why the last renewal of an entry failed in passing; `null` when it did not. */
  lastError(id: string): string | null {
    return this.#setbacks.get(id)?.error ?? null
  }

  /** A newer secret than that of `stale`; `null` when there is none to be had. Rejects only with an abort, which ends the waiting. */
  async renew(stale: Credential, signal: AbortSignal | undefined): Promise<Credential | null> {
    const known = newer(await this.#options.find(stale.id), stale)
    if (known !== undefined) return known
    const running = this.#running.get(stale.id) ?? this.#start(stale)
    return abortable(running, signal)
  }

  /** Goes on to its end although every caller may leave: a token that was fetched must be kept. */
  #start(stale: Credential): Promise<Credential | null> {
    const running = this.#takeTurn(stale)
      .catch((error: unknown) => {
        this.#options.logger.error('A login could not be renewed.', { error: errorLine(error) })
        return null
      })
      .finally(() => this.#running.delete(stale.id))
    this.#running.set(stale.id, running)
    return running
  }

  async #takeTurn(stale: Credential): Promise<Credential | null> {
    const { provider, store, find, logger } = this.#options
    const seeker = await store.seekLock(`refresh ${provider} ${stale.id}`)
    const giveUpAt = performance.now() + LOCK_TIMEOUT_MS
    for (;;) {
      const lock = seeker.tryLock()
      if (lock) {
        try {
          const entry = await find(stale.id)
          const known = newer(entry, stale)
          return known === undefined ? await this.#ask(entry!) : known
        } finally {
          lock.release()
        }
      }
      const known = newer(await find(stale.id), stale)
      if (known !== undefined || performance.now() > giveUpAt) {
        if (known === undefined) logger.warn('Another process has been renewing a login for too long.', { provider })
        seeker.close()
        return known ?? null
      }
      await delay(20 + Math.random() * 60)
    }
  }

  /** Spends the refresh token. Nobody else does so now. */
  async #ask(entry: PoolEntry): Promise<Credential | null> {
    const { clock, logger, renewTokens, oauth, change, find, provider } = this.#options
    const settings = settingsOf(entry, oauth)
    if (!settings) {
      const error = 'no client id is configured for it'
      logger.warn('A login cannot be renewed.', { provider, error })
      this.#setbacks.set(entry.id, { againAtMs: clock.now() + AGAIN_AFTER_MS, error })
      return null
    }
    try {
      const tokens = await renewTokens(entry.refreshToken!, settings)
      this.#setbacks.delete(entry.id)
      const credential = { id: entry.id, secret: tokens.accessToken }
      await change(entry, tokenFields(tokens, clock.now(), entry.stored ?? {})).catch((error: unknown) =>
        logger.error('A renewed login could not be written; it holds in this process.', { error: errorLine(error) }),
      )
      return credential
    } catch (error) {
      const reason = terminalRefusal(error)
      logger.warn('A login was not renewed.', { provider, error: errorLine(error), final: reason !== null })
      if (reason === null) {
        this.#setbacks.set(entry.id, { againAtMs: clock.now() + AGAIN_AFTER_MS, error: errorLine(error) })
        return null
      }
      // A program that knows nothing of the lock may have been first.
      const current = await find(entry.id)
      if (current?.secret && current.refreshToken !== entry.refreshToken)
        return { id: entry.id, secret: current.secret }
      await change(entry, afterTerminalRefusal(reason, clock.now()))
      return null
    }
  }
}

/** What is to be had without asking anybody: a newer secret, `null` for nothing ever, `undefined` when it takes a renewal. */
function newer(entry: PoolEntry | null, stale: Credential): Credential | null | undefined {
  if (entry === null || entry.secret === null || entry.state.type === 'dead') return null
  if (entry.secret !== stale.secret) return { id: entry.id, secret: entry.secret }
  return entry.refreshToken === null ? null : undefined
}

function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
