import { randomBytes } from 'node:crypto'
import { type Clock, HermesError, type JsonObject, type Logger, silentLogger, systemClock } from '@hermes/contracts'
import { projectAccount, projectAccounts, retiredLabels, withProjectAccount, withRetired } from './account.js'
import type { AuthDocument } from './auth-store.js'
import { AuthStore } from './auth-store.js'
import {
  type BorrowedKey,
  CLEARED,
  changeEntry,
  findEntry,
  isBorrowed,
  type PoolEntry,
  poolEntries,
  type StoredEntry,
  storedEntries,
  storedProviders,
  withEntries,
} from './entry.js'
import { type CredentialInfo, toInfo } from './info.js'
import { type OAuthSettings, type TokenSet, tokenFields } from './tokens.js'

/** Which file. */
interface CredentialStoreOptions {
  /** `auth.json` of a home. Absolute; made by the first write. */
  readonly path: string
  /** Keys that live elsewhere, by provider, so that lists have them too. Default none. */
  readonly borrowed?: Readonly<Record<string, readonly BorrowedKey[]>>
  readonly clock?: Clock
  readonly logger?: Logger
  /** Told once of each thing that is wrong with the file, in one line without secrets. Must not throw. */
  readonly onProblem?: (line: string) => void
}

/** A credential to keep. */
export type NewCredential = {
  /** A provider id, or `custom:NAME` for an endpoint of config.yaml. */
  readonly provider: string
  /** Unique within the provider. Default: `key-1`, `key-2` … or `login-1` …, never one that was removed. */
  readonly label?: string | undefined
  /** 0 comes first. Default: after all others. */
  readonly priority?: number | undefined
  /** The only server it may go to. Default: that of the provider. */
  readonly baseUrl?: string | undefined
} & (
  | { readonly type: 'api-key'; readonly secret: string }
  | {
      readonly type: 'oauth'
      readonly tokens: TokenSet
      readonly settings: OAuthSettings
      readonly tokenEndpoint: string
      readonly flow: 'device_code' | 'pkce'
    }
)

/** All credentials of a home, to look at and to change. */
export interface CredentialStore {
  /** The providers that have credentials here, sorted. */
  providers(): Promise<readonly string[]>
  /** Those of one provider in the order of their priority. */
  list(provider: string): Promise<readonly CredentialInfo[]>
  /**
   * Keeps a key or a login. A login under the label of another one takes its place, dead or not.
   * @throws HermesError `credentials.duplicate` for a key that is there already or a label that is taken; `credentials.bad_key`
   */
  add(credential: NewCredential): Promise<CredentialInfo>
  /**
   * Forgets one, named by id, label or place in the list, counted from 1.
   * @throws HermesError `credentials.unknown`, `credentials.borrowed` for a key that lives elsewhere
   */
  remove(provider: string, name: string): Promise<CredentialInfo>
  /**
   * Ends rests and deaths, of one credential or of all. Resolves with those that were not usable before.
   * @throws HermesError `credentials.unknown`
   */
  reset(provider: string, name?: string): Promise<readonly CredentialInfo[]>
  /**
   * Moves one to a place in the order, 0 first, beyond the end last; the others keep their order around it. Resolves with all of them
   * in the new order.
   * @throws HermesError `credentials.unknown`
   */
  prioritize(provider: string, name: string, priority: number): Promise<readonly CredentialInfo[]>
  /**
   * Has one used alone by what works in a folder or below it, from the next request on; `null` takes that back. `folder`: absolute, symbolic
   * links resolved. Resolves with the one that is used then; `null` for none.
   * @throws HermesError `credentials.unknown`; `credentials.damaged` where the choices of projects cannot be read
   */
  useInProject(provider: string, name: string | null, folder: string): Promise<CredentialInfo | null>
  /** The label of the one that the nearest project around a folder uses, and that project; `null` for none. Rejects where that cannot be told. */
  usedInProject(provider: string, folder: string): Promise<{ readonly label: string; readonly folder: string } | null>
  /** Every project that chose one of a provider, whether its folder is there or not. Rejects where that cannot be told. */
  projects(provider: string): Promise<readonly { readonly label: string; readonly folder: string }[]>
}

