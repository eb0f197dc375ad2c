import { randomBytes } from 'node:crypto'
import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HermesError, type Logger } from '@hermes/contracts'
import { REGISTER } from '../shell-script.js'
import { bubblewrapArgs } from './bubblewrap-args.js'
import { prepareCache } from './caches.js'
import { findBubblewrap } from './find-bubblewrap.js'
import type { IsolationSupport } from './isolation-support.js'
import { NamespaceHolder } from './namespace-holder.js'
import { type IsolationOptions, isHidden, planPlaces } from './plan.js'
import { seatbeltProfile } from './seatbelt.js'

/** One program to start: what is run, with what. */
export interface Started {
  readonly program: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** Folders of the environment. */
export interface WorkingFolders {
  /** Ours alone. */
  readonly scratch: string
  /** Where the program leaves its state; nothing in it is to be trusted. */
  readonly writable: string
}

/** How to start an isolated program. */
export interface IsolatedProgram extends Started {
  /** What it gets as file descriptors 4, 5 and so on. */
  readonly descriptors: readonly number[]
  /** To be called once it was started, or could not be. */
  release(): void
}

/** See {@link Isolation.wrap}. */
export type Isolate = (asked: Started, folders: WorkingFolders) => Promise<IsolatedProgram>

interface IsolationSettings {
  readonly cwd: string
  readonly home: string
  readonly temp: readonly string[]
  readonly outputDir: string
  readonly isolation: IsolationOptions
  readonly support: IsolationSupport
  readonly logger: Logger
  readonly platform: NodeJS.Platform
  /** The `PATH` of the environment, without what commands have made of it. */
  readonly path: () => string
}

/** 3 is the orphan guard's. */
const [USER_DESCRIPTOR, PID_DESCRIPTOR, ARGS_DESCRIPTOR] = [4, 5, 6]
const CLEAN_ENV = { PATH: '/usr/local/bin:/usr/bin:/bin' }

/** Holds the programs of one environment to what they may touch: by bubblewrap on Linux, by sandbox-exec on macOS. */
export class Isolation {
  readonly #settings: IsolationSettings
  readonly #bubblewrap = findBubblewrap()
  readonly #holder: NamespaceHolder
  #caches: Readonly<Record<string, string>> | null = null

  constructor(settings: IsolationSettings) {
    this.#settings = settings
    this.#holder = new NamespaceHolder(this.#bubblewrap ?? 'bwrap')
  }

  /**
   * How to start `asked`. The bounds are drawn by a program that sees none of the variables
   * an earlier command may have set: one of them could have it load foreign code first.
   * @throws HermesError `environment.no_isolation` when isolation is required and cannot be had.
   */
  async wrap(asked: Started, folders: WorkingFolders): Promise<IsolatedProgram> {
    const plain = { ...asked, descriptors: [], release: () => undefined }
    const { platform, isolation, support, logger } = this.#settings
    const isRequired = isolation.required ?? true
    const why = support.why()
    if (why !== null) {
      if (isRequired) throw noIsolation(why)
      return plain
    }
    const network = isolation.network ?? true
    try {
      if (platform === 'linux') return await this.#bubblewrapped(asked, folders, network)
      const { places, env } = this.#bounds(asked, folders)
      const profile = seatbeltProfile(places, { network })
      return { ...plain, env, program: '/usr/bin/sandbox-exec', args: ['-p', profile, asked.program, ...asked.args] }
    } catch (error) {
      if (isRequired || !HermesError.isInstance(error)) throw error
      support.failed(error.message)
      logger.warn('Commands run without isolation.', { why: error.message })
      return plain
    }
  }

  /** Whether commands that are held do not see `path`, links followed. */
  hides(path: string, folders: WorkingFolders): boolean {
    const { outputDir, path: programs } = this.#settings
    return isHidden(
      planPlaces({ ...this.#settings, ...folders, cache: join(outputDir, 'cache'), path: programs() }),
      path,
    )
  }

  async close(keepProcesses: boolean): Promise<void> {
    await this.#holder.close(keepProcesses)
  }

  #bounds(asked: Started, folders: WorkingFolders) {
    const { outputDir, home } = this.#settings
    const cache = join(outputDir, 'cache')
    this.#caches ??= prepareCache({ cache, home, settings: outputDir })
    return {
      places: planPlaces({ ...this.#settings, ...folders, cache, path: this.#settings.path() }),
      env: { ...this.#caches, ...asked.env },
    }
  }

  async #bubblewrapped(asked: Started, folders: WorkingFolders, network: boolean): Promise<IsolatedProgram> {
    if (this.#bubblewrap === null) throw noIsolation('bubblewrap (bwrap) is not installed')
    const held = await this.#holder.open()
    const descriptors = [held.user, held.pid]
    const release = () => {
      for (const descriptor of descriptors) closeSync(descriptor)
    }
    try {
      const { places, env } = this.#bounds(asked, folders)
      const namespaces = { user: USER_DESCRIPTOR!, pid: PID_DESCRIPTOR! }
      descriptors.push(openArgs(bubblewrapArgs(places, { network, namespaces, env }), folders.scratch))
    } catch (error) {
      release()
      throw error
    }
    // The number of the group is told from out here: in there processes are counted anew.
    const bubblewrap = [this.#bubblewrap, '--args', String(ARGS_DESCRIPTOR), '--', asked.program, ...asked.args]
    return { program: '/bin/sh', args: ['-c', REGISTER, 'sh', ...bubblewrap], env: CLEAN_ENV, descriptors, release }
  }
}

/** Arguments go through a file without a name: variables among them are nobody's business. */
function openArgs(args: readonly string[], scratch: string): number {
  const path = join(scratch, `args-${randomBytes(4).toString('hex')}`)
  try {
    writeFileSync(path, args.map((arg) => `${arg}\0`).join(''), { mode: 0o600 })
    return openSync(path, 'r')
  } finally {
    rmSync(path, { force: true })
  }
}

function noIsolation(why: string): HermesError {
  return new HermesError(`Commands cannot be isolated on this machine: ${why}.`, { code: 'environment.no_isolation' })
}
