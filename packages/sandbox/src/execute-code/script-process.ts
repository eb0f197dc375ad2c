import type { ChildProcess } from 'node:child_process'
import { PassThrough, type Readable } from 'node:stream'
import type { Clock } from '@hermes/contracts'
import { type Isolate, type IsolatedProgram, notIsolated } from '../isolation/isolated-program.js'
import { startHeld, untilStarted } from '../isolation/start-held.js'
import type { OrphanGuard } from '../local/orphan-guard.js'
import { groupExists, killMarked, killTree, processStartTime } from '../processes/process-tree.js'
import { spawnHeld } from '../programs/spawn-held.js'

const DRAIN_LIMIT_MS = 250

// The limit is in KiB and binds the program and all it starts. File descriptor 3 is the orphan guard's: see there.
const LAUNCH = `{ printf '+ %s %s\\n' "$$" "$HERMES_RPC_SOCKET" >&3; } 2>/dev/null
[ "$1" = 0 ] || ulimit -v "$1" 2>/dev/null
shift
exec "$@" 3>&-`

/** One program to start, and what it may use. */
interface ScriptLaunch {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Bytes of address space; 0 is no limit. */
  readonly maxMemoryBytes: number
  /** Its own folder, which it may write. */
  readonly folder: string
  readonly guard: OrphanGuard
  readonly isolate: Isolate | null
  readonly clock: Clock
}

/** How a program ended. */
export interface ScriptEnd {
  readonly exitCode: number | null
  readonly signal: string | null
}

/** A program in a session of its own, its two outputs apart. */
export class ScriptProcess {
  readonly stdout: Readable
  readonly stderr: Readable
  /** Resolves when the program itself has ended. */
  readonly exit: Promise<ScriptEnd>
  readonly #pipes: readonly Readable[]
  readonly #group: number
  readonly #launch: ScriptLaunch
  /** Numbers of processes are used again. */
  readonly #startTime: string | undefined
  #isSettled = false

  private constructor(child: ChildProcess, launch: ScriptLaunch, { isConfined }: Pick<IsolatedProgram, 'isConfined'>) {
    this.#pipes = [child.stdout!, child.stderr!]
    // Node throws away what an ended child wrote before anybody listened, and a held one is waited for first.
    const [stdout, stderr] = this.#pipes as readonly [Readable, Readable]
    this.stdout = isConfined ? stdout.pipe(new PassThrough()) : stdout
    this.stderr = isConfined ? stderr.pipe(new PassThrough()) : stderr
    this.#group = child.pid!
    this.#launch = launch
    this.#startTime = processStartTime(this.#group) ?? undefined
    this.exit = new Promise((resolve) => {
      child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }))
    })
  }

  /** @throws HermesError `environment.spawn_failed`, `environment.no_isolation`. */
  static async start(launch: ScriptLaunch): Promise<ScriptProcess> {
    const limit = String(Math.ceil(launch.maxMemoryBytes / 1024))
    const requested = { program: '/bin/sh', args: ['-c', LAUNCH, 'sh', limit, ...launch.argv], env: launch.env }
    const { cwd, guard } = launch
    const settings = { cwd, guard, stdin: 'ignore', socket: launch.env['HERMES_RPC_SOCKET'] } as const
    const folders = { scratch: launch.folder, writable: launch.folder }
    const { result } = await startHeld(
      async () => (await launch.isolate?.(requested, folders)) ?? notIsolated(requested),
      async (program) => {
        const process = new ScriptProcess(await spawnHeld(program, settings), launch, program)
        await untilStarted(program, process.exit, launch.clock)
        return process
      },
    )
    return result
  }

  /** Ends the program and all it started; resolves once they are gone. */
  async stop(graceMs: number): Promise<void> {
    if (!this.#isSettled) await this.#kill(graceMs)
  }

  /** Ends what an ended program left behind, daemons on Linux too, and waits until what was written is read. */
  async settle(): Promise<void> {
    if (this.#isSettled) return
    this.#isSettled = true
    if (groupExists(this.#group)) await this.#kill()
    const { HERMES_RPC_SOCKET: socket } = this.#launch.env
    if (socket) await killMarked(`HERMES_RPC_SOCKET=${socket}`, this.#launch)
    this.#launch.guard.remove(this.#group)
    const settled = new AbortController()
    const closed = Promise.all([closing(this.stdout), closing(this.stderr)])
    const limit = this.#launch.clock.sleep(DRAIN_LIMIT_MS, settled.signal).catch(() => undefined)
    await Promise.race([closed, limit])
    settled.abort()
    for (const stream of [...this.#pipes, this.stdout, this.stderr]) stream.destroy()
  }

  async #kill(graceMs?: number): Promise<void> {
    const startTime = this.#startTime
    await killTree(this.#group, {
      clock: this.#launch.clock,
      ...(startTime === undefined ? {} : { startTime }),
      ...(graceMs === undefined ? {} : { graceMs }),
    })
  }
}

function closing(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.closed || stream.readableEnded) resolve()
    stream.once('end', resolve)
    stream.once('close', resolve)
    stream.once('error', () => resolve())
  })
}
