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
      const end = (runId: string): Wait | undefined => {
        const wait = waits.get(runId)
        waits.delete(runId)
        wait?.ended.abort()
        return wait
      }
      hooks.on('after-model-call', (event) => {
        if (toolCalls(event.finish.message).length === 0) return
        const wait: Wait = {
          ended: new AbortController(),
          runEnded: new AbortController(),
          kept: null,
          work: Promise.resolve(),
        }
        waits.set(event.runId, wait)
        wait.work = keep(event, wait, balanceOf(event.session.id)).catch((error: unknown) => {
          if (!isAbort(error)) event.logger.info('A prefix was not kept in the cache.', { error: errorLine(error) })
        })
      })
      hooks.on('before-model-call', ({ runId, session, clock }) => {
        const wait = end(runId)
        const now = clock.now()
        // A refresh that is under way counts too.
        void wait?.work.then(() => {
          const { kept } = wait
          if (kept && kept.fromMs <= now && now < kept.untilMs) balanceOf(session.id).savedUsd += kept.savesUsd
        })
        return undefined
      })
      hooks.on('run-end', async ({ runId }) => {
        const wait = end(runId)
        wait?.runEnded.abort()
        await wait?.work
      })
      hooks.on('session-end', ({ session }) => void balances.delete(session.id))
    },
  }
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
    if (!balance.isNotified) event.notice(noticeOf(cache), 'info')
    balance.isNotified = true
    usedAtMs = clock.now()
    const usage = await cache.refresh({ signal: AbortSignal.any([wait.runEnded.signal, event.signal]) })
    const costUsd = usage.costUsd === 'unknown' ? cache.refreshUsd : usage.costUsd
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
