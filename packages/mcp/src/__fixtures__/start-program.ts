import { spawn } from 'node:child_process'
import type { RunningProgram } from '@hermes/contracts/environment'

/** Starts a program as an environment does. */
export function startProgram(argv: readonly string[]): RunningProgram {
  const child = spawn(argv[0]!, argv.slice(1), { stdio: 'pipe' })
  const ended = new Promise<{ exitCode: number | null; signal: string | null }>((resolve) => {
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }))
  })
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  return { stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, ended, kill }
}
