import { errorLine, type Logger } from '@hermes/contracts'
import type { UsageLedger, UsageRecord, UsageReservation } from '@hermes/contracts/store'
import type { UsageEvent } from '../model-client.js'
import { OwnReservations, type ReservationCheck } from './own-reservations.js'

/** Takes in finished calls at once and writes them down when there is time. */
export interface UsageRecorder extends Pick<UsageLedger, 'totals'> {
  record(event: UsageEvent): void
  /** Keeps room for a call as {@link UsageLedger.hold} does; among the calls of this process where the ledger cannot. */
  reserve(call: UsageReservation, question: ReservationCheck): Promise<boolean>
  /** Ends a hold, together with what was recorded before. */
  release(id: string): void
  /** Writes down what is waiting. What cannot be written is logged and tried again with the next call. Never rejects. */
  flush(): Promise<void>
}

/** Options of {@link createUsageRecorder}. */
interface UsageRecorderOptions {
  /** Opened when there is something to write or to read. */
  readonly ledger: () => Promise<UsageLedger>
  readonly logger: Logger
  /** How long a call may wait to be written down together with others. Default 100. */
  readonly delayMs?: number
}

/** Makes the recorder of a home. Totals know of every call that was recorded before. */
export function createUsageRecorder(options: UsageRecorderOptions): UsageRecorder {
  return new LazyRecorder(options)
}

class LazyRecorder implements UsageRecorder {
  readonly #options: UsageRecorderOptions
  readonly #own = new OwnReservations()
  #waiting: UsageRecord[] = []
  #releases: string[] = []
  #writing: Promise<void> = Promise.resolve()
  #timer: ReturnType<typeof setTimeout> | null = null

  constructor(options: UsageRecorderOptions) {
    this.#options = options
  }

  record({ turnId: _, root, sessionId, ...event }: UsageEvent): void {
    this.#waiting.push({ ...event, sessionId: root?.sessionId ?? sessionId ?? null })
    // The process may end before it fires: whoever closes the home flushes.
    this.#timer ??= setTimeout(() => void this.flush(), this.#options.delayMs ?? 100).unref()
  }

  flush(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    this.#writing = this.#writing.then(() => this.#write())
    return this.#writing
  }

  async totals(filter?: Parameters<UsageLedger['totals']>[0]): ReturnType<UsageLedger['totals']> {
    await this.flush()
    const ledger = await this.#options.ledger()
    return ledger.totals(filter)
  }

  async reserve(call: UsageReservation, question: ReservationCheck): Promise<boolean> {
    await this.flush()
    const ledger = await this.#options.ledger()
    return ledger.reserve ? ledger.reserve(call, question) : this.#own.reserve(ledger, call, question)
  }

  release(id: string): void {
    if (this.#own.release(id)) return
    this.#releases.push(id)
    // Others may wait for it.
    void this.flush()
  }

  async #write(): Promise<void> {
    const [records, releases] = [this.#waiting, this.#releases]
    if (records.length + releases.length === 0) return
    this.#waiting = []
    this.#releases = []
    try {
      const ledger = await this.#options.ledger()
      await ledger.record(records, { releases })
    } catch (error) {
      this.#waiting = [...records, ...this.#waiting]
      this.#releases = [...releases, ...this.#releases]
      this.#options.logger.warn('Model calls could not be written into the ledger yet.', { error: errorLine(error) })
    }
  }
}
