import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** A process that calls an API with a credential of a pool, once it is told to. */
interface Caller {
  readonly process: ChildProcess
  /** Resolves once it can begin. */
  readonly ready: Promise<void>
  begin(): void
  /** What the call came to; `null` when the process was killed. */
  readonly outcome: Promise<string | null>
}

/** Starts one. */
export function startCaller(...args: readonly string[]): Caller {
  const here = import.meta.dirname
  const options = ['--conditions=@hermes/source', `--import=${here}/../../../testkit/src/__fixtures__/load-sources.mjs`, `${here}/call-api.mjs`, ...args]
  const child = spawn(process.execPath, options, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines: string[] = []
  const ready = Promise.withResolvers<void>()
  createInterface(child.stdout).on('line', (line) => {
    lines.push(line)
    ready.resolve()
  })
  const outcome = once(child, 'close').then(() => lines[1] ?? null)
  return { process: child, ready: ready.promise, outcome, begin: () => void child.stdin.write('go\n') }
}
