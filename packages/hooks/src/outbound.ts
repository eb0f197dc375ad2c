// Webhooks that are told of events: signed, once, in the background. What cannot be delivered is logged and gone.
import { createHmac, randomUUID } from 'node:crypto'
import { type Clock, errorLine, type Logger } from '@hermes/contracts'
import type { OutboundHook } from './declarations.js'
import { EVENTS } from './event-table.js'
import { inputFor, isMeant, type Moment, textFor } from './moment.js'

/** What webhooks are sent with. */
export interface OutboundServices {
  /** A `fetch` to the origin of an address and nowhere else. */
  fetchTo(address: string): typeof fetch
  /** A variable of `.env` or the environment. */
  secret(name: string): string | undefined
  /** The name of the home, for what webhooks and hooks are told. */
  readonly profile: string
  readonly clock: Clock
  readonly logger: Logger
}

/** Webhooks that events are sent to. */
interface Outbound {
  /** Queues the event for those that want it; `redact` takes secrets out of its body. */
  tell(moment: Moment, redact: (text: string) => string): void
  /** Waits a moment for what is under way, then gives it up. */
  close(): Promise<void>
}

const MAX_QUEUED = 100
const RETRY_AFTER_MS = 1_000
const CLOSES_WITHIN_MS = 2_000

/** Sends events to the webhooks of config.yaml, one after the other. More than 100 that wait are dropped. */
export function createOutbound(hooks: readonly OutboundHook[], services: OutboundServices): Outbound {
  const closing = new AbortController()
  let queued = 0
  let last: Promise<unknown> = Promise.resolve()
  const wants = (moment: Moment) =>
    hooks.flatMap((hook) =>
      Object.entries(EVENTS.hermes)
        .filter(([event]) => isSent(hook, event))
        .map(([event, row]) => ({ ...UNUSED, event, row, matcher: hook.matcher }))
        .filter((declared) => isMeant(declared, moment))
        .map((declared) => ({ hook, declared })),
    )
  return {
    tell: (moment, redact) => {
      for (const { hook, declared } of hooks.length === 0 ? [] : wants(moment)) {
        if (queued >= MAX_QUEUED) {
          services.logger.warn(`The webhook ${hook.name} is behind; an event was dropped.`, { event: declared.event })
          continue
        }
        queued++
        const text = textFor({ ...inputFor(declared, moment, services.profile), ...delivery(services.clock) }, redact)
        last = last
          .then(() => send(hook, declared.event, text, { ...services, signal: closing.signal }))
          .finally(() => queued--)
      }
    },
    close: async () => {
      const waited = services.clock.sleep(CLOSES_WITHIN_MS, closing.signal).catch(() => undefined)
      await Promise.race([last, waited])
      closing.abort()
      await last
    },
  }
}

/** Whether a webhook is told of an event of config.yaml. `*` leaves out each piece of an answer: it ends in `on_stream_end`. */
export function isSent({ events }: Pick<OutboundHook, 'events'>, event: string): boolean {
  return events.includes(event) || (events.includes('*') && event !== 'on_stream_delta')
}

const UNUSED = {
  form: 'hermes',
  only: null,
  command: '',
  timeoutMs: 0,
  onFailure: 'default',
  isAsync: false,
  source: '',
  project: null,
} as const

const delivery = (clock: Clock) => ({ delivery_id: randomUUID(), timestamp: new Date(clock.now()).toISOString() })

/** Never rejects. Asked again once where the server was not reached or failed; a refusal is final. */
async function send(
  hook: OutboundHook,
  event: string,
  body: string,
  services: OutboundServices & { readonly signal: AbortSignal },
): Promise<void> {
  const { clock, logger, signal } = services
  for (let attempt = 1; attempt <= 2 && !signal.aborted; attempt++) {
    const outcome = await post(hook, event, body, services).catch((error: unknown) => errorLine(error))
    if (typeof outcome === 'number' && outcome < 500) {
      if (outcome >= 300) logger.warn(`The webhook ${hook.name} answered ${outcome}.`, { event })
      return
    }
    const why = typeof outcome === 'number' ? `it answered ${outcome}` : outcome
    if (attempt === 2) logger.warn(`The webhook ${hook.name} was not told of ${event}: ${why}`, {})
    else await clock.sleep(RETRY_AFTER_MS, signal).catch(() => undefined)
  }
}

async function post(
  { url, secret, secretEnv, timeoutMs }: OutboundHook,
  event: string,
  body: string,
  { fetchTo, secret: variable, signal }: OutboundServices & { readonly signal: AbortSignal },
): Promise<number> {
  const key = secret ?? (secretEnv === null ? undefined : variable(secretEnv))
  const { delivery_id: id } = JSON.parse(body) as { readonly delivery_id: string }
  const response = await fetchTo(url)(url, {
    method: 'POST',
    body,
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    headers: {
      'content-type': 'application/json',
      'x-hermes-event': event,
      'x-hermes-delivery': id,
      ...(key === undefined
        ? {}
        : { 'x-hermes-signature-256': `sha256=${createHmac('sha256', key).update(body).digest('hex')}` }),
    },
  })
  await response.body?.cancel()
  return response.status
}
