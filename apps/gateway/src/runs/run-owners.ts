// Who carries runs out: each gateway gives a sign of life in the store, whatever machine or container it is on.
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Clock } from '@hermes/contracts'
import type { MetaStore } from '@hermes/storage'

const SIGN = 'api.process:'
/** How often a gateway gives a sign of life. */
export const SIGN_EVERY_MS = 15_000
/** One that gave none for so long has lost its runs. */
const SILENT_MS = 60_000
const KEEP_MS = 24 * 3_600_000
/** The last sign of one that has ended by itself. */
const ENDED = 'ended'

/**
 * The gateways of a home. Their machines may tell the time differently, so that a sign counts from when it was first seen here.
 */
export class RunOwners {
  /** This one: host, process and a number that no later process of that name has. */
  readonly me = `${hostname()}:${process.pid}:${randomBytes(4).toString('hex')}`
  readonly #meta: () => Promise<MetaStore>
  readonly #clock: Pick<Clock, 'now'>
  readonly #seen = new Map<string, { readonly sign: string | null; readonly atMs: number }>()

  constructor(options: { readonly meta: () => Promise<MetaStore>; readonly clock: Pick<Clock, 'now'> }) {
    this.#meta = options.meta
    this.#clock = options.clock
  }

  /** Gives a sign of life; the last one of a gateway that ends says so, so that nobody waits for another. */
  async sign({ isLast = false }: { readonly isLast?: boolean } = {}): Promise<void> {
    await (await this.#meta()).set(SIGN + this.me, isLast ? ENDED : String(this.#clock.now()))
  }

  /** Whether the gateway that had a run does so no more. */
  async isGone(owner: string): Promise<boolean> {
    if (owner === this.me) return false
    const sign = await (await this.#meta()).get(SIGN + owner)
    if (sign === ENDED || isOver(owner)) return true
    const now = this.#clock.now()
    const seen = this.#seen.get(owner)
    if (seen?.sign === sign) return now - seen.atMs >= SILENT_MS
    this.#seen.set(owner, { sign, atMs: now })
    return false
  }

  /** Forgets gateways that have none of `owners` and gave no sign for a day. */
  async prune(owners: ReadonlySet<string>): Promise<void> {
    const meta = await this.#meta()
    for (const { key, value } of await meta.list(SIGN)) {
      const owner = key.slice(SIGN.length)
      const isOld = value === ENDED || !(this.#clock.now() - Number(value) <= KEEP_MS)
      if (isOld && !owners.has(owner)) await meta.set(key, null)
    }
    for (const owner of this.#seen.keys()) if (!owners.has(owner)) this.#seen.delete(owner)
  }
}

/** Whether a process of this machine runs no more; `false` where that cannot be known. */
function isOver(owner: string): boolean {
  const [host, pidText] = owner.split(':')
  if (host !== hostname()) return false
  const pid = Number(pidText)
  // A number that is ours now was that of another one: a gateway opens its home again only once it has left it.
  if (pid === process.pid) return true
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}
