import type {
  BackgroundProcess,
  Environment,
  ExecOptions,
  ExecResult,
  FileStat,
  SpawnOptions,
} from '@hermes/contracts/environment'
import { afterAll, onTestFinished } from 'vitest'
import { testPermit } from './permit.js'

/** A fresh environment, and how to be rid of it. */
export interface EnvironmentUnderTest {
  readonly environment: Environment
  /** Ends everything and removes the files. Called after the last test that uses it; the environment may be closed already. */
  dispose(): Promise<void>
}

/** What the tests of a backend take it from. */
export interface Backend {
  /** An environment that others use too, in an empty folder. */
  readonly shared: () => Promise<Harness>
  /** An environment of its own. */
  readonly create: () => Promise<EnvironmentUnderTest>
  /** Registers a test, or leaves it out. */
  readonly it: (title: string, test: () => Promise<void>) => void
}

/** An environment with permits filled in, as the tests use it. */
export interface Harness {
  readonly environment: Environment
  run(command: string, options?: ExecOptions): Promise<ExecResult>
  start(command: string, options?: SpawnOptions): Promise<BackgroundProcess>
  write(path: string, text: string, options?: Parameters<Environment['write']>[3]): Promise<FileStat>
  read(path: string): Promise<string | null>
  /** Resolves `true` once no process `pid` is left, `false` when it is still there after ten seconds. */
  gone(pid: string): Promise<boolean>
}

/** A fresh environment for one test. */
export async function harness(create: () => Promise<EnvironmentUnderTest>): Promise<Harness> {
  const { environment, dispose } = await create()
  onTestFinished(dispose)
  return withPermits(environment)
}

/**
 * One environment for many tests, opened with the first and closed after the last: opening one (a container, a login) takes longer than
 * most tests do. Each test begins in an empty folder of its own; what it exports stays, so one that needs a shell as new, or closes what it
 * was given, takes {@link harness}.
 */
export function sharedHarness(create: () => Promise<EnvironmentUnderTest>): () => Promise<Harness> {
  let opened: Promise<EnvironmentUnderTest & { readonly root: string }> | undefined
  let tests = 0
  afterAll(async () => (await opened?.catch(() => undefined))?.dispose())
  return async () => {
    opened ??= create().then((made) => ({ ...made, root: made.environment.cwd() }))
    const { environment, root } = await opened
    const made = withPermits(environment)
    const folder = `${root}/test-${++tests}`
    const { exitCode, output } = await made.run(`mkdir '${folder}' && cd '${folder}'`)
    if (exitCode !== 0) throw new Error(`No folder for the test: ${output}`)
    return made
  }
}

function withPermits(environment: Environment): Harness {
  const { backend } = environment
  const run = (command: string, options: ExecOptions = {}) => {
    const permit = testPermit({ type: 'spawn', command, cwd: options.cwd ?? environment.cwd(), backend })
    return environment.exec(permit, command, options)
  }
  return {
    environment,
    run,
    start(command, options = {}) {
      const permit = testPermit({ type: 'spawn', command, cwd: options.cwd ?? environment.cwd(), backend })
      return environment.spawn(permit, command, options)
    },
    write(path, text, options) {
      const permit = testPermit({ type: 'write', path: environment.resolve(path), operation: 'write', backend })
      return environment.write(permit, path, new TextEncoder().encode(text), options)
    },
    async read(path) {
      const bytes = await environment.read(path)
      return bytes && new TextDecoder().decode(bytes)
    },
    async gone(pid) {
      if (!/^\d+$/.test(pid)) throw new Error(`"${pid}" is no process number`)
      // One that ended but is not collected yet is gone too.
      const there = `kill -0 ${pid} 2>/dev/null && ! grep -qs "^State:.Z" /proc/${pid}/status`
      const result = await run(`while ${there}; do sleep 0.02; done`, { timeoutMs: 10_000 })
      return result.exitCode === 0
    },
  }
}
