import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, HermesError } from '@hermes/contracts'
import { withLock, writePrivate } from '@hermes/files'
import { z } from 'zod'

const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'
const CODE_CHARS = 8
const CODE_TTL_MS = 3_600_000
const MAX_PENDING = 3
const ASK_EVERY_MS = 600_000
const MAX_FAILURES = 5
const LOCKOUT_MS = 3_600_000

/** Somebody who waits to be let in. */
interface PendingPairing {
  readonly userId: string
  readonly name: string
  readonly askedAtMs: number
}

/** Somebody who was let in. */
interface ApprovedPairing {
  readonly userId: string
  readonly name: string
  readonly approvedAtMs: number
}

/** Who may talk to the agent without being in the configuration. Files of the home, mode 0600; codes are kept as salted hashes. */
export interface Pairings {
  /** A new code for a stranger; `null` where they asked lately, three wait already, or too many wrong codes were tried. */
  request(platform: string, user: { readonly id: string; readonly name: string }): Promise<string | null>
  isApproved(platform: string, userId: string): Promise<boolean>
  /** Lets in who got this code. @throws HermesError `platform.pairing_locked`, `platform.unknown_code` */
  approve(platform: string, code: string): Promise<ApprovedPairing>
  /** Whether they were let in before. */
  revoke(platform: string, userId: string): Promise<boolean>
  /** How many waited. */
  clearPending(platform: string): Promise<number>
  list(): Promise<
    readonly {
      readonly platform: string
      readonly pending: readonly PendingPairing[]
      readonly approved: readonly ApprovedPairing[]
    }[]
  >
}

const PENDING = z.record(
  z.string(),
  z.looseObject({ salt: z.string(), hash: z.string(), name: z.string().catch(''), asked_ms: z.number() }),
)
const APPROVED = z.record(
  z.string(),
  z
    .looseObject({ user_name: z.string().catch(''), approved_at: z.number().catch(0) })
    .catch({ user_name: '', approved_at: 0 }),
)
const LIMITS = z.record(z.string(), z.number().catch(0))

