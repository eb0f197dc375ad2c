import type { TextPart, TextSource } from '@hermes/contracts/conversation'
import type { InboxMessage } from '@hermes/contracts/store'
import type { Notice } from '@hermes/contracts/tool'

/** A note for the model that waits to be carried. */
export interface WaitingNote {
  readonly text: string
  /** `steer` from the user, the others from a tool: its own words, or text from outside. */
  readonly origin: 'steer' | 'reminder' | 'external'
  /** Where text from outside came from, or whose words they are that are not the owner's. */
  readonly sources?: readonly TextSource[]
  /** Key of the inbox message it says, which is to be taken with it. */
  readonly inboxMessage?: string
  /** To be called once it is durable. */
  readonly settle: (how: 'delivered' | 'queued') => void
}

/** Notes for a run that is under way: from the user, and from tools whose call has returned. */
export class SteerQueue {
  readonly #waiting: (Pick<WaitingNote, 'inboxMessage' | 'settle'> & { readonly say: () => NoticeText | null })[] = []

  #steered: AbortController | null = null
  #steers = 0

  add(text: string, sources?: readonly TextSource[]): Promise<'delivered' | 'queued'> {
    this.#steers++
    this.#steered?.abort()
    const note = { text, origin: 'steer', ...(sources ? { sources } : {}) } as const
    return new Promise((settle) => this.#waiting.push({ say: () => note, settle }))
  }

  /** Fires while something the user said waits to be carried. */
  steered(): AbortSignal {
    this.#steered ??= new AbortController()
    if (this.#steers > 0) this.#steered.abort()
    return this.#steered.signal
  }

  /** A notice of a tool; a function is asked when the notice is taken, and drops it with `null`. */
  notify(notice: Notice | (() => Notice | null)): void {
    const say = () => textOf(typeof notice === 'function' ? notice() : notice)
    this.#waiting.push({ say, settle: () => undefined })
  }

  /** An inbox message that was delivered and could be carried now; nothing is lost when it is not. */
  announce(inboxMessage: InboxMessage, isTaken: () => boolean): void {
    const { type: _, ...note } = inboxMessagePart(inboxMessage)
    const say = () => (isTaken() ? null : note)
    this.#waiting.push({ say, inboxMessage: inboxMessage.key, settle: () => undefined })
  }

  /** How many notes wait. */
  get size(): number {
    return this.#waiting.length
  }

  /** Puts a note back in line that could not be stored. */
  putBack({ settle, inboxMessage, ...note }: WaitingNote): void {
    const key = inboxMessage === undefined ? {} : { inboxMessage }
    this.#waiting.unshift({ ...key, settle, say: () => note })
  }

  /** Takes all notes, or the oldest `count`; call `settle` for each once it is durable. */
  take(count = this.#waiting.length): readonly WaitingNote[] {
    this.#steers = 0
    this.#steered = null
    return this.#waiting.splice(0, count).flatMap(({ say, ...note }) => {
      const text = say()
      return text === null ? [] : [{ ...note, ...text }]
    })
  }
}

type NoticeText = Pick<WaitingNote, 'text' | 'origin' | 'sources'>

function textOf(notice: Notice | null): NoticeText | null {
  if (notice === null) return null
  const { text, isExternal = false, sources } = typeof notice === 'string' ? { text: notice } : notice
  return isExternal ? { text, origin: 'external', ...(sources ? { sources } : {}) } : { text, origin: 'reminder' }
}

/** What an inbox message says to the model. Kept in the inbox message, so that it reads the same whoever delivers it. */
export function inboxMessagePart({ body }: InboxMessage): TextPart & { readonly origin: 'external' | 'reminder' } {
  const text = String(body['text'] ?? '')
  if (body['origin'] !== 'external') return { type: 'text', text, origin: 'reminder' }
  const { sources } = body as Pick<TextPart, 'sources'>
  return { type: 'text', text, origin: 'external', ...(sources ? { sources } : {}) }
}
