import { errorLine, isAbort } from '@hermes/contracts'
import { toolCalls } from '@hermes/contracts/conversation'
import type { Extension, ModelAnswerEvent } from '@hermes/contracts/extension'
import type { PrefixCache } from '@hermes/contracts/model'

/** Of the time that the provider keeps a prefix: the rest is for the way there. */
const REFRESH_AT = 0.9
/** Of what a kept prefix saves, the share that may be spent on a wait, since nobody knows how long it lasts. */
const MOST_SHARE = 0.5
/** In US dollars: what saves less is not worth a request. */
const LEAST_SAVING = 0.01

/** Of a prefix, the share that the next request has to read from the cache for it to have been kept. */
const LEAST_READ = 0.9

/** What keeping prefixes has cost and saved in a session, in US dollars. */
interface Balance {
  spentUsd: number
  savedUsd: number
  isNotified: boolean
}

/** One wait for tools or a person. */
interface Wait {
  /** Ends the wait; a request that is under way goes on. */
  readonly ended: AbortController
  /** Ends that too. */
  readonly runEnded: AbortController
  /** From when until when the provider has the prefix only because it was refreshed, in Unix milliseconds, and what that saves. */
  kept: { readonly fromMs: number; readonly untilMs: number; readonly savesUsd: number } | null
  /** Of the prefix, as the answer before counts them. */
  readonly tokens: number
  /** When the next request went out, in Unix milliseconds; `null` before. */
  endedAtMs: number | null
  work: Promise<void>
}

/**
 * While tools, delegated tasks or a person keep a run waiting for longer than the provider keeps its prefix, asks for a token now and then, so that
 * it is kept: where that is expected to be cheaper than writing it anew. A wait costs at most half of what it can save, and a session is never
 * more than that behind. Told once in a session; `purpose` in the ledger: `cache`.
 */
export function cacheKeeper(): Extension {
  return {
    name: 'cache-keeper',
    setup({ hooks }) {
      const balances = new Map<string, Balance>()
      const balanceOf = (sessionId: string): Balance => {
        const balance = balances.get(sessionId) ?? { spentUsd: 0, savedUsd: 0, isNotified: false }
        balances.set(sessionId, balance)
        return balance
      }
      const waits = new Map<string, Wait>()
      hooks.on('after-model-call', (event) => {
        const before = waits.get(event.runId)
        waits.delete(event.runId)
        const balance = balanceOf(event.session.id)
        const credited = before && creditOf(before, event).then((usd) => void (balance.savedUsd += usd))
        if (toolCalls(event.finish.message).length === 0) return
        const wait: Wait = {
          ended: new AbortController(),
          runEnded: new AbortController(),
          kept: null,
          tokens: cachedTokens(event),
          endedAtMs: null,
          work: Promise.resolve(),
        }
        waits.set(event.runId, wait)
        const work = async () => {
          await credited
          await keep(event, wait, balance)
        }
        wait.work = work().catch((error: unknown) => {
          if (!isAbort(error)) event.logger.info('A prefix was not kept in the cache.', { error: errorLine(error) })
        })
      })
      hooks.on('before-model-call', ({ runId, clock }) => {
        const wait = waits.get(runId)
        wait?.ended.abort(OVER)
        if (wait) wait.endedAtMs ??= clock.now()
        return undefined
      })
      hooks.on('run-end', async ({ runId }) => {
        const wait = waits.get(runId)
        waits.delete(runId)
        wait?.runEnded.abort(OVER)
        await wait?.work
      })
      hooks.on('session-end', ({ session }) => void balances.delete(session.id))
    },
  }
}

/** Why a wait ends. One for all: there is one for each call of a model, and to make an error with its stack takes longer. */
const OVER = new DOMException('The wait is over.', 'AbortError')

const cachedTokens = ({ finish: { usage } }: ModelAnswerEvent) => usage.cacheReadTokens + usage.cacheWriteTokens

/** What a wait has saved, in US dollars: nothing where its prefix was there anyway, or the next request did not read it. */
async function creditOf(wait: Wait, { finish: { usage } }: ModelAnswerEvent): Promise<number> {
  // A refresh that was under way counts too.
  await wait.work
  const { kept, endedAtMs, tokens } = wait
  if (kept === null || endedAtMs === null || endedAtMs < kept.fromMs || endedAtMs >= kept.untilMs) return 0
  return usage.cacheReadTokens >= LEAST_READ * tokens ? kept.savesUsd : 0
}

async function keep(event: ModelAnswerEvent, wait: Wait, balance: Balance): Promise<void> {
  const { clock } = event
  const cache = await event.prefixCache()
  if (cache === null || cache.savesUsd < LEAST_SAVING) return
  const stop = AbortSignal.any([wait.ended.signal, event.signal])
  const most = MOST_SHARE * cache.savesUsd
  let spentUsd = 0
  let usedAtMs = clock.now()
  const fromMs = usedAtMs + cache.lifetimeMs
  while (spentUsd + cache.refreshUsd <= most && balance.spentUsd + cache.refreshUsd <= balance.savedUsd + most) {
    await clock.sleep(usedAtMs + REFRESH_AT * cache.lifetimeMs - clock.now(), stop)
    // A machine that was asleep wakes up too late: what is gone would be written anew.
    if (clock.now() >= usedAtMs + cache.lifetimeMs) return
    if (!balance.isNotified) event.notice(noticeOf(cache), 'info')
    balance.isNotified = true
    usedAtMs = clock.now()
    const usage = await cache.refresh({ signal: AbortSignal.any([wait.runEnded.signal, event.signal]) })
    // Where nobody says what it came to, it may have written everything anew.
    const costUsd = usage.costUsd === 'unknown' ? cache.refreshUsd + cache.savesUsd : usage.costUsd
    spentUsd += costUsd
    balance.spentUsd += costUsd
    wait.kept = { fromMs, untilMs: usedAtMs + cache.lifetimeMs, savesUsd: cache.savesUsd }
    if (wait.ended.signal.aborted) return
  }
}

function noticeOf({ lifetimeMs, refreshUsd, savesUsd }: PrefixCache): string {
  const minutes = (ms: number) => `${Math.round(ms / 6_000) / 10} minutes`
  return `The provider keeps what it has read of this conversation for ${minutes(lifetimeMs)}. While the run waits for longer, Hermes asks it for one token every ${minutes(REFRESH_AT * lifetimeMs)}: $${refreshUsd.toFixed(4)} each, at most half of the $${savesUsd.toFixed(2)} that reading it all anew would cost. To turn that off: hermes config set prompt_caching.keep_warm false`
}
