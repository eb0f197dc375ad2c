import type { SpendingFilter, SpendingState, UsageLedger, UsageReservation } from '@hermes/contracts/store'

/** What is asked before a call: for each filter how things stand, and whether that lets it through. */
export interface ReservationCheck {
  readonly filters: readonly SpendingFilter[]
  /** Must be quick and do nothing else. What it throws keeps nothing. */
  readonly admits: (states: readonly SpendingState[]) => boolean
}

/** Calls that one process is making, for ledgers that keep no holds themselves. */
export class OwnReservations {
  readonly #reservations = new Map<string, UsageReservation>()
  /** Counts holds that have ended. */
  #released = 0

  async reserve(
    ledger: Pick<UsageLedger, 'totals'>,
    call: UsageReservation,
    { filters, admits }: ReservationCheck,
  ): Promise<boolean> {
    for (;;) {
      const released = this.#released
      const spent = await Promise.all(filters.map((filter) => spentBy(ledger, filter)))
      // What was spent is known no more when another call has ended meanwhile.
      if (released !== this.#released) continue
      if (!admits(filters.map((filter, index) => ({ spent: spent[index]!, reserved: this.#reserved(filter) }))))
        return false
      this.#reservations.set(call.id, call)
      return true
    }
  }

  /** Whether there was such a hold. */
  release(id: string): boolean {
    if (!this.#reservations.delete(id)) return false
    this.#released++
    return true
  }

  #reserved({ sessionId }: SpendingFilter): SpendingState['reserved'] {
    return reservedBy(
      [...this.#reservations.values()].filter((call) => sessionId === undefined || call.sessionId === sessionId),
    )
  }
}

/** Calls that are being made, added up. */
export function reservedBy(calls: readonly UsageReservation[]): SpendingState['reserved'] {
  const costs = calls.map(({ costUsd }) => costUsd)
  return {
    calls: calls.length,
    tokens: calls.reduce((sum, { tokens }) => sum + tokens, 0),
    costUsd: costs.includes('unknown') ? 'unknown' : costs.reduce<number>((sum, cost) => sum + Number(cost), 0),
  }
}

async function spentBy(ledger: Pick<UsageLedger, 'totals'>, filter: SpendingFilter): Promise<SpendingState['spent']> {
  const [total] = await ledger.totals(filter)
  if (!total) return { tokens: 0, costUsd: 0, unpricedCalls: 0 }
  const { usage, knownCostUsd: costUsd, unpricedCalls } = total
  return { tokens: usage.inputTokens + usage.outputTokens, costUsd, unpricedCalls }
}
