import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname, resolve } from 'node:path'
import type { AgentEvent } from '@hermes/agent-core'

/** The built CLI, as users get it; HERMES_TEST_CLI names another build. */
export const CLI = process.env['HERMES_TEST_CLI'] ?? resolve(import.meta.dirname, '../../apps/cli/dist/bin.js')

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

/** Runs the CLI to its end. */
export async function runCli(args: readonly string[], options: CliOptions): Promise<CliResult> {
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
