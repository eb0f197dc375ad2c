import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JsonObject } from '@hermes/contracts'
import type { Credential, CredentialOutcome, ErrorClass, ErrorReason } from '@hermes/contracts/model'
import { createFakeClock, type FakeClock, type TemporaryHome, temporaryHome } from '@hermes/testkit'
import { type CredentialPool, type CredentialPoolOptions, openCredentialPool } from '../index.js'

/** Saturday, 21 November 2026, 09:00 UTC: the time in which the fixture of an existing home lives. */
export const NOW = Date.UTC(2026, 10, 21, 9)

/** A home with an `auth.json`, and pools on it with a clock that a test moves. */
export interface PoolHome extends AsyncDisposable {
  readonly path: string
  readonly directory: string
  readonly clock: FakeClock
  readonly problems: string[]
  pool(options?: Partial<CredentialPoolOptions>): CredentialPool
  write(document: unknown): Promise<void>
  read(): Promise<JsonObject>
  text(): Promise<string>
}

export async function openPoolHome(document?: unknown): Promise<PoolHome> {
  const home: TemporaryHome = await temporaryHome()
  const path = join(home.path, 'auth.json')
  const clock = createFakeClock(NOW)
  const problems: string[] = []
  const text = () => readFile(path, 'utf8')
  const write = (value: unknown) =>
    writeFile(path, typeof value === 'string' ? value : JSON.stringify(value), { mode: 0o600 })
  if (document !== undefined) await write(document)
  return {
    path,
    directory: home.path,
    clock,
    problems,
    pool: (options = {}) =>
      openCredentialPool({ path, provider: 'p', clock, onProblem: (line) => problems.push(line), ...options }),
    write,
    text,
    read: async () => JSON.parse(await text()) as JsonObject,
    [Symbol.asyncDispose]: () => home.remove(),
  }
}

/** A file with keys of the provider `p`. */
export function keys(...entries: readonly JsonObject[]): JsonObject {
  const list = entries.map((entry, index) => ({
    id: `id-${index}`,
    label: `key-${index}`,
    auth_type: 'api_key',
    priority: index,
    source: 'manual',
    access_token: `secret-of-number-${index}`,
    ...entry,
  }))
  return { version: 1, credential_pool: { p: list } }
}

/** A call that failed. */
export function failed(
  reason: ErrorReason,
  more: Partial<ErrorClass> & { message?: string; headers?: Record<string, string> } = {},
): CredentialOutcome {
  const { message, headers, ...verdict } = more
  return {
    type: 'failed',
    verdict: {
      reason,
      retryable: false,
      shouldCompress: false,
      shouldRotateCredential: true,
      shouldFallback: true,
      ...verdict,
    },
    ...(message === undefined ? {} : { message }),
    ...(headers === undefined ? {} : { headers }),
  }
}

/** The ids that `count` selections give. */
export async function selected(pool: CredentialPool, count: number): Promise<(string | undefined)[]> {
  const ids: (string | undefined)[] = []
  for (let round = 0; round < count; round++) ids.push((await pool.select())?.id)
  return ids
}

/** The next credential, which there must be. */
export async function next(pool: CredentialPool): Promise<Credential> {
  const credential = await pool.select()
  if (!credential) throw new Error('The pool has none.')
  return credential
}
