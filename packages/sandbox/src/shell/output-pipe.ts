import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, constants, openSync, renameSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { fileError } from '../file-error.js'
import { namesIn } from './shell-files.js'

const MADE_AT_ONCE = 32

/** The two ends of one command's output. */
export interface OutputPipe {
  /** What the child gets as standard output; a file descriptor, or `pipe` for one that Node makes. */
  readonly childEnd: number | 'pipe'
  /** The reading end; `null` when Node makes it. */
  readonly reader: Readable | null
  /** To be called once the child runs: drops our copy of its end. */
  started(): void
  /** Gives the pipe back. `drained` says that nobody writes to it any more, so that the next command can have it. */
  release(drained: boolean): void
  /** Gives a pipe back that no child got. */
  discard(): void
}

const nodePipe: OutputPipe = {
  childEnd: 'pipe',
  reader: null,
  started: () => undefined,
  release: () => undefined,
  discard: () => undefined,
}

/**
 * Real pipes for command output. Node connects children by sockets, which on Linux cannot be opened again, so that
 * `echo … > /dev/stderr` or `tee /dev/stdout` would fail; named pipes cost nothing per command. They are made many at once, for later programs
 * too; one that a command had is used by commands of the same shell alone, since something may still have it open.
 */
export class OutputPipes {
  readonly #directory: string
  readonly #unused: string
  readonly #free: string[] = []
  #made = 0
  #usable = process.platform === 'linux'

  /** `unused` is where those lie that nobody had yet. */
  constructor(directory: string, unused: string) {
    this.#directory = directory
    this.#unused = unused
  }

  async acquire(): Promise<OutputPipe> {
    const path = this.#free.pop() ?? (await this.#make())
    if (path === null) return nodePipe
    const { readEnd, childEnd } = openEnds(path)
    const reader = new Socket({ fd: readEnd, readable: true, writable: false })
    return {
      childEnd,
      reader,
      started: () => closeSync(childEnd),
      release: (drained) => {
        if (drained) this.#free.push(path)
        else rmSync(path, { force: true })
      },
      discard: () => {
        closeSync(childEnd)
        reader.destroy()
        this.#free.push(path)
      },
    }
  }

  async #make(): Promise<string | null> {
    if (!this.#usable) return null
    const taken = this.#take()
    if (taken !== null) return taken
    const names = Array.from({ length: MADE_AT_ONCE }, () => randomBytes(8).toString('hex'))
    try {
      await promisify(execFile)('mkfifo', ['-m', '600', ...names], {
        cwd: this.#unused,
        env: { PATH: '/usr/bin:/bin' },
      })
    } catch {
      // No mkfifo, or a file system without named pipes: sockets do for nearly everything.
      this.#usable = false
    }
    return this.#take()
  }

  /** Whoever moves one here has it: others find it gone. */
  #take(): string | null {
    const path = join(this.#directory, `output-${++this.#made}`)
    for (const name of namesIn(this.#unused)) {
      try {
        renameSync(join(this.#unused, name), path)
        return path
      } catch {
        // Somebody else took it.
      }
    }
    return null
  }
}

function openEnds(path: string): { readonly readEnd: number; readonly childEnd: number } {
  try {
    // The reading end first, and without waiting: opening a named pipe blocks until both ends are open.
    const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    return { readEnd, childEnd: openSync(path, constants.O_WRONLY) }
  } catch (error) {
    throw fileError(error, 'open', path)
  }
}
