import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { Readable, Writable } from 'node:stream'
import type { AgentEvent } from '@hermes/agent-core'
import { runApp } from '@hermes/runtime/app'

/** The built CLI, as users get it; HERMES_TEST_CLI names another build. */
export const CLI = process.env['HERMES_TEST_CLI'] ?? resolve(import.meta.dirname, '../../apps/cli/dist/bin.js')

const ALWAYS_A_PROCESS = process.env['HERMES_TEST_CLI_PROCESS'] !== undefined

/** How to start it. */
export interface CliOptions {
  readonly home: string
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  /** Piped in, then closed. Default: no input at all. */
  readonly input?: string
}

/** What it printed and how it ended. */
export interface CliResult {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** The environment of a fresh user: nothing of this process but PATH. */
export function cliEnv(options: Pick<CliOptions, 'home' | 'env'>): Record<string, string> {
  const path = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`
  return {
    PATH: path,
    HOME: dirname(options.home),
    HERMES_HOME: options.home,
    TERM: 'xterm',
    LANG: 'C.UTF-8',
    // Each scene has a home of its own, and compiling everything anew for each would double what a start takes.
    NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache'),
    ...options.env,
  }
}

/** Starts the CLI without waiting. */
export function startCli(args: readonly string[], options: CliOptions): ChildProcess {
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd: options.cwd,
    env: cliEnv(options),
    stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  })
  if (options.input !== undefined) child.stdin?.end(options.input)
  return child
}

/** Variables that change Node itself, or the loader. */
const OF_A_PROCESS = /^(?:NODE_|SSL_|LD_|LC_|TMPDIR$|TZ$)/
/** Whether this worker has started the CLI. */
let hasStarted = false

/**
 * Runs the built CLI to its end. The first run of each worker starts it as a user does; later ones call its `main` within this process,
 * in a world of their own, as `bin.js` does: starting Node takes several times longer than what most commands do. Variables that only
 * a process of its own can have start one, and so does every run with `HERMES_TEST_CLI_PROCESS=1`.
 */
export async function runCli(args: readonly string[], options: CliOptions): Promise<CliResult> {
  const isFirst = !hasStarted
  hasStarted = true
  const needsProcess = Object.entries(options.env ?? {}).some(
    ([name, value]) => OF_A_PROCESS.test(name) && process.env[name] !== value,
  )
  if (isFirst || needsProcess || ALWAYS_A_PROCESS) return runCliProcess(args, options)
  return runWithin(args, options)
}

async function runWithin(args: readonly string[], options: CliOptions): Promise<CliResult> {
  const { main } = (await import(resolve(dirname(CLI), 'main.js'))) as { main: Parameters<typeof runApp>[1] }
  const stdout = collect()
  const stderr = collect()
  const host = {
    argv: [process.execPath, CLI, ...args.map(String)],
    env: cliEnv(options),
    execPath: process.execPath,
    exitCode: undefined as number | undefined,
    cwd: () => realpathSync(options.cwd),
    stdin: Readable.from(options.input === undefined ? [] : [Buffer.from(options.input)]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    // Nobody signals a run within this process: what tests signals starts the CLI.
    on: () => host,
    exit: () => undefined,
  }
  await runApp(host as unknown as NodeJS.Process, main)
  return { exitCode: host.exitCode ?? 0, signal: null, stdout: stdout.text(), stderr: stderr.text() }
}

function collect(): { readonly stream: Writable; text(): string } {
  const pieces: Buffer[] = []
  const stream = new Writable({
    write: (piece: Buffer, _encoding, done) => {
      pieces.push(piece)
      done()
    },
  })
  return { stream, text: () => Buffer.concat(pieces).toString() }
}

/** Runs the CLI to its end in a process of its own, for what only a process shows: memory, files left behind, what it loads. */
export async function runCliProcess(args: readonly string[], options: CliOptions): Promise<CliResult> {
  const child = startCli(args, options)
  let stdout = ''
  let stderr = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const [exitCode, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  return { exitCode, signal, stdout, stderr }
}

/** The events of a `--json` run; a last line that was cut by a kill is left out. */
export function parseEvents(stdout: string): AgentEvent[] {
  const lines = stdout.split('\n')
  lines.pop()
  return lines.map((line) => JSON.parse(line) as AgentEvent)
}
