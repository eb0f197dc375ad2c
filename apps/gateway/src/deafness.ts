// Tells that a chat platform is deaf, and that it hears again, where that can still be heard: on the other platforms and at an address.
import { type Clock, errorLine, type Logger } from '@hermes/contracts'
import type { Outbox } from '@hermes/storage'
import { HEARS_WITHIN_MS, hearing, type PlatformReport } from './platforms/platform-health.js'

const LOOK_EVERY_MS = 15_000

/** What it looks at, and whom it tells. */
interface DeafnessOptions {
  readonly reports: () => readonly PlatformReport[]
  /** The chats of the owner: ids of users by platform. */
  readonly owner: Readonly<Record<string, readonly string[]>>
  readonly outbox: () => Promise<Pick<Outbox, 'add'>>
  /** Sends a text to the address that the configuration names; `null` where it names none. */
  readonly post: ((text: string) => Promise<void>) | null
  readonly clock: Clock
  readonly logger: Logger
}

/** Looks until the signal fires. Never rejects. */
export async function watchDeafness(options: DeafnessOptions, signal: AbortSignal): Promise<void> {
  const watch = new DeafnessWatch(options)
  while (!signal.aborted) {
    await watch
      .look()
      .catch((error: unknown) =>
        options.logger.error('Whether platforms are deaf could not be seen.', { error: errorLine(error) }),
      )
    await options.clock.sleep(LOOK_EVERY_MS, signal).catch(() => undefined)
  }
}

/** What is known of each platform. */
export class DeafnessWatch {
  readonly #options: DeafnessOptions
  /** Since when it does not hear, and whether that was told. */
  readonly #deaf = new Map<string, { readonly sinceMs: number; isNotified: boolean }>()

  constructor(options: DeafnessOptions) {
    this.#options = options
  }

  async look(): Promise<void> {
    const now = this.#options.clock.now()
    for (const report of this.#options.reports()) {
      if (report.state.type === 'paused') {
        this.#deaf.delete(report.name)
        continue
      }
      const { hears, text } = hearing(report, now)
      const known = this.#deaf.get(report.name)
      if (hears) {
        this.#deaf.delete(report.name)
        if (known?.isNotified) await this.#tell(report.name, `${report.name} hears again.`, now)
        continue
      }
      // One that connects is not deaf yet, one that was heard long ago is.
      const sinceMs = known?.sinceMs ?? report.heardAtMs ?? now
      const isSure = report.state.type === 'failed' || now - sinceMs >= HEARS_WITHIN_MS
      this.#deaf.set(report.name, { sinceMs, isNotified: isSure || (known?.isNotified ?? false) })
      if (isSure && !known?.isNotified)
        await this.#tell(report.name, `${report.name} brings no messages: ${text}. See: hermes gateway status`, now)
    }
  }

  /** Through what still hears. */
  async #tell(about: string, text: string, now: number): Promise<void> {
    const { reports, owner, outbox, post, logger } = this.#options
    logger.error(text)
    const others = reports().filter(
      (report) => report.name !== about && report.state.type === 'connected' && hearing(report, now).hears,
    )
    const messages = others.flatMap(({ name: platform }) =>
      (owner[platform] ?? []).map((target) => {
        return { key: `deaf:${about}:${platform}:${target}:${now}`, platform, target, body: { text } }
      }),
    )
    const notified = [messages.length > 0 ? outbox().then((box) => box.add(messages)) : null, post?.(text)]
    for (const result of await Promise.allSettled(notified))
      if (result.status === 'rejected') logger.error('It could not be told.', { error: errorLine(result.reason) })
  }
}
