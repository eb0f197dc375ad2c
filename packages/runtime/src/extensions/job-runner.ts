import type { ExtensionRegistry } from '@hermes/agent-core'
import { type Clock, errorLine, isAbort, type Logger } from '@hermes/contracts'
import type { JobHandler } from '@hermes/contracts/extension'
import type { Job, Jobs } from '@hermes/storage'

const LOOK_EVERY_MS = 10_000
const LEASE_MS = 60_000
/** How long a handler has to end once its signal has fired. */
const ENDS_WITHIN_MS = 5_000
const RENEW_EVERY_MS = LEASE_MS / 3

/** What the runner of jobs works with. */
interface JobRunnerOptions {
  readonly registry: Pick<ExtensionRegistry, 'list'>
  readonly jobs: () => Promise<Jobs>
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Does the jobs that extensions have handlers for, one after the other, until `signal` fires; it looks every ten seconds. The job under way
 * is then ended by its own signal and goes to another process. Never rejects.
 */
export async function runJobs(options: JobRunnerOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      while (await runNext(options, signal)) signal.throwIfAborted()
    } catch (error) {
      if (!signal.aborted) options.logger.warn('Jobs could not be looked for.', { error: errorLine(error) })
    }
    await options.clock.sleep(LOOK_EVERY_MS, signal).catch(() => undefined)
  }
}

/** Does the job that is due longest; `false` when none is. */
async function runNext({ registry, jobs, clock, logger }: JobRunnerOptions, signal: AbortSignal): Promise<boolean> {
  const handlers = new Map(registry.list('job').map(({ item }) => [item.kind, item]))
  if (handlers.size === 0) return false
  const queue = await jobs()
  const job = await queue.take({ kinds: [...handlers.keys()], leaseMs: LEASE_MS })
  if (job === null) return false
  const lost = new AbortController()
  const renewing = keepAlive(queue, job, { clock, lost })
  try {
    const ending = AbortSignal.any([signal, lost.signal])
    await untilLate((handlers.get(job.kind) as JobHandler).run(job, { signal: ending }), ending, clock)
    lost.abort()
    await queue.complete(job)
  } catch (error) {
    const isOurs = !lost.signal.aborted
    lost.abort()
    if (signal.aborted && isAbort(error)) return false
    logger.warn(`A job of the kind ${job.kind} failed.`, { id: job.id, error: errorLine(error) })
    if (isOurs) await queue.fail(job, { error: errorLine(error) })
  } finally {
    await renewing
  }
  return true
}

/** A handler that goes on after its end holds nobody up: the job goes to another process. */
async function untilLate(work: Promise<void>, ending: AbortSignal, clock: Clock): Promise<void> {
  const done = new AbortController()
  const late = new Promise<never>((_, reject) => {
    const wait = () =>
      void clock.sleep(ENDS_WITHIN_MS, done.signal).then(
        () => reject(ending.reason),
        () => undefined,
      )
    if (ending.aborted) wait()
    else ending.addEventListener('abort', wait, { once: true, signal: done.signal })
  })
  await Promise.race([work, late]).finally(() => done.abort())
}

/** Says every so often that the job is still done; ends its handler when it is somebody else's by now. */
async function keepAlive(
  queue: Jobs,
  job: Job,
  { clock, lost }: { readonly clock: Clock; readonly lost: AbortController },
): Promise<void> {
  try {
    for (;;) {
      await clock.sleep(RENEW_EVERY_MS, lost.signal)
      await queue.renew(job, { leaseMs: LEASE_MS })
    }
  } catch (error) {
    lost.abort(error)
  }
}
