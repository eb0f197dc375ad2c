import { HermesError } from '@hermes/contracts'
import { hasEnded, isRunning, shortIdentity } from './process-identity.js'

/** How long a lease lasts where nobody says. */
export const DEFAULT_TTL_MS = 30_000

/** By token and session; it changes a row only while the lease is the newest. */
export const RENEW = 'UPDATE hermes_leases SET renewed_ms = ? WHERE token = ? AND session_id = ?'

/** What a process holds. */
export const RELEASE_ALL = 'DELETE FROM hermes_leases WHERE process = ?'

/** Who holds a session, as the table of leases has it. */
export interface Holder {
  readonly owner: string
  readonly process: string
  readonly ttl_ms: number
  readonly renewed_ms: number
}

/** Who holds a session or held it last, and when the session ended. */
export type LastHolder = Holder & { readonly ended: unknown }

/** How another process is called that has the session open: it writes it, or wrote it last, still runs and has not ended it. */
export function otherUser(last: LastHolder | undefined, process: string, nowMs: number): string | null {
  if (!last || last.process === process) return null
  const isOpen = isHeld(last, nowMs) || (last.ended === null && isRunning(last.process))
  return isOpen ? ownerName(last) : null
}

/** A clock that was set back must not make a lease last longer, so the distance counts in both directions. */
export function isHeld({ renewed_ms, ttl_ms, process }: Holder, nowMs: number): boolean {
  return Math.abs(nowMs - renewed_ms) < ttl_ms && !hasEnded(process)
}

/** Why a session ended that nobody ended. */
export const PROCESS_GONE = 'process_gone'

/** How long an open session of a process that nobody here can look at counts as open after its last sign of life. */
const SILENT_MS = 86_400_000

/** Who wrote a session last that has not ended: `ttl_ms` is 0 once the lease was released. */
export type LastWriter = Pick<Holder, 'process' | 'ttl_ms' | 'renewed_ms'>

/** Whether a session will not be ended by who wrote it last. */
export function isAbandoned({ process, ttl_ms, renewed_ms }: LastWriter, nowMs: number): boolean {
  if (hasEnded(process)) return true
  const silentMs = Math.abs(nowMs - renewed_ms)
  return !isRunning(process) && silentMs >= (ttl_ms > 0 ? ttl_ms : SILENT_MS)
}

/** How people are told of an owner; which container or namespace of the machine it is in tells them nothing. */
export function ownerName({ owner, process }: Pick<Holder, 'owner' | 'process'>): string {
  return `${owner} (process ${shortIdentity(process).split('/', 1)[0]})`
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
