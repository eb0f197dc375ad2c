import type { NewOutboxMessage, OutboxWriter } from '@hermes/contracts/store'

/**
 * `waiting`: nobody sends it. `sending`: a process does. `perhaps`: it may have been sent, and goes out again. `sent` and `failed`: over.
 */
export type OutboxState = 'waiting' | 'sending' | 'perhaps' | 'sent' | 'failed'

/** A message of the outbox. Times are Unix milliseconds. */
export interface OutboxMessage extends NewOutboxMessage {
  readonly id: number
  readonly state: OutboxState
  /** Whether the next part may have reached the chat already: the process that offered it ended, or heard no answer. */
  readonly mayBeSent: boolean
  /** How often it was taken. */
  readonly attempt: number
  /** Parts that the platform has accepted, from the first one on. */
  readonly sentParts: number
  /** What the platform calls these. */
  readonly platformIds: readonly string[]
  /** Not before this. */
  readonly dueAtMs: number
  readonly createdAtMs: number
  /** What went wrong last; `null` for nothing. */
  readonly error: string | null
}

/** What came of sending. */
export type OutboxOutcome =
  | { readonly type: 'sent' }
  /** The platform surely did not take it: it waits. */
  | { readonly type: 'retry'; readonly error: string; readonly dueAtMs: number }
  /** Nobody knows whether the platform took it. */
  | { readonly type: 'perhaps'; readonly error: string; readonly dueAtMs: number }
  /** It never will. */
  | { readonly type: 'failed'; readonly error: string }

/**
 * What chats are to be told: written with what makes it sayable, sent by any process of the home, in order for each target. Rejections are
 * `HermesError` `store.*`.
 */
export interface Outbox extends OutboxWriter {
  /**
   * Takes the message of a platform that is due longest, `null` when there is none: one that waits, or whose sender ended or did not renew it
   * for `leaseMs` (default 60,000). No message is taken while an older one to the same target is not over.
   */
  take(options: { readonly platform: string; readonly leaseMs?: number }): Promise<OutboxMessage | null>
  /**
   * The platform is about to be asked to take the next part: a sender that ends from here on may have sent it. Rejects with
   * `store.outbox_lost` when another process has it.
   */
  offering(message: OutboxMessage): Promise<void>
  /** The platform has accepted the next part, by this id; holds the message for longer. Rejects with `store.outbox_lost` when another process has it. */
  accepted(
    message: OutboxMessage,
    part: { readonly platformId: string; readonly leaseMs?: number },
  ): Promise<OutboxMessage>
  /** Gives it back. Rejects with `store.outbox_lost` when another process has it. */
  settle(message: OutboxMessage, outcome: OutboxOutcome): Promise<void>
  /** When the next message of a platform is due that can be taken then; `null` when there is none. */
  nextDue(platform: string): Promise<number | null>
  /** The newest first. Default limit 20. */
  list(filter?: {
    readonly platform?: string
    readonly target?: string
    readonly state?: OutboxState
    readonly limit?: number
  }): Promise<readonly OutboxMessage[]>
  /** Forgets what was over before this moment, keys included; tells how many. */
  prune(beforeMs: number): Promise<number>
}
