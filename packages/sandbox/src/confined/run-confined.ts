import { type ChildProcess, spawn } from 'node:child_process'
import { HermesError } from '@hermes/contracts'
import { createIsolationSupport, type IsolationSupport } from '../isolation/isolation-support.js'
import { BEGUN, confinedArgvs, OUT_OF_MEMORY } from './confined-launch.js'

/** What one run may use. */
interface ConfinedLimits {
  /** Resident memory of the process, Node's own 40 MB included. */
  readonly maxResidentBytes: number
  readonly timeoutMs: number
  /** JSON of the result, in bytes. */
  readonly maxOutputBytes: number
}

/** Work on bytes that somebody else made. */
export interface ConfinedModule extends ConfinedLimits {
  /**
   * A `file:` address. The module exports `confined(bytes, argument)`, whose result, or what its promise resolves to, is JSON. It imports
   * no native code.
   */
  readonly module: string
  readonly bytes: Uint8Array
  readonly argument: string
  /** Abort ends the process and rejects with its reason. */
  readonly signal: AbortSignal
  /** What is known of this machine. Default: a look of its own. */
  readonly support?: IsolationSupport
  /** The bubblewrap that holds the process on Linux; `null` for none. Default: that of the system. */
  readonly bubblewrap?: string | null
}

/** What became of it. `failed`: the module threw, or the process ended in another way. */
type ConfinedResult =
  | { readonly type: 'done'; readonly value: unknown }
  | { readonly type: 'failed' }
  | { readonly type: 'out-of-memory' }
  | { readonly type: 'out-of-time' }
  | { readonly type: 'too-long' }

/**
 * Runs a module on bytes in a Node process of its own: without variables, without leave to write, to start programs or to read anything
 * but code; where bubblewrap or sandbox-exec work also without network, as far as the machine allows. It ends with its limits, and with this process on Linux.
 *
 * @throws HermesError `environment.spawn_failed`.
 */
export async function runConfined(request: ConfinedModule): Promise<ConfinedResult> {
  const { module, signal, timeoutMs, support = createIsolationSupport(), bubblewrap } = request
  signal.throwIfAborted()
  const stopped = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  for (const argv of confinedArgvs(module, request, support, bubblewrap)) {
    const result = await runOnce(argv, request, stopped)
    // What was to hold it failed before it began, so that the next best may.
    if (result !== null) return result
  }
  return { type: 'failed' }
}

/** `null` where the module was not reached. */
async function runOnce(
  [program, ...args]: readonly [string, ...string[]],
  { bytes, signal, maxOutputBytes }: ConfinedModule,
  stopped: AbortSignal,
): Promise<ConfinedResult | null> {
  // A group of its own: who isolates it may be gone before what it starts is.
  const child = spawn(program, args, { cwd: '/', env: {}, stdio: ['pipe', 'pipe', 'pipe'], detached: true })
  const stop = () => killGroup(child)
  stopped.addEventListener('abort', stop, { once: true })
  if (stopped.aborted) stop()
  const output = collect(child, maxOutputBytes)
  // It may end before it has read everything.
  child.stdin!.on('error', () => undefined)
  child.stdin!.end(bytes)
  const error = await ended(child)
  stopped.removeEventListener('abort', stop)
  signal.throwIfAborted()
  if (stopped.aborted) return { type: 'out-of-time' }
  if (error !== null) throw notStarted(program, error)
  return output.hasBegun() ? output.result(child) : null
}

function ended(child: ChildProcess): Promise<Error | null> {
  return new Promise((resolve) => {
    child.once('error', resolve)
    child.once('close', () => resolve(null))
  })
}

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

function collect(
  child: ChildProcess,
  maxBytes: number,
): { readonly hasBegun: () => boolean; readonly result: (child: ChildProcess) => ConfinedResult } {
  const pieces: Buffer[] = []
  let [length, notes, begun] = [0, '', false]
  child.stdout!.on('data', (piece: Buffer) => {
    length += piece.length
    if (length <= maxBytes) pieces.push(piece)
    else killGroup(child)
  })
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    notes = (notes + text).slice(-10_000)
    begun ||= notes.includes(BEGUN)
  })
  return {
    hasBegun: () => begun,
    result: ({ exitCode }) => {
      if (length > maxBytes) return { type: 'too-long' }
      if (exitCode === 0) return { type: 'done', value: JSON.parse(Buffer.concat(pieces).toString()) }
      const wasMemory = notes.includes(OUT_OF_MEMORY) || notes.includes('heap out of memory')
      return { type: wasMemory ? 'out-of-memory' : 'failed' }
    },
  }
}

const notStarted = (program: string, cause: Error): HermesError =>
  new HermesError(`Cannot start ${program}: ${cause.message}.`, { code: 'environment.spawn_failed', cause })
