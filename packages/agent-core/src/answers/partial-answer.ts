import { errorLine, type Logger } from '@hermes/contracts'
import { type AssistantMessage, type Message, messageText, toolCalls } from '@hermes/contracts/conversation'
import type { SessionLog } from '../session/session.js'

/** An answer is durable so long after it was shown, so one that takes less is written once, whole. */
const EVERY_MS = 950
const CUT_NOTE = '[This reply was cut off here: the program ended.]'

/** What had been streamed of an answer, and why it ends there. */
export function interruptedMessage(text: string, note: string): AssistantMessage {
  return {
    role: 'assistant',
    content: [
      { type: 'text', text },
      { type: 'text', text: note, origin: 'reminder' },
    ],
    finishReason: 'unknown',
  }
}

/** Whether an answer was cut off, by a stop or a crash, so that it is sent nowhere as it is. */
export function isCutOff({ content, finishReason }: AssistantMessage): boolean {
  const last = content.at(-1)
  return finishReason === 'unknown' && last?.type === 'text' && last.origin === 'reminder'
}

/** Whether the conversation ends in half an answer: several providers take no request that ends in words of the model. */
export function endsCutOff(messages: readonly Message[]): boolean {
  const last = messages.at(-1)
  return last?.role === 'assistant' && isCutOff(last)
}

/** The beginning of an answer that the messages end in, in as many pieces as it was cut into; empty where they end otherwise. */
export function cutOffText(messages: readonly Message[]): string {
  let text = ''
  for (const message of messages.toReversed()) {
    if (message.role === 'user' && isOurs(message)) continue
    if (message.role !== 'assistant' || toolCalls(message).length > 0) break
    if (!isCutOff(message) && message.finishReason !== 'length') break
    text = messageText(message) + text
  }
  return text
}

/** The same for what a crash cut off, without pieces that ended at the output limit: those were said. */
export function unsaidText(messages: readonly Message[]): string {
  let text = ''
  for (const message of messages.toReversed()) {
    if (message.role === 'user' && isOurs(message)) continue
    if (message.role !== 'assistant' || !isCutOff(message)) break
    text = messageText(message) + text
  }
  return text
}

function isOurs({ content }: Message): boolean {
  return content.every((part) => part.type === 'text' && part.origin === 'reminder')
}

/** Keeps an answer outside the log while it is streamed, for the case that the process is killed. A store that fails loses that alone. */
export class PartialAnswer {
  readonly #session: Pick<SessionLog, 'keepPartial'>
  readonly #logger: Logger
  readonly #text: () => string
  #timer: NodeJS.Timeout | null = null
  #writing: Promise<void> | null = null
  #isKept = false
  #isNew = false

  constructor(options: {
    readonly session: Pick<SessionLog, 'keepPartial'>
    readonly logger: Logger
    /** What has been shown by now. */
    readonly text: () => string
  }) {
    this.#session = options.session
    this.#logger = options.logger
    this.#text = options.text
  }

  /** More of it was shown. */
  grew(): void {
    this.#isNew = true
    if (this.#timer === null) this.#schedule()
  }

  /** Nothing more of it is written. What was kept goes with the append of the whole message. */
  stop(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
  }

  /** It is not shown any more: takes away what was kept. */
  async drop(): Promise<void> {
    this.stop()
    if (!this.#isKept) return
    this.#isKept = false
    await this.#write(null)
  }

  #schedule(): void {
    this.#timer = setTimeout(() => {
      this.#timer = null
      const text = this.#text()
      // A store that takes longer than that gets the newest when it is done.
      if (this.#isNew && this.#writing === null && text.trim() !== '') {
        this.#isNew = false
        this.#isKept = true
        void this.#write(text)
      }
      if (this.#isNew) this.#schedule()
    }, EVERY_MS)
    this.#timer.unref()
  }

  #write(text: string | null): Promise<void> {
    const message = text === null ? null : interruptedMessage(text, CUT_NOTE)
    this.#writing = this.#session
      .keepPartial(message === null ? null : { type: 'message', message })
      .catch((error: unknown) => {
        this.#logger.warn('What has been streamed could not be kept.', { error: errorLine(error) })
      })
      .finally(() => (this.#writing = null))
    return this.#writing
  }
}
