import { execFile } from 'node:child_process'
import { closeSync, constants, openSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { fileError } from '../file-error.js'

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
 * `echo … > /dev/stderr` or `tee /dev/stdout` would fail; named pipes made once and used again cost nothing per command.
 */
export class OutputPipes {
  readonly #directory: string
  readonly #free: string[] = []
  #made = 0
  #usable = process.platform === 'linux'

  constructor(directory: string) {
    this.#directory = directory
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
    const path = join(this.#directory, `output-${++this.#made}`)
    try {
      await promisify(execFile)('mkfifo', ['-m', '600', path], { env: { PATH: '/usr/bin:/bin' } })
      return path
    } catch {
      // No mkfifo, or a file system without named pipes: sockets do for nearly everything.
      this.#usable = false
      return null
    }
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
