import { spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { type Clock, HermesError } from '@hermes/contracts'
import { systemCode } from '../file-error.js'
import type { StartMark } from '../isolation/start-mark.js'
import { LauncherLost } from '../local/launcher.js'
import type { OrphanGuard } from '../local/orphan-guard.js'
import type { ProcessHandle } from '../processes/process-handle.js'
import { groupExists, killTree, killWriters } from '../processes/process-tree.js'
import { commandTooLong } from './command-text.js'
import type { OutputPipe } from './output-pipe.js'

const DRAIN_LIMIT_MS = 250
/** How long an unkillable process (one stuck in the kernel) is waited for after SIGKILL. */
const REAP_LIMIT_MS = 1_000

/** One foreground process and what to do with its output. */
interface CommandRun {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** A file descriptor; without it standard input is empty. */
  readonly stdin: number | null
  readonly pipe: OutputPipe
  readonly onOutput: (chunk: Buffer) => void
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly guard: OrphanGuard
  /** What the child gets as file descriptors 4, 5 and so on. */
  readonly descriptors: readonly number[]
  /** See `IsolatedProgram`: the guard is told of its group from here. */
  readonly isConfined: boolean
  readonly mark: StartMark | null
  /** Stops waiting for the process. */
  readonly yieldSignal?: AbortSignal | undefined
}

export interface CommandEnd {
  readonly exitCode: number | null
  readonly signal: string | null
  /** Why the tree was killed; `null` when the command ended by itself, or goes on. */
  readonly stopped: 'timeout' | 'abort' | null
  /** The process that goes on because nobody waits for it any more; its output still comes. */
  readonly goesOn?: ProcessHandle
  /** The process group, when the command left processes in it. */
  readonly remainingGroup: number | null
}

/**
 * Runs one process in a session of its own and resolves once it has ended and what it wrote is read; processes it left in the
 * background do not hold it up. Timeout and abort end the whole tree first.
 * @throws HermesError `environment.command_too_long`, `environment.spawn_failed`.
 */
export async function runCommand(run: CommandRun): Promise<CommandEnd> {
  const child = await start(run)
  const { pid: group, exit } = child
  const output = run.pipe.reader ?? child.stdout!
  const drained = reading(output, run.onOutput)
  run.pipe.started()
  const finish = async () => {
    await drained.quiet()
    const left = group !== undefined && groupExists(group)
    if (group !== undefined && !left) run.guard.remove(group)
    run.pipe.release(drained.ended())
    leave(output)
    return left ? group : null
  }
  let isLeft = false
  try {
    const first = await watch(run, group, exit)
    if (first === 'yield') {
      isLeft = true
      const handle = detached(child, output, exit.finally(finish))
      return { exitCode: null, signal: null, stopped: null, remainingGroup: null, goesOn: handle }
    }
    const { stopped, end } = first
    return { ...end, stopped, remainingGroup: await finish() }
  } catch (error) {
    if (!isLeft) {
      run.pipe.release(drained.ended())
      leave(output)
    }
    throw error
  }
}

/** A child whose end somebody may look for later; from now on it keeps nobody alive. */
function detached(child: Child, output: Readable, exit: Child['exit']): ProcessHandle {
  const stream = output as { ref?: () => void; unref?: () => void }
  const keepAlive = (isKept: boolean) => {
    child.keepAlive(isKept)
    isKept ? stream.ref?.() : stream.unref?.()
  }
  keepAlive(false)
  exit.catch(() => undefined)
  return {
    pid: child.pid ?? 0,
    onExit: (listener) =>
      void exit.then(
        ({ exitCode, signal }) => listener(exitCode, signal),
        () => listener(null, null),
      ),
    write: () => false,
    closeInput: () => undefined,
    keepAlive,
  }
}

/** The process of a command. */
interface Child {
  /** Missing where it could not be started; `exit` says why. */
  readonly pid: number | undefined
  /** What Node reads of it; `null` when the output goes elsewhere. */
  readonly stdout: Readable | null
  /** @throws HermesError `environment.command_too_long`, `environment.spawn_failed`. */
  readonly exit: Promise<Pick<CommandEnd, 'exitCode' | 'signal'>>
  /** Whether this program waits for its end before it ends itself. */
  keepAlive(isKept: boolean): void
}

async function start(run: CommandRun): Promise<Child> {
  try {
    return (await launched(run)) ?? spawned(run)
  } catch (error) {
    const isLost = error instanceof LauncherLost
    try {
      if (isLost) await endLost(run)
    } finally {
      run.pipe.discard(!isLost)
    }
    throw spawnFailed(error, run.program)
  }
}

/** By the process that starts programs, where there is one and the command has nothing open that only this program has. */
async function launched(run: CommandRun): Promise<Child | null> {
  const { program, args, cwd, env, guard, pipe } = run
  const isPlain = !run.isConfined && run.stdin === null && run.descriptors.length === 0
  const launcher = isPlain && pipe.path !== null ? guard.launcher() : null
  if (launcher === null || pipe.path === null) return null
  const child = await launcher.launch({ program, args, cwd, env, output: pipe.path })
  guard.begun(child.pid)
  return { ...child, stdout: null }
}

/** What was started without a word of its number is known by its output, and must not go on: nobody waits for it. */
async function endLost({ pipe, clock, guard }: CommandRun): Promise<void> {
  if (pipe.path === null) return
  for (const group of await killWriters(pipe.path, { clock })) guard.remove(group)
}

function spawned(run: CommandRun): Child {
  const child = spawn(run.program, run.args, {
    cwd: run.cwd,
    env: run.isConfined ? { ...run.env, ...run.guard.mark } : run.env,
    detached: true,
    stdio: [
      run.stdin ?? 'ignore',
      run.pipe.childEnd,
      typeof run.pipe.childEnd === 'number' ? run.pipe.childEnd : 'ignore',
      (run.isConfined ? run.mark?.descriptor : run.guard.channel()) ?? 'ignore',
      ...run.descriptors,
    ],
  })
  if (child.pid !== undefined) run.isConfined ? run.guard.add(child.pid) : run.guard.begun(child.pid)
  const exit = new Promise<Pick<CommandEnd, 'exitCode' | 'signal'>>((resolve, reject) => {
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }))
    child.once('error', (error) => reject(spawnFailed(error, run.program)))
  })
  const keepAlive = (isKept: boolean) => (isKept ? child.ref() : child.unref())
  return { pid: child.pid, stdout: child.stdout, exit, keepAlive }
}

