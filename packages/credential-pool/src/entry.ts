import { createHash } from 'node:crypto'
import type { JsonObject, JsonValue } from '@hermes/contracts'
import { HermesError, isJsonObject } from '@hermes/contracts'
import type { AuthDocument } from './auth-store.js'
import { toEpochMs } from './reset-time.js'

/** An entry as `auth.json` has it; fields that are not known here are kept. */
export type StoredEntry = JsonObject

/** A key that lives elsewhere, in the environment or in `config.yaml`. Of it, `auth.json` only gets a fingerprint. */
export interface BorrowedKey {
  /** `env:NAME` or `config:NAME`. */
  readonly source: string
  readonly secret: string
}

/** Whether a credential may be used. */
export type CredentialState =
  | { readonly type: 'ready' }
  /** After a refusal that passes; ends by itself at `untilMs`, in Unix milliseconds. */
  | { readonly type: 'cooling'; readonly untilMs: number; readonly reason: string }
  /** After a refusal that does not pass: until a new login, another key, or a reset. */
  | { readonly type: 'dead'; readonly reason: string }
  /** The variable or setting it comes from is not set here. */
  | { readonly type: 'absent' }

/** An entry in terms of the pool; holds secrets. */
export interface PoolEntry {
  readonly id: string
  readonly label: string
  readonly authType: 'api_key' | 'oauth'
  readonly source: string
  /** 0 comes first. */
  readonly priority: number
  /** `null` when there is none here. */
  readonly secret: string | null
  readonly refreshToken: string | null
  readonly expiresAtMs: number | null
  /** From when on a token is to be renewed: shortly before it expires. `null` when it does not expire or cannot be renewed. */
  readonly renewAtMs: number | null
  /** The only server it may go to; `null` when that of the provider is meant. */
  readonly baseUrl: string | null
  readonly state: CredentialState
  readonly requestCount: number
  readonly lastUsedAtMs: number
  readonly lastError: string | null
  /** As it is stored; `null` for a borrowed key that is not stored yet. */
  readonly stored: StoredEntry | null
}

const DEFAULT_COOLDOWN_MS = 3_600_000
const UNAUTHORIZED_COOLDOWN_MS = 300_000
const RENEWAL_LEAD_MS = 120_000

/** Sources whose secrets are never written here. */
export function isBorrowed(source: string): boolean {
  return /^(?:env|config|vault):/.test(source)
}

/** What is stored of a borrowed key: enough to see that it changed. */
function fingerprint(secret: string): string {
  return `sha256:${createHash('sha256').update(secret).digest('hex').slice(0, 16)}`
}

/** The providers that have entries. */
export function storedProviders(document: AuthDocument): string[] {
  const pool = document['credential_pool']
  return isJsonObject(pool) ? Object.keys(pool).filter((provider) => storedEntries(document, provider).length > 0) : []
}

/** The entries of a provider as they are stored. */
export function storedEntries(document: AuthDocument, provider: string): readonly StoredEntry[] {
  const pool = document['credential_pool']
  const entries = isJsonObject(pool) && Object.hasOwn(pool, provider) ? pool[provider] : []
  return Array.isArray(entries) ? entries.filter(isJsonObject) : []
}

/**
 * The document with other entries of a provider. What is in the list but no object stays at its end, and a borrowed key that another
 * program wrote out becomes a fingerprint.
 */
export function withEntries(document: AuthDocument, provider: string, entries: readonly StoredEntry[]): AuthDocument {
  const pool = isJsonObject(document['credential_pool']) ? document['credential_pool'] : {}
  const before = Object.hasOwn(pool, provider) ? pool[provider] : []
  const strange = Array.isArray(before) ? before.filter((entry) => !isJsonObject(entry)) : []
  return { ...document, credential_pool: { ...pool, [provider]: [...entries.map(withoutBorrowedSecret), ...strange] } }
}

/** All credentials of a provider, those of `auth.json` and borrowed ones, in the order of their priority. */
export function poolEntries(
  document: AuthDocument,
  provider: string,
  { borrowed, nowMs }: { readonly borrowed: readonly BorrowedKey[]; readonly nowMs: number },
): PoolEntry[] {
  const stored = storedEntries(document, provider)
  const known = stored.map((entry, index) => toPoolEntry(entry, { index, borrowed, nowMs }))
  // One key counts once, however many variables hold it: it would only be refused twice.
  const isFirst = (key: BorrowedKey, index: number) =>
    borrowed.findIndex(({ secret }) => secret === key.secret) === index
  const fresh = borrowed
    .filter(
      (key, index) =>
        isFirst(key, index) && !known.some(({ source, secret }) => source === key.source || secret === key.secret),
    )
    .map(fromBorrowed)
  return [...fresh, ...known].toSorted((left, right) => left.priority - right.priority)
}

function fromBorrowed({ source, secret }: BorrowedKey, index: number): PoolEntry {
  return {
    id: idFor(source),
    label: source.replace(/^\w+:/, ''),
    authType: 'api_key',
    source,
    priority: index,
    secret,
    refreshToken: null,
    expiresAtMs: null,
    renewAtMs: null,
    baseUrl: null,
    state: { type: 'ready' },
    requestCount: 0,
    lastUsedAtMs: 0,
    lastError: null,
    stored: null,
  }
}

