import type { SpendingState } from '@hermes/contracts/store'

/** When a call that nobody ended counts no more. Longer than a call takes; of processes on this machine it is known sooner that they have ended. */
export const TTL_MS = 1_800_000

/** Calls that are being made, added up. */
interface ReservedRow {
  readonly calls: number
  readonly tokens: number
  readonly costUsd: number
  /** How many of them have no price. */
  readonly unpriced: number
}

export function toReserved({ unpriced, ...sums }: ReservedRow): SpendingState['reserved'] {
  return { ...sums, costUsd: unpriced > 0 ? 'unknown' : sums.costUsd }
}
