// Answers that grow in a chat while they are written: provisional until the outbox sends them whole, in the same place.
import { type Clock, errorLine, isAbort, type Logger } from '@hermes/contracts'
import type { Platform, PlatformTarget } from '@hermes/contracts/platform'
import { failureOf, sizeIn } from '@hermes/platform'

/** How answers appear; see `streaming` of config.yaml. */
interface BubbleSettings {
  readonly enabled: boolean
  /** As drafts where a chat has them, as messages that are changed where a platform can do that, or as either. */
  readonly transport: 'auto' | 'draft' | 'edit' | 'off'
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
  /** It is shown as a draft: no message is there before the answer is whole. */
  isDraft: boolean
  readonly draftId: number
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
  #draftIds = 0

  constructor(options: BubblesOptions) {
    this.#options = options
  }

  #begun(): Bubble {
    const { platform, settings } = this.#options
    const isDraft = settings.transport !== 'edit' && platform.draft !== undefined
    const draftId = ++this.#draftIds
    const empty = { text: '', shown: '', id: null, isDraft, draftId, failures: 0, timer: null }
    return { ...empty, isOver: false, underWay: Promise.resolve() }
  }

  /** More of an answer. Never throws. */
  add(messageId: string, target: PlatformTarget, text: string): void {
    const { platform, settings } = this.#options
    if (!settings.enabled || settings.transport === 'off' || !(platform.draft ?? platform.edit)) return
    const bubble = this.#bubbles.get(messageId) ?? this.#begun()
    this.#bubbles.set(messageId, bubble)
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
    const draft = { target, text: redact(text), markup: 'plain' } as const
    if (bubble.isDraft && (await platform.draft!(bubble.draftId, draft))) return
    bubble.isDraft = false
    if (settings.transport === 'draft' || !platform.edit) {
      bubble.isOver = true
      return
    }
    const message = { ...draft, text: draft.text + settings.cursor }
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
      if (id !== null) await platform.edit(id, message)
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

  /** Whether its beginning is in the chat already. */
  isShown(messageId: string): boolean {
    return (this.#bubbles.get(messageId)?.shown ?? '') !== ''
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
    if (!bubble || bubble.shown === '' || (id === null && !bubble.isDraft)) return
    const { platform, redact, logger } = this.#options
    const { unit, limit } = platform.abilities.maxLength
    const text = redact(sizeIn(bubble.text, unit) > limit * SHARE ? bubble.shown : bubble.text)
    const message = { target, text, markup: 'plain' } as const
    // A draft would be gone.
    const ended = id === null ? platform.send(message) : platform.edit!(id, message)
    await ended.catch((error: unknown) =>
      logger.info('An answer that ended early is not shown as far as it came.', { error: errorLine(error) }),
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
