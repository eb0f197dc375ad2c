import { constants } from 'node:os'
import type { Clock } from '@hermes/contracts'
import type { RemoteProcessId } from '../processes/process-record.js'
import { killScript } from './kill-script.js'
import type { RemoteHost, RemoteStream } from './remote-host.js'
import { runScript } from './run-script.js'

/** How long a command that was told to stop may take to say that it began. */
const START_LIMIT_MS = 3_000
/** How long the other side may take to end a tree, which takes two seconds when it resists. */
const KILL_LIMIT_MS = 5_000
/** How long its end may take to arrive once its processes are gone. */
const END_LIMIT_MS = 1_000

/** How a command over there ended. */
export type RemoteEnd =
  | {
      readonly type: 'ended'
      readonly exitCode: number | null
      readonly signal: string | null
      /** What the shell saved; empty when it did not come to it. */
      readonly state: Buffer
      /** The shell's directory, or the nearest above it that exists. */
      readonly nearest: string
      /** Its session, when processes are left in it. */
      readonly left: RemoteProcessId | null
    }
  /** Its directory is missing; nothing ran. */
  | { readonly type: 'gone'; readonly nearest: string }
  | { readonly type: 'stopped'; readonly why: 'timeout' | 'abort' }

interface RemoteRun {
  readonly host: RemoteHost
  readonly script: string
  readonly mark: string
  readonly input: string
  readonly onOutput: (chunk: Buffer) => void
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly clock: Clock
  /** Told of a stream that stays because processes left behind still hold its output. */
  readonly onStream: (stream: RemoteStream) => void
}

/**
 * Runs one command over there and resolves once it has ended and its output is read. Timeout and abort end the whole tree first.
 * @throws HermesError what the host makes of its client's failure.
 */
export async function runRemoteCommand(run: RemoteRun): Promise<RemoteEnd> {
  const started = Promise.withResolvers<RemoteProcessId | null>()
  const ended = Promise.withResolvers<RemoteEnd>()
  const output = listen(run, started.resolve, ended.resolve)
  const stream = run.host.stream(run.script, run.input, {
    onOutput: (chunk) => output.push(chunk),
    onClose: (why) => {
      started.resolve(null)
      ended.reject(why)
    },
  })
  run.onStream(stream)
  ended.promise.catch(() => undefined)
  try {
    const end = await watch(run, started.promise, ended.promise)
    if (end.type === 'stopped') stream.stop()
    return end
  } finally {
    stream.leave()
  }
}

function listen(
  run: RemoteRun,
  start: (process: RemoteProcessId) => void,
  end: (end: RemoteEnd) => void,
): MarkedOutput {
  let session: RemoteProcessId | null = null
  let words: readonly string[] = []
  const state: Buffer[] = []
  return new MarkedOutput(run.mark, {
    onOutput: run.onOutput,
    onState: (chunk) => state.push(chunk),
    onMark: (output) => {
      if (output[0] === 'start') start((session = { pid: Number(output[1]), startTime: output[2] ?? '-' }))
      if (output[0] === 'gone') end({ type: 'gone', nearest: output.slice(1).join(' ') })
      if (output[0] === 'end') words = output
      if (output[0] === 'done') end(endOf(words, Buffer.concat(state), session))
    },
  })
}

function endOf(words: readonly string[], state: Buffer, session: RemoteProcessId | null): RemoteEnd {
  const status = Number(words[1])
  // A shell that was killed saved nothing; one that passes on the status of a killed child did.
  const signal = state.length === 0 && status > 128 ? signalName(status - 128) : null
  const exitCode = signal === null ? status : null
  return {
    type: 'ended',
    exitCode,
    signal,
    state,
    nearest: words.slice(3).join(' '),
    left: words[2] === '1' ? session : null,
  }
}

const signalName = (number: number): string | null =>
  Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? null

async function watch(
  run: RemoteRun,
  started: Promise<RemoteProcessId | null>,
  ended: Promise<RemoteEnd>,
): Promise<RemoteEnd> {
  const settled = new AbortController()
  const abort = Promise.withResolvers<'abort'>()
  const onAbort = () => abort.resolve('abort')
  run.signal.addEventListener('abort', onAbort, { once: true })
  if (run.signal.aborted) onAbort()
  const after = <T>(ms: number, value: T) =>
    run.clock.sleep(ms, settled.signal).then(
      () => value,
      () => new Promise<never>(() => undefined),
    )
  try {
    const first = await Promise.race([ended, after(run.timeoutMs, 'timeout' as const), abort.promise])
    if (typeof first !== 'string') return first
    const session = await Promise.race([started, after(START_LIMIT_MS, null)])
    // A side that does not answer any more keeps nobody waiting: the processes there end with the connection or are lost.
    const kill = session && runScript(run.host, killScript([session])).catch(() => null)
    await Promise.race([kill, after(KILL_LIMIT_MS, null)])
    await Promise.race([ended.catch(() => null), after(END_LIMIT_MS, null)])
    return { type: 'stopped', why: first }
  } finally {
    settled.abort()
    run.signal.removeEventListener('abort', onAbort)
  }
}

/** What a command's stream is made of: its own output, and what our script says around it. */
interface MarkedListener {
  onOutput(chunk: Buffer): void
  /** `words` follow the mark, as `start 12 345`. What comes after `end` and before `done` goes to `onState`. */
  onMark(words: readonly string[]): void
  onState(chunk: Buffer): void
}

/** Tells a command's output from marks, which are `NUL mark words NUL`; a chunk may end within one. */
class MarkedOutput {
  readonly #prefix: Buffer
  readonly #listener: MarkedListener
  #rest = Buffer.alloc(0)
  #phase: 'before' | 'running' | 'ended' = 'before'

  constructor(mark: string, listener: MarkedListener) {
    this.#prefix = Buffer.from(`\0${mark} `)
    this.#listener = listener
  }

  push(chunk: Buffer): void {
    let data = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    for (;;) {
      const at = data.indexOf(this.#prefix)
      const close = at === -1 ? -1 : data.indexOf(0, at + this.#prefix.length)
      if (at === -1 || close === -1) {
        const keep = at === -1 ? data.length - partOf(this.#prefix, data) : at
        this.#emit(data.subarray(0, keep))
        this.#rest = Buffer.from(data.subarray(keep))
        return
      }
      this.#emit(data.subarray(0, at))
      this.#mark(data.toString('utf8', at + this.#prefix.length, close))
      data = data.subarray(close + 1)
    }
  }

  #mark(text: string): void {
    const words = text.split(' ')
    if (words[0] === 'start') this.#phase = 'running'
    if (words[0] === 'end') this.#phase = 'ended'
    this.#listener.onMark(words)
  }

  #emit(data: Buffer): void {
    // What comes before the start is the talk of a login shell's start-up files.
    if (data.length === 0 || this.#phase === 'before') return
    if (this.#phase === 'running') this.#listener.onOutput(data)
    else this.#listener.onState(data)
  }
}

/** How many bytes at the end of `data` may be the beginning of `prefix`. */
function partOf(prefix: Buffer, data: Buffer): number {
  for (let length = Math.min(prefix.length - 1, data.length); length > 0; length--) {
    if (data.subarray(data.length - length).equals(prefix.subarray(0, length))) return length
  }
  return 0
}
