import { realpathSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { runApp } from '@hermes/runtime/app'

/** With `HERMES_TEST_CLI_PROCESS=1` nothing runs within the process of the tests. */
export const ALWAYS_A_PROCESS = process.env['HERMES_TEST_CLI_PROCESS'] !== undefined

/** What a program that runs within this process is started with. */
export interface Within {
  /** The file that users start; its `main` lies beside it. */
  readonly program: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly stdin: Readable
  readonly stdout: Writable
  readonly stderr: Writable
}

/** A program that runs within this process. */
export interface RunningWithin {
  /** Has it hear a signal, as a process would. */
  signal(name: NodeJS.Signals): void
  /** Resolves with its exit code once it has ended; rejects where it could not be loaded. */
  readonly ended: Promise<number>
}

/**
 * Runs a built app within this process, in a world of its own, as its `bin.js` does: starting Node and loading the app takes several times
 * longer than most of what tests ask of it.
 */
export function startWithin({ program, args, env, cwd, stdin, stdout, stderr }: Within): RunningWithin {
  const handlers = new Map<NodeJS.Signals, (() => void)[]>()
  const host = {
    argv: [process.execPath, program, ...args.map(String)],
    env,
    execPath: process.execPath,
    exitCode: undefined as number | undefined,
    cwd: () => realpathSync(cwd),
    stdin,
    stdout,
    stderr,
    on: (name: NodeJS.Signals, handler: () => void) => {
      handlers.set(name, [...(handlers.get(name) ?? []), handler])
      return host
    },
    exit: () => undefined,
  }
  const run = async () => {
    const { main } = (await import(resolve(dirname(program), 'main.js'))) as { main: Parameters<typeof runApp>[1] }
    await runApp(host as unknown as NodeJS.Process, main)
    for (const stream of new Set([stdout, stderr])) stream.end()
    return host.exitCode ?? 0
  }
  return {
    signal: (name) => {
      for (const handler of handlers.get(name) ?? []) handler()
    },
    ended: run(),
  }
}