/** Opens the credentials of a home. Reads nothing yet; there is nothing to close. Every method may reject with `credentials.*`. */
export function openCredentialStore(options: CredentialStoreOptions): CredentialStore {
  return new FileStore(options)
}

class FileStore implements CredentialStore {
  readonly #options: CredentialStoreOptions
  readonly #store: AuthStore
  readonly #clock: Clock

  constructor(options: CredentialStoreOptions) {
    const { path, clock = systemClock, logger = silentLogger, onProblem } = options
    this.#options = options
    this.#clock = clock
    this.#store = new AuthStore({ path, clock, logger, onProblem })
  }

  async providers(): Promise<readonly string[]> {
    const { borrowed = {} } = this.#options
    const elsewhere = Object.keys(borrowed).filter((provider) => borrowed[provider]!.length > 0)
    return [...new Set([...storedProviders(await this.#store.read()), ...elsewhere])].toSorted()
  }

  async list(provider: string): Promise<readonly CredentialInfo[]> {
    return this.#entries(await this.#store.read(), provider).map(toInfo)
  }

  async add(credential: NewCredential): Promise<CredentialInfo> {
    if (credential.type === 'api-key') checkKey(credential.secret)
    const { provider } = credential
    return this.#store.update((document) => {
      const entries = this.#entries(document, provider)
      const same = entries.find((entry) => entry.label === credential.label)
      if (same && !(credential.type === 'oauth' && same.authType === 'oauth'))
        throw failure('duplicate', `${provider} has a credential "${same.label}" already; choose another --label.`)
      const next = same
        ? changeEntry(document, { provider, entry: same, fields: this.#loginFields(credential, same.stored ?? {}) })
        : withEntries(document, provider, [
            ...storedEntries(document, provider),
            this.#newEntry(credential, entries, document),
          ])
      const added = this.#entries(next, provider).find((entry) =>
        same ? entry.id === same.id : !entries.some(({ id }) => id === entry.id),
      )!
      return { document: next, result: toInfo(added) }
    })
  }

  remove(provider: string, name: string): Promise<CredentialInfo> {
    return this.#store.update((document) => {
      const entry = findEntry(this.#entries(document, provider), provider, name)
      if (isBorrowed(entry.source) && entry.secret !== null)
        throw failure('borrowed', `${entry.label} comes from ${placeOf(entry.source)}; take it out there.`)
      const left = storedEntries(document, provider).filter((stored) => stored !== entry.stored)
      return {
        document: withRetired(withEntries(document, provider, left), provider, entry.label),
        result: toInfo(entry),
      }
    })
  }

  reset(provider: string, name?: string): Promise<readonly CredentialInfo[]> {
    return this.#store.update((document) => {
      const entries = this.#entries(document, provider)
      const chosen = name === undefined ? entries : [findEntry(entries, provider, name)]
      const stopped = chosen.filter(({ state }) => state.type === 'cooling' || state.type === 'dead')
      const fields = { ...CLEARED, last_status_at: null }
      const next = stopped.reduce((before, { id }) => {
        const entry = this.#entries(before, provider).find((other) => other.id === id)!
        return changeEntry(before, { provider, entry, fields })
      }, document)
      return { document: next, result: stopped.map(toInfo) }
    })
  }

