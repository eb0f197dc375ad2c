// What happens in a run, numbered, for readers that come late, leave and come back.
import type { JsonObject } from '@hermes/contracts'

const MAX_KEPT_CHARS = 2_000_000
const KEEP_ALIVE_MS = 15_000
const EVENT_ID = /^(\d+)-(\d+)$/

/** One event as it is told. */
interface RunEvent {
  readonly event: string
  readonly [key: string]: unknown
}

interface Kept {
  readonly number: number
  readonly text: string
}

/** The events of one run in this process, oldest first; of very many the oldest are forgotten. */
export class RunEvents {
  /** Tells this numbering from that of a process before: when it began. */
  readonly #epoch: number
  readonly #kept: Kept[] = []
  #chars = 0
  #number = 0
  #isOver = false
  readonly #readers = new Set<{ wake: () => void }>()

  constructor(epoch: number) {
    this.#epoch = epoch
  }

  add(event: RunEvent): void {
    const number = ++this.#number
    const text = `id: ${this.#epoch}-${number}\nevent: ${event.event}\ndata: ${JSON.stringify(event)}\n\n`
    this.#kept.push({ number, text })
    this.#chars += text.length
    while (this.#chars > MAX_KEPT_CHARS && this.#kept.length > 1) this.#chars -= this.#kept.shift()!.text.length
    this.#wake()
  }

  /** Nothing more comes. */
  end(): void {
    this.#isOver = true
    this.#wake()
  }

  #wake(): void {
    for (const reader of this.#readers) reader.wake()
  }

  /** All events after the one of that id; all there are, where it is of another process or none is named. Made as fast as it is read. */
  stream(lastEventId: string | undefined): ReadableStream<Uint8Array> {
    const encoder = new TextEncoder()
    let last = this.#numberIn(lastEventId)
    const reader = { wake: () => {} }
    this.#readers.add(reader)
    const leave = () => void this.#readers.delete(reader)
    const next = (): string | null => {
      const first = this.#kept[0]?.number ?? this.#number + 1
      const missed = first - 1 - last
      if (missed > 0) {
        last = first - 1
        return `event: events.missed\ndata: ${JSON.stringify({ event: 'events.missed', count: missed } satisfies JsonObject)}\n\n`
      }
      const event = this.#kept[last + 1 - first]
      if (!event) return null
      last = event.number
      return event.text
    }
    return new ReadableStream(
      {
        pull: async (controller) => {
          let text = next()
          while (text === null && !this.#isOver) {
            const { promise, resolve } = Promise.withResolvers<'news' | 'quiet'>()
            const timer = setTimeout(resolve, KEEP_ALIVE_MS, 'quiet')
            reader.wake = () => resolve('news')
            const how = await promise
            clearTimeout(timer)
            text = how === 'quiet' ? ': keepalive\n\n' : next()
          }
          if (text !== null) return controller.enqueue(encoder.encode(text))
          leave()
          controller.close()
        },
        cancel: () => {
          leave()
          reader.wake()
        },
      },
      { highWaterMark: 0 },
    )
  }

  #numberIn(lastEventId: string | undefined): number {
    const [, epoch, number] = EVENT_ID.exec(lastEventId ?? '') ?? []
    return Number(epoch) === this.#epoch ? Math.min(Number(number), this.#number) : 0
  }
}
