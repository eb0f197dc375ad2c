// Keys of clients, each with what it may do and how much of it. config.yaml has their hashes alone.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { ApiServerSettings } from '@hermes/config'
import { type Clock, HermesError } from '@hermes/contracts'
import { ApiError } from './api-error.js'

/** What a key may be good for. */
const SCOPES = ['chat', 'runs', 'sessions', 'approvals', 'metrics', 'owner'] as const
export type Scope = (typeof SCOPES)[number]

const HASH = /^sha256:([0-9a-f]{64})$/
const MINUTE_MS = 60_000

/** One key. */
export interface ApiKey {
  readonly name: string
  /** `null` is the owner. */
  readonly person: string | null
  readonly digest: Buffer
  readonly scopes: ReadonlySet<Scope>
  readonly perMinute: number
  readonly maxConcurrent: number
}

/**
 * The keys of config.yaml.
 * @throws HermesError `gateway.bad_key` for one that is not whole: it must neither open more than was meant nor nothing at all
 */
export function readApiKeys(settings: ApiServerSettings['keys']): readonly ApiKey[] {
  return Object.entries(settings).map(([name, key = {}]) => {
    const bad = (what: string) =>
      new HermesError(`gateway.api_server.keys.${name}${what}`, { code: 'gateway.bad_key', details: { name } })
    const [, hex] = HASH.exec(key.hash ?? '') ?? []
    if (hex === undefined)
      throw bad('.hash: it has to be "sha256:" with 64 hex digits. See docs/people.md for how to make one.')
    const unknown = key.scopes?.find((scope) => !SCOPES.includes(scope as Scope))
    if (unknown !== undefined) throw bad(`.scopes: there is no ${JSON.stringify(unknown)}; take ${SCOPES.join(', ')}.`)
    return {
      name,
      person: key.user === undefined || key.user === 'owner' ? null : key.user,
      digest: Buffer.from(hex, 'hex'),
      scopes: new Set((key.scopes ?? SCOPES) as readonly Scope[]),
      perMinute: key.requests_per_minute ?? Number.POSITIVE_INFINITY,
      maxConcurrent: key.max_concurrent ?? Number.POSITIVE_INFINITY,
    }
  })
}

/** The key of that text; `undefined` for none. All are looked at, so that the time tells nothing. */
export function findApiKey(keys: readonly ApiKey[], input: string): ApiKey | undefined {
  const digest = createHash('sha256').update(input).digest()
  let found: ApiKey | undefined
  for (const key of keys) if (timingSafeEqual(key.digest, digest)) found = key
  return found
}

/** @throws ApiError 403 where the key is not good for it */
export function requireScope({ name, scopes }: ApiKey, scope: Scope): void {
  if (scopes.has(scope)) return
  const message = `The key ${name} is not good for this: it lacks the scope ${scope}.`
  throw new ApiError(message, { status: 403, code: 'insufficient_scope' })
}

/** Counts what keys do. */
export class KeyLimits {
  readonly #clock: Pick<Clock, 'now'>
  readonly #used = new Map<string, { atMs: number[]; underWay: number }>()

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** Gives how to end the request. @throws ApiError 429 with when to come back */
  enter({ name, perMinute, maxConcurrent }: ApiKey): () => void {
    if (perMinute === Number.POSITIVE_INFINITY && maxConcurrent === Number.POSITIVE_INFINITY) return () => undefined
    const now = this.#clock.now()
    const used = this.#used.get(name) ?? { atMs: [], underWay: 0 }
    this.#used.set(name, used)
    used.atMs = used.atMs.filter((atMs) => now - atMs < MINUTE_MS)
    if (used.underWay >= maxConcurrent) throw limited(`The key ${name} has ${maxConcurrent} requests under way.`, 2)
    if (used.atMs.length >= perMinute) {
      const waitMs = used.atMs[0]! + MINUTE_MS - now
      throw limited(`The key ${name} has sent ${perMinute} requests in a minute.`, Math.ceil(waitMs / 1000))
    }
    used.atMs.push(now)
    used.underWay++
    let isOver = false
    return () => {
      if (!isOver) used.underWay--
      isOver = true
    }
  }
}

function limited(what: string, retryAfter: number): ApiError {
  const headers = { 'retry-after': String(retryAfter) }
  return new ApiError(`${what} Try again later.`, { status: 429, code: 'rate_limit_exceeded', headers })
}
