import type { Clock, Logger } from '@hermes/contracts'
import type { Update } from 'grammy/types'

/** So many chats are heard side by side: what they send may be large. */
const AT_ONCE = 8
/** After which others are asked for while one chat takes long, such as for a file. */
const PATIENCE_MS = 500
const MAX_REFUSED = 5
/** As many come with one answer; where that many wait, nothing further is brought. */
const MAX_UPDATES = 100

/** Options of {@link UpdateTaker}. */
interface UpdateTakerOptions {
  /** `false` where it was refused. Rejects once `signal` fired. */
  readonly take: (update: Update) => Promise<boolean>
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly logger: Logger
}

/** Takes updates: those of a chat one after the other, different chats side by side, none of which waits for another that takes long. */
export class UpdateTaker {
  readonly #options: UpdateTakerOptions
  /** Of updates that are not confirmed yet: taken all the same, or how often they were refused. */
  readonly #taken = new Set<number>()
  readonly #refused = new Map<number, number>()
  /** What is being taken, by its chat. */
  readonly #busy = new Map<number | undefined, Promise<void>>()
  /** Groups that became supergroups, by their new ids: what is said there comes after what was said before. */
  readonly #moved = new Map<number, number>()
  #hasTaken = false
  #failed: number[] = []

  constructor(options: UpdateTakerOptions) {
    this.#options = options
  }

  /**
   * Takes what was not taken before, and resolves with whether something was refused. What takes long goes on; what comes after it in its chat,
   * as after something that was refused, is taken when it is brought again.
   */
  async takeAll(updates: readonly Update[]): Promise<boolean> {
    const chats = new Map<number | undefined, Update[]>()
    for (const update of updates) {
      const chat = this.#chatOf(update)
      if (this.#taken.has(update.update_id) || this.#busy.has(chat)) continue
      chats.set(chat, [...(chats.get(chat) ?? []), update])
    }
    await this.#takeChats([...chats])
    return this.#countRefused(updates)
  }

  /** The first of these that is not taken: nothing from there on may be confirmed. */
  firstLeft(updates: readonly Update[]): number | undefined {
    return updates.find(({ update_id: id }) => !this.#taken.has(id))?.update_id
  }

  /** What comes before this is confirmed, and does not come again. */
  forget(before: number): void {
    for (const id of this.#taken) if (id < before) this.#taken.delete(id)
    for (const id of this.#refused.keys()) if (id < before) this.#refused.delete(id)
  }

  /** Resolves once nothing is being taken. */
  async settled(): Promise<void> {
    while (this.#busy.size > 0) await Promise.all(this.#busy.values())
  }

  #chatOf(update: Update): number | undefined {
    const id = chatIdOf(update)
    const to = update.message?.migrate_to_chat_id
    const from = update.message?.migrate_from_chat_id
    if (id !== undefined && to !== undefined) this.#moved.set(to, id)
    if (id !== undefined && from !== undefined) this.#moved.set(id, from)
    return id === undefined ? undefined : (this.#moved.get(id) ?? id)
  }

  async #takeChats(waiting: [number | undefined, readonly Update[]][]): Promise<void> {
    const { clock, signal } = this.#options
    const done = new AbortController()
    const late = clock.sleep(PATIENCE_MS, AbortSignal.any([signal, done.signal])).then(
      () => true,
      () => true,
    )
    for (let isLate = false; !isLate && (waiting.length > 0 || this.#busy.size > 0); ) {
      for (const [chat, some] of waiting.splice(0, AT_ONCE - this.#busy.size))
        this.#busy.set(
          chat,
          this.#takeInOrder(some).finally(() => this.#busy.delete(chat)),
        )
      isLate = await Promise.race([late, Promise.race(this.#busy.values()).then(() => false)])
    }
    done.abort()
  }

  /** Never rejects. */
  async #takeInOrder(updates: readonly Update[]): Promise<void> {
    for (const update of updates) {
      const isTaken = await this.#options.take(update).catch(() => null)
      // The platform is being closed.
      if (isTaken === null) return
      if (!isTaken) {
        this.#failed.push(update.update_id)
        return
      }
      this.#taken.add(update.update_id)
      this.#hasTaken = true
    }
  }

  /**
   * A refusal counts against an update when another was taken in the same pass, for else it may be the store that is gone; an update that is
   * refused time after time is given up. So is the one for which everything else has to wait.
   */
  #countRefused(updates: readonly Update[]): boolean {
    const [failed, hasTaken] = [this.#failed, this.#hasTaken]
    this.#failed = []
    this.#hasTaken = false
    const isInTheWay = updates.length >= MAX_UPDATES && failed.length === 1 && this.#busy.size === 0
    if (!hasTaken && !isInTheWay) return failed.length > 0
    for (const id of failed) {
      const count = (this.#refused.get(id) ?? 0) + 1
      this.#refused.set(id, count)
      if (count < MAX_REFUSED) continue
      this.#taken.add(id)
      this.#options.logger.error('An update of Telegram was refused time after time and is given up.', { update: id })
    }
    return failed.length > 0
  }
}

/** Where an update is from, in all its kinds; `undefined` where it says nothing of that. */
function chatIdOf(update: Update): number | undefined {
  const { message, channel_post: post, edited_message: edited, edited_channel_post: editedPost } = update
  return (message ?? post ?? edited ?? editedPost ?? update.callback_query?.message)?.chat?.id
}
