import type { Clock } from '@hermes/contracts'
import type { NewOutboxMessage, OutboxWriter } from '@hermes/contracts/store'

const LOOK_EVERY_MS = 250
const LOOKED_AT = 100

/** How far a message has come: `queued` waits for a gateway that runs. */
export type Delivery =
  | { readonly type: 'sent' }
  | { readonly type: 'queued' }
  | { readonly type: 'failed'; readonly error: string }

/** The outbox as one who waits for a message uses it. @see `Outbox` of `@hermes/storage` */
export interface WatchedOutbox extends OutboxWriter {
  list(filter: {
    readonly platform: string
    readonly target: string
    readonly limit: number
  }): Promise<readonly { readonly key: string; readonly state: string; readonly error: string | null }[]>
}

/**
 * Writes a message into the outbox, once for its key, and waits for a gateway to send it, `waitMs` at most. Rejects as the store does; abort
 * of `signal` ends the wait alone.
 */
export async function deliver(
  message: NewOutboxMessage,
  {
    outbox,
    waitMs,
    clock,
    signal,
  }: { readonly outbox: WatchedOutbox; readonly waitMs: number; readonly clock: Clock; readonly signal?: AbortSignal },
): Promise<Delivery> {
  const { key, platform, target } = message
  await outbox.add([message])
  const untilMs = clock.now() + waitMs
  for (;;) {
    const row = (await outbox.list({ platform, target, limit: LOOKED_AT })).find((one) => one.key === key)
    if (row?.state === 'sent') return { type: 'sent' }
    if (row?.state === 'failed') return { type: 'failed', error: row.error ?? 'for no reason that is known' }
    if (clock.now() >= untilMs || signal?.aborted) return { type: 'queued' }
    await clock.sleep(LOOK_EVERY_MS, signal).catch(() => undefined)
  }
}
