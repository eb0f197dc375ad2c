import type { Clock } from '@hermes/contracts'
import type { Policy } from '@hermes/contracts/policy'
import type { Storage } from '@hermes/storage'

/** What the commands of a session need of the home it is in. */
export interface SessionServices {
  storage(): Promise<Storage>
  tools(): Promise<readonly ListedTool[]>
  toolsets(): Readonly<Record<string, { readonly tools: readonly string[] }>>
  readonly policy: Pick<Policy, 'answer'>
  /** What was allowed for the rest of a session. */
  readonly grants: { listGrants(sessionId: string): readonly string[]; revokeGrants(sessionId: string): void }
  /** Whether `approvals.mode` of config.yaml has anything asked at all. */
  isAsking(): boolean
  /** An id for a new session. */
  newSessionId(): string
  readonly clock: Clock
}

/** A tool as lists show it. */
interface ListedTool {
  readonly name: string
  readonly toolset: string
  readonly description: string
  readonly isEnabled: boolean
  readonly isAvailable: boolean
  readonly requires: readonly string[]
}