/** The pairings in a folder, made by the first request. */
export function createPairings({ folder, clock }: { readonly folder: string; readonly clock: Clock }): Pairings {
  const file = (name: string) => join(folder, `${name}.json`)
  const read = async <T>(name: string, schema: z.ZodType<T>): Promise<T> => {
    const text = await readFile(file(name), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '{}'
      throw unreadable(file(name), error.code ?? error.message)
    })
    const parsed = schema.safeParse(json(text))
    if (parsed.success) return parsed.data
    throw unreadable(file(name), 'it holds something else')
  }
  const write = (name: string, value: object) => writePrivate(file(name), `${JSON.stringify(value, null, 2)}\n`)
  const locked = <T>(work: () => Promise<T>) =>
    withLock(
      file('.pairing').replace(/\.json$/, '.lock'),
      { busy: 'Another process changes the pairings; try again.' },
      work,
    )
  const pendingOf = async (platform: string) => {
    const all = Object.entries(await read(`${checked(platform)}-pending`, PENDING))
    return all.filter(([, { asked_ms }]) => clock.now() - asked_ms < CODE_TTL_MS)
  }
  const approvedOf = (platform: string) => read(`${checked(platform)}-approved`, APPROVED)

  return {
    request: (platform, { id, name }) =>
      locked(async () => {
        const [pending, limits] = [await pendingOf(platform), await read('_rate_limits', LIMITS)]
        const requested = `${platform}:${id}`
        const isLimited = clock.now() - (limits[requested] ?? Number.NEGATIVE_INFINITY) < ASK_EVERY_MS
        if (isLimited || pending.length >= MAX_PENDING || isLockedOut(limits, platform, clock.now())) return null
        const code = Array.from({ length: CODE_CHARS }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
        const salt = randomBytes(16).toString('hex')
        const others = pending.filter(([userId]) => userId !== id)
        const mine = { salt, hash: hashOf(salt, code), name: name.slice(0, 80), asked_ms: clock.now() }
        await write(`${platform}-pending`, Object.fromEntries([...others, [id, mine]]))
        await write('_rate_limits', { ...limits, [requested]: clock.now() })
        return code
      }),
    isApproved: async (platform, userId) => Object.hasOwn(await approvedOf(platform), userId),
    approve: (platform, typed) =>
      locked(async () => {
        const [pending, limits] = [await pendingOf(platform), await read('_rate_limits', LIMITS)]
        if (isLockedOut(limits, platform, clock.now())) throw lockedOut()
        const code = typed.trim().toUpperCase()
        const found = pending.find(([, { salt, hash }]) => isSame(hashOf(salt, code), hash))
        if (!found) {
          await write('_rate_limits', { ...limits, ...afterFailure(limits, platform, clock.now()) })
          throw unknownCode(platform)
        }
        const [userId, { name }] = found
        const approvedAtMs = clock.now()
        const one = { user_name: name, approved_at: approvedAtMs / 1000 }
        await write(`${platform}-approved`, { ...(await approvedOf(platform)), [userId]: one })
        await write(`${platform}-pending`, Object.fromEntries(pending.filter(([id]) => id !== userId)))
        return { userId, name, approvedAtMs }
      }),
    revoke: (platform, userId) =>
      locked(async () => {
        const { [userId]: revoked, ...others } = await approvedOf(platform)
        if (revoked) await write(`${platform}-approved`, others)
        return revoked !== undefined
      }),
    clearPending: (platform) =>
      locked(async () => {
        const pending = await pendingOf(platform)
        if (pending.length > 0) await write(`${platform}-pending`, {})
        return pending.length
      }),
    list: async () => {
      const { readdir } = await import('node:fs/promises')
      const names = await readdir(folder).catch(() => [])
      const platforms = new Set(
        names.flatMap((name) => /^([a-z][a-z0-9_]*)-(?:pending|approved)\.json$/.exec(name)?.[1] ?? []),
      )
      return Promise.all(
        [...platforms].sort().map(async (platform) => ({
          platform,
          pending: (await pendingOf(platform)).map(([userId, { name, asked_ms }]) => ({
            userId,
            name,
            askedAtMs: asked_ms,
          })),
          approved: Object.entries(await approvedOf(platform)).map(([userId, { user_name, approved_at }]) => ({
            userId,
            name: user_name,
            approvedAtMs: approved_at * 1000,
          })),
        })),
      )
    },
  }
}

function hashOf(salt: string, code: string): string {
  return createHash('sha256').update(`${salt}:${code}`).digest('hex')
}

function isSame(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
}

function isLockedOut(limits: Readonly<Record<string, number>>, platform: string, nowMs: number): boolean {
  return nowMs < (limits[`_lockout:${platform}`] ?? 0)
}

function afterFailure(limits: Readonly<Record<string, number>>, platform: string, nowMs: number) {
  const failures = (limits[`_failures:${platform}`] ?? 0) + 1
  return failures < MAX_FAILURES
    ? { [`_failures:${platform}`]: failures }
    : { [`_failures:${platform}`]: 0, [`_lockout:${platform}`]: nowMs + LOCKOUT_MS }
}

function checked(platform: string): string {
  if (/^[a-z][a-z0-9_]*$/.test(platform)) return platform
  throw new HermesError(`"${platform}" is no name of a platform; write for example telegram.`, {
    code: 'platform.bad_target',
  })
}

function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function unreadable(path: string, why: string): HermesError {
  return new HermesError(`${path} cannot be read (${why}); nobody who was paired gets in until it can.`, {
    code: 'platform.pairing_unreadable',
  })
}

function lockedOut(): HermesError {
  return new HermesError('Too many wrong codes were tried; wait an hour, then try again.', {
    code: 'platform.pairing_locked',
  })
}

function unknownCode(platform: string): HermesError {
  return new HermesError(
    `No pairing with this code waits on ${platform}. Codes are good for an hour: hermes pairing list`,
    {
      code: 'platform.unknown_code',
    },
  )
}
