import { randomBytes } from 'node:crypto'
import { type Clock, HermesError } from '@hermes/contracts'
import type { RemoteStream, StreamListener } from '../remote/remote-host.js'
import { RemoteProcessReader, type RemoteProcessWay } from './remote-process-reader.js'
import { startRemoteProcess } from './remote-process-scripts.js'

/** How long one question may wait over there, in twentieths of a second: services cut longer ones off. */
const WAIT_TICKS = 200
/** How often a question is put before the command counts as lost; the pauses between add up to three seconds. */
const TRIES = 4

/** Runs `script` as a job and tells its output as it comes. Most commands are one request: it starts the job and brings all of it. */
export function remoteProcessStream(
  way: RemoteProcessWay,
  clock: Clock,
  script: string,
  input: string,
  listener: StreamListener,
): RemoteStream {
  const folder = `/tmp/hermes-job-${randomBytes(8).toString('hex')}`
  const reader = new RemoteProcessReader(way, clock, { folder, position: 0, tidy: true, tries: TRIES })
  let isStopped = false
  let isHeard = true
  const follow = async () => {
    let news = await reader.next(WAIT_TICKS, startRemoteProcess(folder, script, 'whole'), Buffer.from(input))
    for (;;) {
      if (isHeard) listener.onOutput(news.output)
      if (news.isOver || isStopped) break
      news = await reader.next(WAIT_TICKS)
    }
    listener.onClose(lost(way.name))
  }
  const closed = follow().catch((error: unknown) => listener.onClose(asFailure(error, way)))
  return {
    closed,
    stop: () => {
      isStopped = true
    },
    leave: () => {
      isHeard = false
    },
  }
}

function asFailure(error: unknown, way: RemoteProcessWay): HermesError {
  return HermesError.isInstance(error) ? error : way.failure(null, String(error))
}

function lost(name: string): HermesError {
  return new HermesError(
    `A command in ${name} ended without a word: the sandbox was stopped, or its processes killed.`,
    {
      code: 'environment.connection_lost',
      retryable: true,
    },
  )
}
