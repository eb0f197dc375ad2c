import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, constants, mkdirSync, openSync, renameSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { fileError } from '../file-error.js'
import { namesIn, pipesFolder } from './shell-files.js'

const MADE_AT_ONCE = 32
const MOST_MADE_AT_ONCE = 256
const ATTEMPTS = 8

/** The two ends of one command's output. */
export interface OutputPipe {
  /** What the child gets as standard output; a file descriptor, or `pipe` for one that Node makes. */
  readonly childEnd: number | 'pipe'
  /** By which another process opens the child's end; `null` for one that Node makes. */
  readonly path: string | null
  /** The reading end; `null` when Node makes it. */
  readonly reader: Readable | null
  /** To be called once the child runs: drops our copy of its end. */
  started(): void
  /** Gives the pipe back. `drained` says that nobody writes to it any more, so that the next command can have it. */
  release(drained: boolean): void
  /** Closes both ends of a pipe whose child is not known. `isUnused` says that there is none, so that the next command can have it. */
  discard(isUnused: boolean): void
}

const nodePipe: OutputPipe = {
  childEnd: 'pipe',
  path: null,
  reader: null,
  started: () => undefined,
  release: () => undefined,
  discard: () => undefined,
}

/** Named pipes in one folder that no command had yet, for every shell and every program that uses the folder; whoever moves one away has it. */
export class UnusedPipes {
  readonly folder: string
  #usable = process.platform === 'linux'
  #making: Promise<void> | null = null
  #waiting = 0

  /** The folder is made once pipes are. */
  constructor(folder: string) {
    this.folder = folder
  }

  /** Moves one to `path`, in the same file system; `false` where there are none to be had. */
  async take(path: string): Promise<boolean> {
    if (!this.#usable) return false
    if (this.#move(path)) return true
    // Others may take all that were made meanwhile, but hardly every time.
    for (let attempt = 0; attempt < ATTEMPTS && this.#usable; attempt++) {
      this.#waiting++
      this.#making ??= this.#make().finally(() => {
        this.#making = null
      })
      await this.#making.finally(() => this.#waiting--)
      if (this.#move(path)) return true
    }
    return false
  }

  /** One start of a program for all that wait. */
  async #make(): Promise<void> {
    // Those that want one in the same moment have come by then.
    await setImmediate()
    const count = Math.min(MOST_MADE_AT_ONCE, Math.max(MADE_AT_ONCE, this.#waiting))
    const names = Array.from({ length: count }, () => randomBytes(8).toString('hex'))
    try {
      mkdirSync(this.folder, { recursive: true, mode: 0o700 })
      await promisify(execFile)('mkfifo', ['-m', '600', ...names], {
        cwd: this.folder,
        env: { PATH: '/usr/bin:/bin' },
      })
    } catch (error) {
      // No mkfifo, or a file system without named pipes: sockets do for nearly everything. What the machine has none left of comes back.
      const { code } = error as { readonly code?: unknown }
      this.#usable = typeof code === 'string' && code !== 'ENOENT'
    }
  }

  #move(path: string): boolean {
    for (const name of namesIn(this.folder)) {
      try {
        renameSync(join(this.folder, name), path)
        return true
      } catch {
        // Somebody else took it.
      }
    }
    return false
  }
}

/** The unused pipes of a program's environments: those that draw no bounds share one folder, the others have one beside their outputs. */
export class SharedPipes {
  readonly #outputDir: string
  readonly #byFolder = new Map<string, UnusedPipes>()

  /** `outputDir`: beside whose outputs the shared ones lie. */
  constructor(outputDir: string) {
    this.#outputDir = outputDir
  }

  /** Of an environment with this folder for outputs; `isOpen`: it draws no bounds. */
  of(outputDir: string, { isOpen }: { readonly isOpen: boolean }): UnusedPipes {
    const folder = pipesFolder(isOpen ? this.#outputDir : outputDir)
    const found = this.#byFolder.get(folder) ?? new UnusedPipes(folder)
    this.#byFolder.set(folder, found)
    return found
  }
}

/**
 * Real pipes for command output. Node connects children by sockets, which on Linux cannot be opened again, so that
 * `echo … > /dev/stderr` or `tee /dev/stdout` would fail; named pipes cost nothing per command. They are made many at once, for later programs
 * too; one that a command had is used by commands of the same shell alone, since something may still have it open.
 */
export class OutputPipes {
  readonly #directory: string
  readonly #unused: UnusedPipes
  readonly #free: string[] = []
  #made = 0

  /** `directory`: where those lie that commands of one shell have. */
  constructor(directory: string, unused: UnusedPipes) {
    this.#directory = directory
    this.#unused = unused
  }

  async acquire(): Promise<OutputPipe> {
    const path = this.#free.pop() ?? (await this.#another())
    if (path === null) return nodePipe
    const { readEnd, childEnd } = openEnds(path)
    const reader = new Socket({ fd: readEnd, readable: true, writable: false })
    const release = (drained: boolean) => {
      if (drained) this.#free.push(path)
      else rmSync(path, { force: true })
    }
    return {
      childEnd,
      path,
      reader,
      started: () => closeSync(childEnd),
      release,
      discard: (isUnused) => {
        closeSync(childEnd)
        reader.destroy()
        release(isUnused)
      },
    }
  }

  async #another(): Promise<string | null> {
    const path = join(this.#directory, `output-${++this.#made}`)
    return (await this.#unused.take(path)) ? path : null
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