/** Waits for the end, or brings it about at the time limit or on abort. */
async function watch(
  run: CommandRun,
  group: number | undefined,
  exit: Promise<Pick<CommandEnd, 'exitCode' | 'signal'>>,
): Promise<'yield' | { stopped: CommandEnd['stopped']; end: Pick<CommandEnd, 'exitCode' | 'signal'> }> {
  const settled = new AbortController()
  const abort = Promise.withResolvers<'abort' | 'yield'>()
  const onAbort = () => abort.resolve('abort')
  const onYield = () => abort.resolve('yield')
  run.signal.addEventListener('abort', onAbort, { once: true })
  // What could not be started does not go on either; its error is on the way.
  const yieldSignal = group === undefined ? undefined : run.yieldSignal
  yieldSignal?.addEventListener('abort', onYield, { once: true })
  if (run.signal.aborted) onAbort()
  if (yieldSignal?.aborted) onYield()
  const timeout = run.clock.sleep(run.timeoutMs, settled.signal).then(
    () => 'timeout' as const,
    () => new Promise<never>(() => undefined),
  )
  try {
    const first = await Promise.race([exit, timeout, abort.promise])
    if (typeof first !== 'string') return { stopped: null, end: first }
    if (first === 'yield') return first
    if (group !== undefined) await killTree(group, { clock: run.clock })
    const stuck = run.clock.sleep(REAP_LIMIT_MS, settled.signal).then(
      () => ({ exitCode: null, signal: 'SIGKILL' }),
      () => new Promise<never>(() => undefined),
    )
    return { stopped: first, end: await Promise.race([exit, stuck]) }
  } finally {
    settled.abort()
    run.signal.removeEventListener('abort', onAbort)
    yieldSignal?.removeEventListener('abort', onYield)
  }
}

/** Reads `output`, and tells when everything that was in the pipe has been read although somebody still holds it open. */
function reading(output: Readable, onOutput: (chunk: Buffer) => void) {
  let ended = false
  let chunks = 0
  output.on('data', (chunk: Buffer) => {
    chunks++
    onOutput(chunk)
  })
  output.once('close', () => (ended = true))
  output.once('end', () => (ended = true))
  output.on('error', () => undefined)
  return {
    ended: () => ended,
    async quiet(): Promise<void> {
      const deadline = performance.now() + DRAIN_LIMIT_MS
      for (let idle = 0; !ended && idle < 3 && performance.now() < deadline; ) {
        const before = chunks
        // Each turn of the event loop reads what the pipe holds.
        await new Promise((resolve) => setImmediate(resolve))
        idle = chunks === before ? idle + 1 : 0
      }
    },
  }
}

/** What background children still write is read and dropped, so that they neither block nor get SIGPIPE; it keeps nobody alive. */
function leave(output: Readable): void {
  output.removeAllListeners('data')
  output.resume()
  ;(output as { unref?: () => void }).unref?.()
}

function spawnFailed(error: unknown, program: string): HermesError {
  if (systemCode(error) === 'E2BIG') {
    return commandTooLong(error)
  }
  return new HermesError(`Cannot start the shell ${program}: ${(error as Error).message}.`, {
    code: 'environment.spawn_failed',
    details: { program, system: systemCode(error) },
    cause: error,
  })
}
