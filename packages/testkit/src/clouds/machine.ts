import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** What a command on a machine printed and how it ended. */
interface Ran {
  readonly exitCode: number
  readonly stdout: Buffer
  readonly stderr: Buffer
}

/** What a command is started with. */
interface Order {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd?: string | undefined
  readonly env?: Readonly<Record<string, string>>
  readonly onOutput?: (stream: 'stdout' | 'stderr', chunk: Buffer) => void
}

/**
 * Stands for the machine of a cloud's sandbox: commands really run, on this one, with a folder as home. Stopping it ends all that was ever
 * started there; its folder stays until it is removed, which is what clouds call a persistent file system.
 */
export class Machine {
  readonly home: string
  readonly #id = randomBytes(8).toString('hex')
  #isRunning = true

  constructor(home: string) {
    this.home = home
    mkdirSync(home, { recursive: true })
  }

  get isRunning(): boolean {
    return this.#isRunning
  }

  start(): void {
    this.#isRunning = true
  }

  /** Starts a command; `child` for its input. */
  launch({ program, args, cwd, env = {}, onOutput }: Order) {
    const child = spawn(program, args, {
      cwd: cwd ?? this.home,
      // The mark is how what was started is found, sessions of its own notwithstanding.
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: this.home, ...env, HERMES_TEST_MACHINE: this.#id },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    const output = { stdout: [] as Buffer[], stderr: [] as Buffer[] }
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].on('data', (chunk: Buffer) => {
        output[name].push(chunk)
        onOutput?.(name, chunk)
      })
    }
    child.stdin.on('error', () => undefined)
    const ended = new Promise<Ran>((resolve) => {
      const end = (exitCode: number) =>
        resolve({ exitCode, stdout: Buffer.concat(output.stdout), stderr: Buffer.concat(output.stderr) })
      child.once('error', () => end(127))
      child.once('close', (code) => end(code ?? 137))
    })
    return { child, ended }
  }

  /** Runs a command without input to its end. */
  run(order: Order): Promise<Ran> {
    const { child, ended } = this.launch(order)
    child.stdin.end()
    return ended
  }

  /** Ends every process of the machine at once. */
  stop(): void {
    this.#isRunning = false
    const mark = `HERMES_TEST_MACHINE=${this.#id}`
    // Halted first, or one would still write down how another ended; again, for what was being forked meanwhile.
    const halted = new Set<string>()
    for (let more = true; more; ) {
      const isNew = (pid: string) => /^\d+$/.test(pid) && !halted.has(pid) && environmentOf(pid).includes(mark)
      const found = readdirSync('/proc').filter(isNew)
      for (const pid of found) signal(Number(pid), 'SIGSTOP')
      for (const pid of found) halted.add(pid)
      more = found.length > 0
    }
    for (const pid of halted) signal(Number(pid), 'SIGKILL')
  }

  remove(): void {
    this.stop()
    rmSync(this.home, { recursive: true, force: true })
  }
}

function environmentOf(pid: string): string {
  try {
    return readFileSync(join('/proc', pid, 'environ'), 'latin1')
  } catch {
    return ''
  }
}

function signal(pid: number, name: 'SIGSTOP' | 'SIGKILL'): void {
  try {
    process.kill(pid, name)
  } catch {
    // It ended by itself.
  }
}