  prioritize(provider: string, name: string, priority: number): Promise<readonly CredentialInfo[]> {
    return this.#store.update((document) => {
      const entries = this.#entries(document, provider)
      const moved = findEntry(entries, provider, name)
      const order = entries.filter((entry) => entry !== moved).map(({ id }) => id)
      order.splice(priority, 0, moved.id)
      const next = order.reduce((before, id, place) => {
        const entry = this.#entries(before, provider).find((other) => other.id === id)!
        return entry.priority === place ? before : changeEntry(before, { provider, entry, fields: { priority: place } })
      }, document)
      return { document: next, result: this.#entries(next, provider).map(toInfo) }
    })
  }

  useInProject(provider: string, name: string | null, folder: string): Promise<CredentialInfo | null> {
    return this.#store.update((document) => {
      const { path } = this.#options
      const entries = this.#entries(document, provider)
      const label = name === null ? null : findEntry(entries, provider, name).label
      const next = withProjectAccount(document, { provider, folder, label, path })
      // Where it has no choice of its own any more, that of a project around it counts.
      const used = projectAccount(next, { provider, folder, path })
      const entry = entries.find((one) => one.label === used?.label)
      return { document: next, result: entry ? toInfo(entry) : null }
    })
  }

  async usedInProject(provider: string, folder: string) {
    const { path } = this.#options
    return projectAccount(await this.#store.readable(), { provider, folder, path })
  }

  async projects(provider: string) {
    const { path } = this.#options
    return projectAccounts(await this.#store.readable(), { provider, path })
  }

  #entries(document: AuthDocument, provider: string): PoolEntry[] {
    const borrowed = this.#options.borrowed?.[provider] ?? []
    return poolEntries(document, provider, { borrowed, nowMs: this.#clock.now() })
  }

  #newEntry(credential: NewCredential, entries: readonly PoolEntry[], document: AuthDocument): StoredEntry {
    const isKey = credential.type === 'api-key'
    const twin = isKey ? entries.find(({ secret }) => secret === credential.secret) : undefined
    if (twin) throw failure('duplicate', `This key is there already, as "${twin.label}".`)
    const {
      provider,
      label = freeLabel(isKey ? 'key' : 'login', [
        ...entries.map((entry) => entry.label),
        ...retiredLabels(document, provider),
      ]),
      priority = 1 + Math.max(-1, ...entries.map((entry) => entry.priority)),
      baseUrl,
    } = credential
    return {
      id: freeId(entries),
      label,
      auth_type: isKey ? 'api_key' : 'oauth',
      priority,
      source: isKey ? 'manual' : `manual:${credential.flow}`,
      ...(isKey ? { access_token: credential.secret } : this.#loginFields(credential, {})),
      ...(baseUrl === undefined ? {} : { base_url: baseUrl }),
      last_status: 'ok',
      request_count: 0,
    }
  }

  #loginFields(credential: NewCredential, before: JsonObject): JsonObject {
    if (credential.type !== 'oauth') return {}
    const { tokens, settings, tokenEndpoint, flow } = credential
    return {
      ...tokenFields(tokens, this.#clock.now(), before),
      source: `manual:${flow}`,
      client_id: settings.clientId,
      token_endpoint: tokenEndpoint,
      ...(settings.issuer === undefined ? {} : { issuer: settings.issuer }),
    }
  }
}

function checkKey(secret: string): void {
  if (/^[\x21-\x7e]+$/.test(secret)) return
  throw failure(
    'bad_key',
    secret === ''
      ? 'The key is empty.'
      : 'A key has no spaces, line breaks or special letters in it. Nothing was kept.',
  )
}

function placeOf(source: string): string {
  const [kind, name] = [source.replace(/:.*/s, ''), source.replace(/^\w+:/, '')]
  return kind === 'env'
    ? `the variable ${name} (environment or .env)`
    : kind === 'config'
      ? `${name} in config.yaml`
      : source
}

function freeLabel(word: string, taken: readonly string[]): string {
  let number = 1
  while (taken.includes(`${word}-${number}`)) number++
  return `${word}-${number}`
}

function freeId(entries: readonly PoolEntry[]): string {
  const id = randomBytes(3).toString('hex')
  return entries.some((entry) => entry.id === id) ? freeId(entries) : id
}

function failure(kind: string, message: string): HermesError {
  return new HermesError(message, { code: `credentials.${kind}` })
}
