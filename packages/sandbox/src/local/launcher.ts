import { type ChildProcess, spawn } from 'node:child_process'
import type { Writable } from 'node:stream'

/** A program that writes all of its output to one named pipe and reads nothing. */
export interface Launch {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** The named pipe; somebody has its reading end open until {@link Launcher.launch} resolves. */
  readonly output: string
}

/** How a program ended. */
interface LaunchEnd {
  readonly exitCode: number | null
  readonly signal: string | null
}

/** A program that runs. */
export interface Launched {
  readonly pid: number
  /** By SIGKILL where the process that started it is gone, for nobody would learn of its end. */
  readonly exit: Promise<LaunchEnd>
  /** Whether this program waits for its end before it ends itself. True at first. */
  keepAlive(isKept: boolean): void
}

/** The process that starts programs ended before it told of this one, which may run all the same. */
export class LauncherLost extends Error {
  constructor() {
    super('the process that starts programs has ended, and with it the command, which may have begun')
  }
}

/** What the process says of a launch: that it runs, that it ended, or why it cannot be started. */
type Answer = { readonly id: number } & (
  | { readonly pid: number }
  | LaunchEnd
  | { readonly code: string | undefined; readonly message: string }
)

interface Waiting {
  readonly started: (pid: number) => void
  readonly failed: (error: Error) => void
  readonly ended: (end: LaunchEnd) => void
  /** 0 until it runs. */
  pid: number
  isKept: boolean
}

const IDLE_MS = 300_000

// Descriptor 4 is the orphan guard's, see there; a launch has it as 3. Without the program that asks, nothing is launched: of a pipe that
// nobody reads the first end cannot be opened. The second one is for a reader that goes just then: without any, the third would be waited for without end,
// and the guard's descriptor kept open. Only the third has no O_NONBLOCK, which a program would inherit.
const SCRIPT = `
const { spawn } = require('node:child_process')
const { closeSync, constants, openSync } = require('node:fs')
const failed = (id, { code, message }) => process.send({ id, code, message })
process.on('disconnect', () => process.exit())
process.on('message', ({ id, program, args, cwd, env, output }) => {
  const ends = []
  const open = (flags) => ends[ends.push(openSync(output, flags)) - 1]
  try {
    open(constants.O_WRONLY | constants.O_NONBLOCK)
    open(constants.O_RDONLY | constants.O_NONBLOCK)
    const end = open(constants.O_WRONLY)
    const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', end, end, 4] })
    child.once('error', (error) => failed(id, error))
    child.once('exit', (exitCode, signal) => process.send({ id, exitCode, signal }))
    if (child.pid !== undefined) process.send({ id, pid: child.pid })
  } catch (error) {
    failed(id, error)
  } finally {
    for (const end of ends) closeSync(end)
  }
})
process.send({ id: 0, pid: process.pid })
`

/**
 * A small process that starts programs for this one. To start a program the kernel copies how the memory of a process is laid out, and Node waits
 * until the copy was given a processor: for a process of 200 MB that is several times as long as for one of 50. Each launch is the leader of a session, as
 * it is otherwise. Ends after five minutes without a launch, and with this program.
 */
export class Launcher {
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, Waiting>()
  readonly #idle: NodeJS.Timeout
  #launches = 0
  #isReady = false
  #isClosed = false

  /** `channel`: the orphan guard's, for those that are launched. */
  constructor(channel: Writable) {
    this.#child = spawn(process.execPath, ['-e', SCRIPT], {
      cwd: '/',
      detached: true,
      env: { PATH: '/usr/bin:/bin' },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc', channel],
    })
    this.#child.on('message', (answer) => this.#hear(answer as Answer))
    this.#child.on('error', () => this.#lost())
    this.#child.on('disconnect', () => this.#lost())
    this.#child.unref()
    this.#child.channel?.unref()
    this.#idle = setTimeout(() => this.close(), IDLE_MS).unref()
  }

  /** Whether it can be asked. Until it runs, and once it is gone, programs are started without it. */
  get isReady(): boolean {
    return this.#isReady && !this.#isClosed && this.#child.connected
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Resolves once the program runs. @throws LauncherLost, and what starting it throws, with the system's `code`. */
  launch(launch: Launch): Promise<Launched> {
    const id = ++this.#launches
    this.#idle.refresh()
    const end = Promise.withResolvers<LaunchEnd>()
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        started: (pid) => {
          waiting.pid = pid
          resolve({ pid, exit: end.promise, keepAlive: (isKept) => this.#keep(waiting, isKept) })
        },
        failed: reject,
        ended: end.resolve,
        pid: 0,
        isKept: true,
      }
      this.#waiting.set(id, waiting)
      this.#child.channel?.ref()
      this.#child.send({ id, ...launch }, (error) => error && this.#lost())
    })
  }

  /** Nothing more is launched; what runs is still waited for. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#idle)
    if (this.#waiting.size === 0 && this.#child.connected) this.#child.disconnect()
  }

  #hear(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id)
    if (answer.id === 0) this.#isReady = true
    if (!waiting) return
    if ('pid' in answer) {
      waiting.started(answer.pid)
      return
    }
    this.#waiting.delete(answer.id)
    if ('message' in answer) waiting.failed(Object.assign(new Error(answer.message), { code: answer.code }))
    else waiting.ended(answer)
    this.#keepChannel()
    if (this.#isClosed) this.close()
  }

  /** What was asked for may run all the same: started once more by somebody else it would run twice. */
  #lost(): void {
    this.#isClosed = true
    clearTimeout(this.#idle)
    for (const { pid, failed, ended } of this.#waiting.values()) {
      endGroup(pid)
      failed(new LauncherLost())
      ended({ exitCode: null, signal: 'SIGKILL' })
    }
    this.#waiting.clear()
  }

  #keep(waiting: Waiting, isKept: boolean): void {
    waiting.isKept = isKept
    this.#keepChannel()
  }

  #keepChannel(): void {
    const isKept = [...this.#waiting.values()].some((waiting) => waiting.isKept)
    isKept ? this.#child.channel?.ref() : this.#child.channel?.unref()
  }
}

function endGroup(leader: number): void {
  try {
    if (leader > 0) process.kill(-leader, 'SIGKILL')
  } catch {
    // It has ended.
  }
}
