import { HermesError } from '@hermes/contracts'
import { hasEnded, shortIdentity } from './process-identity.js'

/** How long a lease lasts where nobody says. */
export const DEFAULT_TTL_MS = 30_000

/** Who holds a session, as the table of leases has it. */
export interface Holder {
  readonly owner: string
  readonly process: string
  readonly ttl_ms: number
  readonly renewed_ms: number
}

/** A clock that was set back must not make a lease last longer, so the distance counts in both directions. */
export function isHeld({ renewed_ms, ttl_ms, process }: Holder, nowMs: number): boolean {
  return Math.abs(nowMs - renewed_ms) < ttl_ms && !hasEnded(process)
}

/** How an owner is called. */
export function ownerName({ owner, process }: Pick<Holder, 'owner' | 'process'>): string {
  return `${owner} (process ${shortIdentity(process)})`
}

export function sessionBusy(sessionId: string, holder: Holder, nowMs: number): HermesError {
  const owner = ownerName(holder)
  return new HermesError(`Session ${sessionId} is in use by ${owner}; wait for it to end, or end it.`, {
    code: 'store.session_busy',
    retryable: true,
    details: { sessionId, owner, sinceRenewedMs: nowMs - holder.renewed_ms },
  })
}

/** Somebody else holds the lease by now, or nobody. */
export function leaseLost(sessionId: string, token: number): HermesError {
  return new HermesError(`The lease on session ${sessionId} is lost: it was released, or somebody else took it.`, {
    code: 'store.lease_lost',
    details: { sessionId, token },
  })
}
