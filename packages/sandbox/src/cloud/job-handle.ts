import { randomBytes } from 'node:crypto'
import { appendFileSync, statSync } from 'node:fs'
import { type Clock, errorLine, HermesError, type Logger } from '@hermes/contracts'
import type { Job } from '../far-start.js'
import type { ProcessHandle } from '../process-handle.js'
import type { FarProcess } from '../process-record.js'
import { runScript } from '../remote/run-script.js'
import { JobReader, type JobWay } from './job-reader.js'
import { awaitJob, dropJob, endJobInput, feedJob, startJob } from './job-scripts.js'

const FIRST_PAUSE_MS = 100
const LAST_PAUSE_MS = 2_000
/** How many failed questions in a row mean that the process is lost; the pauses between add up to about half a minute. */
const PATIENCE = 20

interface JobPlace {
  readonly way: JobWay
  readonly clock: Clock
  readonly logger: Logger
  readonly folder: string
  /** Where its output goes on this machine. */
  readonly log: string
}

export interface FollowedJob extends ProcessHandle {
  /** Asks no more unless somebody waits; the job goes on over there. */
  letGo(): void
}

/** Starts `script`, whose standard error says which process it is: `mark NUMBER TIME`. */
export async function startBackgroundJob(
  place: Omit<JobPlace, 'folder'>,
  {
    script,
    mark,
    failure,
  }: { readonly script: string; readonly mark: string; readonly failure: (report: string) => HermesError },
): Promise<Job & { readonly handle: FollowedJob }> {
  const folder = `/tmp/hermes-job-${randomBytes(8).toString('hex')}`
  const { ok, stdout, stderr } = await runScript(place.way, `${startJob(folder, script, 'pieces')}${awaitJob(folder)}`)
  const report = stdout.toString('utf8')
  const said = new RegExp(`^${mark} (\\d+) (\\S+)$`, 'm').exec(report)
  if (!ok || !said) {
    await runScript(place.way, dropJob(folder)).catch(() => undefined)
    throw failure(ok ? report : stderr)
  }
  const far: FarProcess = { pid: Number(said[1]), startTime: said[2]! }
  return { handle: followJob({ ...place, folder }, far.pid), far, job: `${far.pid} ${folder}` }
}

/** Follows a job that an earlier program started; `job` is what {@link startBackgroundJob} called it. */
export function followAgain(place: Omit<JobPlace, 'folder'>, job: string): FollowedJob {
  const [pid, folder = ''] = job.split(' ')
  return followJob({ ...place, folder }, Number(pid))
}

/** Asks now and then what is new: soon after something happened or when somebody waits, else every two seconds. */
function followJob(place: JobPlace, pid: number): FollowedJob {
  const { way, clock, logger, folder, log } = place
  const reader = new JobReader(way, clock, { folder, position: sizeOf(log), tidy: false, tries: 1 })
  let timer: NodeJS.Timeout | null = null
  let pauseMs = FIRST_PAUSE_MS
  let failures = 0
  let isOver = false
  let isHeld = false
  let isLeft = false
  let isAsking = false
  let isInputOpen = true
  let pieces = 0
  let sent: Promise<unknown> = Promise.resolve()
  const listeners: ((exitCode: number | null, signal: string | null) => void)[] = []

  const plan = () => {
    if (timer) clearTimeout(timer)
    timer = null
    if (isOver || isAsking || (isLeft && !isHeld)) return
    timer = setTimeout(() => void ask(), pauseMs)
    if (!isHeld) timer.unref()
  }
  const soon = () => {
    pauseMs = FIRST_PAUSE_MS
    plan()
  }
  const end = (exitCode: number | null) => {
    isOver = true
    for (const listener of listeners) listener(exitCode, null)
    void runScript(way, dropJob(folder)).catch(() => undefined)
  }
  const ask = async () => {
    isAsking = true
    try {
      const { output, isOver: isLast, exitCode } = await reader.next(0)
      failures = 0
      if (isOver) return
      if (output.length > 0) appendFileSync(log, output)
      pauseMs =
        output.length > 0 ? FIRST_PAUSE_MS : Math.min(pauseMs * 1.5, isHeld ? 4 * FIRST_PAUSE_MS : LAST_PAUSE_MS)
      if (isLast) end(exitCode)
    } catch (error) {
      failures++
      if (isOver) return
      if (failures === PATIENCE || !HermesError.isInstance(error) || !error.retryable) {
        logger.warn('A background process is lost.', { folder, error: errorLine(error) })
        end(null)
      }
    } finally {
      isAsking = false
      plan()
    }
  }
  /** In order, and one at a time. */
  const send = (script: string, input?: Uint8Array) => {
    sent = sent
      .then(() => runScript(way, script, input))
      .catch((error: unknown) => logger.warn('Input did not reach a background process.', { error: errorLine(error) }))
    soon()
  }

  plan()
  return {
    pid,
    onExit: (listener) => void listeners.push(listener),
    write(text) {
      if (isOver || !isInputOpen) return false
      send(feedJob(folder, pieces++), Buffer.from(text))
      return true
    },
    closeInput() {
      if (isInputOpen && !isOver) send(endJobInput(folder))
      isInputOpen = false
    },
    hold(held) {
      isHeld = held
      soon()
    },
    letGo() {
      isLeft = true
      plan()
    },
  }
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size
  } catch {
    return 0
  }
}
