import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

const here = import.meta.dirname

/** A process that appends to a session of the store at `path`. */
export interface Writer {
  readonly process: ChildProcessByStdio<null, Readable, null>
  /** What it has printed so far. */
  readonly lines: readonly string[]
  /** Resolves once `count` lines are printed; rejects when it ends before. */
  printed(count: number): Promise<void>
  /** Resolves once it has ended and its output is read. */
  readonly ended: Promise<void>
}

/** Starts one; `count` 0 goes on until it is killed, `path` may be a url. */
export function startWriter(options: {
  path: string
  sessionId: string
  count: number
  journal?: 'wal' | 'delete'
}): Writer {
  const { path, sessionId, count, journal = 'wal' } = options
  return startScript('append-loop.mjs', [path, sessionId, `${count}`, journal])
}

/** Starts a script of this folder that uses the sources; `env` is added to the environment. */
export function startScript(name: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Writer {
  const child = spawn(
    process.execPath,
    ['--conditions=@hermes/source', `--import=${here}/../../../testkit/src/__fixtures__/load-sources.mjs`, `${here}/${name}`, ...args],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...env } },
  )
  const lines: string[] = []
  const waiting: (() => void)[] = []
  const reader = createInterface(child.stdout)
  const wake = () => {
    for (const check of waiting) check()
  }
  reader.on('line', (line) => {
    lines.push(line)
    wake()
  })
  let isOver = false
  const ended = new Promise<void>((resolve) => {
    reader.on('close', () => {
      isOver = true
      wake()
    })
    child.on('close', () => resolve())
  })
  const printed = (wanted: number) =>
    new Promise<void>((resolve, reject) => {
      const check = () => {
        if (lines.length >= wanted) resolve()
        else if (isOver) reject(new Error(`The writer ended after ${lines.length} lines: ${lines.join(' | ')}`))
      }
      waiting.push(check)
      check()
    })
  return { process: child, lines, printed, ended }
}