function toPoolEntry(
  stored: StoredEntry,
  { index, borrowed, nowMs }: { index: number; borrowed: readonly BorrowedKey[]; nowMs: number },
): PoolEntry {
  const source = textOf(stored['source']) ?? 'manual'
  const secret = isBorrowed(source)
    ? (borrowed.find((key) => key.source === source)?.secret ?? null)
    : textOf(stored['access_token'])
  const known = textOf(stored['secret_fingerprint'])
  const isOther = isBorrowed(source) && secret !== null && known !== null && known !== fingerprint(secret)
  const refreshToken = textOf(stored['refresh_token'])
  const expiresAtMs = toEpochMs(stored['expires_at_ms']) ?? toEpochMs(stored['expires_at'])
  const isExpired = refreshToken === null && expiresAtMs !== null && expiresAtMs <= nowMs
  const state = isOther ? ({ type: 'ready' } as const) : stateOf(stored, nowMs)
  return {
    id: textOf(stored['id']) ?? idFor(`${source} ${index}`),
    label: textOf(stored['label']) ?? source,
    authType: stored['auth_type'] === 'oauth' ? 'oauth' : 'api_key',
    source,
    priority: numberOf(stored['priority']) ?? index,
    secret,
    refreshToken,
    expiresAtMs,
    renewAtMs: refreshToken === null || expiresAtMs === null ? null : expiresAtMs - renewalLeadMs(stored, expiresAtMs),
    baseUrl: textOf(stored['base_url']),
    state: secret === null ? { type: 'absent' } : isExpired ? { type: 'dead', reason: 'expired' } : state,
    requestCount: numberOf(stored['request_count']) ?? 0,
    lastUsedAtMs: toEpochMs(stored['last_used_at']) ?? 0,
    lastError: textOf(stored['last_error_message']),
    stored,
  }
}

/** Two minutes, or a quarter of its life for a token that lives shortly. */
function renewalLeadMs(stored: StoredEntry, expiresAtMs: number): number {
  const sinceMs = toEpochMs(stored['last_refresh'])
  return sinceMs === null ? RENEWAL_LEAD_MS : Math.min(RENEWAL_LEAD_MS, Math.max(0, expiresAtMs - sinceMs) / 4)
}

function stateOf(stored: StoredEntry, nowMs: number): CredentialState {
  const reason = textOf(stored['last_error_reason']) ?? String(stored['last_error_code'] ?? 'unknown')
  if (stored['last_status'] === 'dead') return { type: 'dead', reason }
  if (stored['last_status'] !== 'exhausted') return { type: 'ready' }
  const sinceMs = toEpochMs(stored['last_status_at']) ?? nowMs
  const defaultMs = stored['last_error_code'] === 401 ? UNAUTHORIZED_COOLDOWN_MS : DEFAULT_COOLDOWN_MS
  const untilMs = toEpochMs(stored['last_error_reset_at']) ?? sinceMs + defaultMs
  return untilMs > nowMs ? { type: 'cooling', untilMs, reason } : { type: 'ready' }
}

/** The fields to store for an entry; borrowed secrets become fingerprints. */
function storedForm(entry: PoolEntry): StoredEntry {
  const base: StoredEntry = entry.stored ?? {
    id: entry.id,
    label: entry.label,
    auth_type: entry.authType,
    priority: entry.priority,
    source: entry.source,
  }
  if (!isBorrowed(entry.source)) return base
  return {
    ...base,
    secret_source: entry.source.replace(/:.*/s, ''),
    ...(entry.secret === null ? {} : { secret_fingerprint: fingerprint(entry.secret) }),
  }
}

function withoutBorrowedSecret(entry: StoredEntry): StoredEntry {
  const { access_token: secret, ...rest } = entry
  if (!isBorrowed(String(entry['source'])) || typeof secret !== 'string') return entry
  return { secret_fingerprint: fingerprint(secret), ...rest }
}

/** The entry changed by `fields` within a document; `null` in `fields` is stored as such. An entry that has gone stays away. */
export function changeEntry(
  document: AuthDocument,
  { provider, entry, fields }: { readonly provider: string; readonly entry: PoolEntry; readonly fields: JsonObject },
): AuthDocument {
  const stored = storedEntries(document, provider)
  const changed = { ...storedForm(entry), ...fields }
  if (entry.stored === null) return withEntries(document, provider, [...stored, changed])
  return withEntries(
    document,
    provider,
    stored.map((other) => (other === entry.stored ? changed : other)),
  )
}

/** Fields that make an entry usable again. */
export const CLEARED: JsonObject = Object.freeze({
  last_status: 'ok',
  last_error_code: null,
  last_error_reason: null,
  last_error_message: null,
  last_error_reset_at: null,
})

function idFor(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 6)
}

function textOf(value: JsonValue | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

function numberOf(value: JsonValue | undefined): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/** The entry a person names by id, label or place in the list, counted from 1. @throws HermesError `credentials.unknown` */
export function findEntry(entries: readonly PoolEntry[], provider: string, name: string): PoolEntry {
  const found =
    entries.find(({ id, label }) => id === name || label === name) ??
    (/^[1-9]\d*$/.test(name) ? entries[Number(name) - 1] : undefined)
  if (found) return found
  const there = entries.length > 0 ? `There are: ${entries.map(({ label }) => label).join(', ')}.` : 'It has none.'
  throw new HermesError(`${provider} has no credential "${name}". ${there}`, { code: 'credentials.unknown' })
}
