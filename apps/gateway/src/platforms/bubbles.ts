// Answers that grow in a chat while they are written: provisional until the outbox sends them whole, in the same place.
import { type Clock, errorLine, isAbort, type Logger } from '@hermes/contracts'
import type { Platform, PlatformTarget } from '@hermes/contracts/platform'
import { failureOf, sizeIn } from '@hermes/platform'

/** How answers appear; see `streaming` of config.yaml. */
interface BubbleSettings {
  readonly enabled: boolean
  readonly intervalMs: number
  /** Characters that a message begins with. */
  readonly threshold: number
  readonly cursor: string
}

/** One answer that is being written. */
interface Bubble {
  text: string
  shown: string
  id: Promise<string | null> | null
  /** Nothing more is shown of it before it is whole. */
  isOver: boolean
  failures: number
  timer: AbortController | null
  /** What is on its way to the platform. */
  underWay: Promise<void>
}

interface BubblesOptions {
  readonly platform: Platform
  readonly redact: (text: string) => string
  readonly settings: BubbleSettings
  readonly clock: Clock
  readonly logger: Logger
}

const MAX_FAILURES = 3
/** Of the limit of one message: markup takes room too. */
const SHARE = 0.8

/** The answers of one platform that grow now, by the ids of their messages. */
export class Bubbles {
  readonly #options: BubblesOptions
  readonly #bubbles = new Map<string, Bubble>()

  constructor(options: BubblesOptions) {
    this.#options = options
  }

  /** More of an answer. Never throws. */
  add(messageId: string, target: PlatformTarget, text: string): void {
    const { platform, settings } = this.#options
    if (!settings.enabled || !platform.abilities.edits || !platform.edit) return
    let bubble = this.#bubbles.get(messageId)
    if (!bubble) {
      bubble = { text: '', shown: '', id: null, isOver: false, failures: 0, timer: null, underWay: Promise.resolve() }
      this.#bubbles.set(messageId, bubble)
    }
    bubble.text += text
    if (bubble.isOver || bubble.timer || bubble.text.trim().length < settings.threshold) return
    bubble.timer = new AbortController()
    void this.#show(bubble, target, bubble.timer.signal)
  }

  /** Until nothing new has come. Never rejects. */
  async #show(bubble: Bubble, target: PlatformTarget, signal: AbortSignal): Promise<void> {
    const { clock, settings, logger } = this.#options
    while (!bubble.isOver && bubble.text !== bubble.shown) {
      const { text } = bubble
      try {
        const put = this.#put(bubble, target, text)
        bubble.underWay = put.catch(() => undefined)
        await put
        bubble.shown = text
        bubble.failures = 0
      } catch (error) {
        bubble.failures++
        logger.info('An answer could not be shown while it was written.', { error: errorLine(error) })
        if (bubble.failures >= MAX_FAILURES) bubble.isOver = true
        await clock
          .sleep(failureOf(error).retryAfterMs ?? settings.intervalMs * 2 ** bubble.failures, signal)
          .catch(ignoreAbort)
      }
      await clock.sleep(settings.intervalMs, signal).catch(ignoreAbort)
    }
    bubble.timer = null
  }

  async #put(bubble: Bubble, target: PlatformTarget, text: string): Promise<void> {
    const { platform, settings, redact } = this.#options
    const { unit, limit } = platform.abilities.maxLength
    if (sizeIn(text, unit) > limit * SHARE) {
      bubble.isOver = true
      return
    }
    const message = { target, text: redact(text) + settings.cursor, markup: 'plain' } as const
    if (bubble.id === null) {
      bubble.id = platform.send(message).catch((error: unknown) => {
        // It may be there; a second one would stay behind.
        if (failureOf(error).failure === 'unknown_outcome') bubble.isOver = true
        else bubble.id = null
        throw error
      })
      await bubble.id
    } else {
      const id = await bubble.id
      if (id !== null) await platform.edit!(id, message)
    }
  }

  /** The message that shows the beginning of an answer, which is whole now; `null` where there is none. */
  async take(messageId: string): Promise<string | null> {
    const bubble = this.#bubbles.get(messageId)
    if (!bubble) return null
    bubble.isOver = true
    bubble.timer?.abort(new DOMException('The answer is whole.', 'AbortError'))
    // What comes late would stand over the whole answer.
    await bubble.underWay
    return (await bubble.id?.catch(() => null)) ?? null
  }

  /** What was shown of an answer that is begun anew is changed into the next one. */
  reuse(messageId: string, nextId: string): void {
    const bubble = this.#bubbles.get(messageId)
    if (!bubble) return
    this.#bubbles.delete(messageId)
    bubble.text = ''
    this.#bubbles.set(nextId, bubble)
  }

  /** It will not become whole: what there is of it stays, without the cursor. Never rejects. */
  async end(messageId: string, target: PlatformTarget): Promise<void> {
    const bubble = this.#bubbles.get(messageId)
    const id = await this.take(messageId)
    this.#bubbles.delete(messageId)
    if (!bubble || id === null || bubble.shown === '') return
    const { platform, redact, logger } = this.#options
    const { unit, limit } = platform.abilities.maxLength
    const text = redact(sizeIn(bubble.text, unit) > limit * SHARE ? bubble.shown : bubble.text)
    await platform.edit!(id, { target, text, markup: 'plain' }).catch((error: unknown) =>
      logger.info('A message that ended early keeps its cursor.', { error: errorLine(error) }),
    )
  }

  /** It was sent, or never will be. */
  forget(messageId: string): void {
    const bubble = this.#bubbles.get(messageId)
    if (bubble) bubble.isOver = true
    this.#bubbles.delete(messageId)
  }
}

function ignoreAbort(error: unknown): void {
  if (!isAbort(error)) throw error
}
