import type { SpendingFilter, SpendingState, UsageHold, UsageLedger } from '@hermes/contracts/store'

/** What is asked before a call: for each filter how things stand, and whether that lets it through. */
export interface HoldQuestion {
  readonly filters: readonly SpendingFilter[]
  /** Must be quick and do nothing else. What it throws keeps nothing. */
  readonly admits: (states: readonly SpendingState[]) => boolean
}

/** Calls that one process is making, for ledgers that keep no holds themselves. */
export class OwnHolds {
  readonly #holds = new Map<string, UsageHold>()
  /** Counts holds that have ended. */
  #released = 0

  async hold(
    ledger: Pick<UsageLedger, 'totals'>,
    call: UsageHold,
    { filters, admits }: HoldQuestion,
  ): Promise<boolean> {
    for (;;) {
      const released = this.#released
      const spent = await Promise.all(filters.map((filter) => spentBy(ledger, filter)))
      // What was spent is known no more when another call has ended meanwhile.
      if (released !== this.#released) continue
      if (!admits(filters.map((filter, index) => ({ spent: spent[index]!, held: this.#held(filter) })))) return false
      this.#holds.set(call.id, call)
      return true
    }
  }

  /** Whether there was such a hold. */
  release(id: string): boolean {
    if (!this.#holds.delete(id)) return false
    this.#released++
    return true
  }

  #held({ sessionId }: SpendingFilter): SpendingState['held'] {
    return heldBy([...this.#holds.values()].filter((call) => sessionId === undefined || call.sessionId === sessionId))
  }
}

/** Calls that are being made, added up. */
export function heldBy(calls: readonly UsageHold[]): SpendingState['held'] {
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
