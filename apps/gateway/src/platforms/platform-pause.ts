// Which platforms rest: small facts of the store, so that a command in a chat, one in a terminal and a restart mean the same.
import { type Clock, errorLine, type Logger } from '@hermes/contracts'
import type { MetaStore } from '@hermes/storage'
import type { PausablePlatform } from './pausable-platform.js'

const PAUSED = 'platform.paused:'
/** When a person last had a platform tried. */
const TRIED = 'platform.tried:'
const USAGE = 'list, pause NAME or resume NAME'

type Facts = Pick<MetaStore, 'set' | 'list'>

/** The names of those that rest. */
export async function pausedPlatforms(meta: Pick<Facts, 'list'>): Promise<ReadonlySet<string>> {
  return new Set((await meta.list(PAUSED)).map(({ key }) => key.slice(PAUSED.length)))
}

/** Has platforms rest, go on, or try to connect, as the store says. */
export class PlatformPauses {
  /** What was there before counts as seen. */
  #tried: ReadonlyMap<string, string> | null = null
  /** Why those do not go on that could not, by name. */
  readonly #failed = new Map<string, string>()
  /** Those that are changing, by name. */
  readonly #changing = new Map<string, Promise<void>>()
  readonly #logger: Logger

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /**
   * Begins what there is to change, but for those that change still, which come with a later look: one that takes long holds up no other.
   * Resolves with the names of those that a person has tried since. Rejects as the store does.
   */
  async apply(meta: Pick<Facts, 'list'>, platforms: readonly PausablePlatform[]): Promise<readonly string[]> {
    const paused = await pausedPlatforms(meta)
    const tried = new Map((await meta.list(TRIED)).map(({ key, value }) => [key.slice(TRIED.length), value]))
    const before = this.#tried ?? tried
    this.#tried = tried
    const anew = [...tried.keys()].filter((name) => tried.get(name) !== before.get(name))
    for (const platform of platforms) {
      const { name } = platform
      if (this.#changing.has(name) && !anew.includes(name)) continue
      const change = this.#alone(platform, async () => {
        await platform.setPaused(paused.has(name))
        if (anew.includes(name)) await platform.retry()
      }).finally(() => {
        if (this.#changing.get(name) === change) this.#changing.delete(name)
      })
      this.#changing.set(name, change)
    }
    return anew
  }

  /** Resolves once nothing changes that has begun to. */
  async settled(): Promise<void> {
    await Promise.all(this.#changing.values())
  }

  /** One that cannot go on keeps no other from it. It is tried with each look, and its trouble said once. */
  async #alone({ name }: PausablePlatform, change: () => Promise<void>): Promise<void> {
    try {
      await change()
      this.#failed.delete(name)
    } catch (error) {
      const line = errorLine(error)
      if (this.#failed.get(name) !== line) this.#logger.error(`${name}: does not go on yet: ${line}`)
      this.#failed.set(name, line)
    }
  }
}

/** `pause NAME` or `resume NAME`, as a person typed it. */
interface PauseRequest {
  readonly words: string
  /** Platforms that have an account. */
  readonly names: readonly string[]
  /** Where it is typed; `null` outside of chats. */
  readonly from: string | null
}

/** Writes down that a platform rests, or goes on; gateways see that within a second. `isDone`: it is so now; `text` says it, or what is wrong. */
export async function changePause(
  meta: Facts,
  clock: Pick<Clock, 'now'>,
  { words, names, from }: PauseRequest,
): Promise<{ readonly isDone: boolean; readonly text: string }> {
  const [verb, name = '', ...more] = words.trim().toLowerCase().split(/\s+/)
  const refused = (text: string) => ({ isDone: false, text })
  if ((verb !== 'pause' && verb !== 'resume') || more.length > 0) return refused(`Possible: ${USAGE}.`)
  if (!names.includes(name))
    return refused(
      names.length === 0
        ? 'No chat platform has an account: hermes gateway setup'
        : `Which platform? ${verb} ${names.join(` or ${verb} `)}`,
    )
  if (verb === 'resume') {
    const wasPaused = (await pausedPlatforms(meta)).has(name)
    await meta.set(PAUSED + name, null)
    await meta.set(TRIED + name, String(clock.now()))
    const text = wasPaused
      ? `${name} goes on. What was said there meanwhile comes now.`
      : `${name} was not paused. Where a gateway waits to reach or open it, it tries now.`
    return { isDone: true, text }
  }
  if (name === from)
    return refused(
      `Here nothing would be heard any more that ends it. In a terminal: hermes gateway platforms pause ${name}`,
    )
  await meta.set(PAUSED + name, String(clock.now()))
  return { isDone: true, text: `${name} rests, and what is to be sent there waits, until: resume ${name}` }
}
