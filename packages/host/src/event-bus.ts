import { mergeDeltas } from '@hermes/agent-core'
import type { SessionEvent } from './session-event.js'

/** What a reader that does not read may hold, and what is kept of all sessions for readers that come later. Roughly bytes. */
const MAX_UNREAD_BYTES = 1_000_000
const MAX_KEPT_BYTES = 2_000_000
const EVENT_BYTES = 200
const BYTES_PER_CHAR = 2

/** Which events a reader gets. */
export interface ReadOptions {
  /** Default: of all sessions. */
  readonly sessionId?: string | undefined
  /** Begins after this cursor. Default: what happens from now on. */
  readonly after?: number | undefined
  /** Keeps whatever is unread, however much: for the one whose input runs. Default `false`. */
  readonly isWhole?: boolean
}

/** Events as they come, until it is left. To leave ends nothing but the reading. */
export interface EventReader extends AsyncIterableIterator<SessionEvent> {
  return(): Promise<IteratorResult<SessionEvent>>
}

/** Brings events to any number of readers. It never waits for one. */
export class EventBus {
  #cursor = 0
  readonly #kept: { readonly item: SessionEvent; readonly bytes: number }[] = []
  #keptBytes = 0
  readonly #readers = new Set<UnreadEvents>()

  /** The newest event's. */
  get cursor(): number {
    return this.#cursor
  }

  publish(sessionId: string, event: SessionEvent['event']): void {
    const item = { cursor: ++this.#cursor, sessionId, event }
    const bytes = sizeOf(event)
    this.#kept.push({ item, bytes })
    this.#keptBytes += bytes
    if (this.#keptBytes > MAX_KEPT_BYTES) this.#forgetOldest()
    for (const reader of this.#readers) reader.add(item, bytes)
  }

  read(options: ReadOptions = {}): UnreadEvents {
    const reader = new UnreadEvents(options, () => void this.#readers.delete(reader))
    if (options.after !== undefined) this.#replay(reader, options.after)
    this.#readers.add(reader)
    return reader
  }

  #replay(reader: UnreadEvents, after: number): void {
    const first = this.#kept[0]?.item.cursor ?? this.#cursor + 1
    if (after < first - 1) reader.miss(first - 1, first - 1 - after)
    for (const { item, bytes } of this.#kept) if (item.cursor > after) reader.add(item, bytes)
  }

  /** A quarter at once, so that not every event moves all others. */
  #forgetOldest(): void {
    let count = 0
    while (this.#keptBytes > MAX_KEPT_BYTES * 0.75) this.#keptBytes -= this.#kept[count++]!.bytes
    this.#kept.splice(0, count)
  }
}

/** What one reader has not read yet. */
class UnreadEvents implements EventReader {
  readonly #sessionId: string | undefined
  readonly #maxBytes: number
  readonly #onLeave: () => void
  #unread: { readonly item: SessionEvent; readonly bytes: number }[] = []
  #bytes = 0
  #waiting: ((result: IteratorResult<SessionEvent>) => void) | null = null
  #hasLeft = false

  constructor({ sessionId, isWhole = false }: ReadOptions, onLeave: () => void) {
    this.#sessionId = sessionId
    this.#maxBytes = isWhole ? Number.POSITIVE_INFINITY : MAX_UNREAD_BYTES
    this.#onLeave = onLeave
  }

  add(item: SessionEvent, bytes: number): void {
    if (this.#sessionId !== undefined && item.sessionId !== this.#sessionId) return
    if (this.#waiting) {
      const deliver = this.#waiting
      this.#waiting = null
      deliver({ done: false, value: item })
      return
    }
    const last = this.#unread.at(-1)
    // What alone is as much as a reader may hold does not grow: it can be cut off then.
    const merged = last && last.bytes + bytes <= this.#maxBytes ? merge(last.item, item) : null
    // What is merged takes about its text only, so this counts too much rather than too little.
    if (merged) this.#unread[this.#unread.length - 1] = { item: merged, bytes: last!.bytes + bytes }
    else this.#unread.push({ item, bytes })
    this.#bytes += bytes
    if (this.#bytes > this.#maxBytes && this.#unread.length > 1) this.#cutOff()
  }

  /** The newest stays, which may be the end that the reader waits for. */
  #cutOff(): void {
    const last = this.#unread.pop()!
    const counts = this.#unread.map(({ item: { event } }) => (event.type === 'events-missed' ? event.count : 1))
    this.#unread = []
    this.miss(
      last.item.cursor - 1,
      counts.reduce((sum, count) => sum + count, 0),
    )
    this.#unread.push(last)
    this.#bytes = last.bytes
  }

  miss(cursor: number, count: number): void {
    const sessionId = this.#sessionId ?? ''
    this.#unread.push({ item: { cursor, sessionId, event: { type: 'events-missed', count } }, bytes: 0 })
  }

  next(): Promise<IteratorResult<SessionEvent>> {
    const unread = this.#unread.shift()
    this.#bytes -= unread?.bytes ?? 0
    if (unread) return Promise.resolve({ done: false, value: unread.item })
    if (this.#hasLeft) return Promise.resolve({ done: true, value: undefined })
    return new Promise((resolve) => {
      this.#waiting = resolve
    })
  }

  return(): Promise<IteratorResult<SessionEvent>> {
    this.#unread = []
    this.finish()
    return Promise.resolve({ done: true, value: undefined })
  }

  /** Nothing more comes: it ends once all it has is read. */
  finish(): void {
    this.#hasLeft = true
    this.#onLeave()
    this.#waiting?.({ done: true, value: undefined })
    this.#waiting = null
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}

function merge(last: SessionEvent | undefined, next: SessionEvent): SessionEvent | null {
  if (!last || !('runId' in last.event && 'runId' in next.event) || last.event.runId !== next.event.runId) return null
  const event = mergeDeltas(last.event, next.event)
  return event && { ...next, event }
}

/** Of texts only their length is looked at, however long they are. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length * BYTES_PER_CHAR
  if (typeof value !== 'object' || value === null) return 8
  let bytes = EVENT_BYTES / 4
  for (const key in value) bytes += sizeOf((value as Readonly<Record<string, unknown>>)[key])
  return bytes
}
