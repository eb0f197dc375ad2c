import { randomBytes } from 'node:crypto'
import { closeSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HermesError, type Logger } from '@hermes/contracts'
import { codeFolder } from '../local/code-folder.js'
import type { Bounds } from './bounds.js'
import { bubblewrapArgs, CHECK_ROOTS, isMounted } from './bubblewrap-args.js'
import { prepareCache } from './caches.js'
import { findBubblewrap } from './find-bubblewrap.js'
import { ForeignSockets } from './foreign-sockets.js'
import {
  type Isolate,
  type IsolatedProgram,
  notIsolated,
  type Started,
  type WorkingFolders,
} from './isolated-program.js'
import type { IsolationSupport } from './isolation-support.js'
import { NamespaceHolder } from './namespace-holder.js'
import { defaultLimits } from './namespace-limits.js'
import { isHidden, type Place, planPlaces, workingFolders } from './plan.js'
import { seatbeltProfile } from './seatbelt.js'
import { StartMark } from './start-mark.js'

interface IsolationSettings {
  /** Closed with the isolation. */
  readonly bounds: Bounds
  readonly outputDir: string
  readonly support: IsolationSupport
  readonly logger: Logger
  readonly platform: NodeJS.Platform
  /** The `PATH` of the environment, without what commands have made of it. */
  readonly path: () => string
}

/** 3 is the orphan guard's, or tells that a program was started. */
const [USER_DESCRIPTOR, PID_DESCRIPTOR, ARGS_DESCRIPTOR, FIRST_ROOT_DESCRIPTOR] = [4, 5, 6, 7] as const
const NO_ISOLATION = 'environment.no_isolation'
const CLEAN_ENV = { PATH: '/usr/local/bin:/usr/bin:/bin' }

/** Holds the programs of one environment to what they may touch: by bubblewrap on Linux, by sandbox-exec on macOS. */
export class Isolation {
  readonly #settings: IsolationSettings
  readonly #bubblewrap = findBubblewrap()
  readonly #holder: NamespaceHolder
  readonly #sockets = new ForeignSockets()
  #caches: Readonly<Record<string, string>> | null = null
  /** Where the last command was held: to look anew takes some milliseconds. */
  #last: readonly Place[] | null = null

  constructor(settings: IsolationSettings) {
    this.#settings = settings
    const { limits, cgroups, network = true } = settings.bounds.isolation
    this.#holder = new NamespaceHolder(this.#bubblewrap ?? 'bwrap', {
      limits: { ...defaultLimits(), ...limits },
      loopback: network !== true,
      cgroups,
      inTurn: settings.support.inTurn,
    })
  }

  /**
   * How to start `requested`. The bounds are drawn by a program that sees none of the variables
   * an earlier command may have set: one of them could have it load foreign code first.
   * @throws HermesError `environment.no_isolation` when isolation is required and cannot be had; `environment.isolation_lost` when it could be
   * had until now; `environment.changed` when a folder that
   * it may write is not where it was.
   */
  async wrap(...[requested, folders, options = {}]: Parameters<Isolate>): Promise<IsolatedProgram> {
    const plain = notIsolated(requested)
    const { platform, bounds, support, logger } = this.#settings
    const { isolation } = bounds
    const isRequired = isolation.required ?? true
    const why = support.why()
    if (why !== null) {
      if (isRequired) throw noIsolation(why)
      return plain
    }
    const network = isolation.network !== false && options.network !== 'off'
    const { outlives = false, readable = [] } = options
    try {
      if (platform === 'linux') return await this.#bubblewrapped(requested, folders, { network, outlives, readable })
      const { places, env } = this.#bounds(requested, folders, readable)
      const profile = seatbeltProfile(places, { network })
      return {
        ...plain,
        env,
        program: '/usr/bin/sandbox-exec',
        args: ['-p', profile, requested.program, ...requested.args],
      }
    } catch (error) {
      if (isRequired || !HermesError.isInstance(error) || error.code !== NO_ISOLATION) throw error
      support.failed(error.message)
      logger.warn('Commands run without isolation.', { why: error.message })
      // It was judged as one that is isolated: what runs without is judged otherwise.
      throw new HermesError(
        `${error.message} It did not run. Run it again: commands are judged and run without from now on.`,
        {
          code: 'environment.isolation_lost',
          cause: error,
        },
      )
    }
  }

  /** Whether the last command, or without one the next, does not see `path`, links followed. */
  hides(path: string, folders: WorkingFolders): boolean {
    return isHidden((this.#last ??= this.#places(folders)), path)
  }

  async close(keepProcesses: boolean): Promise<void> {
    await this.#holder.close(keepProcesses)
    this.#settings.bounds.close()
  }

  #bounds(requested: Started, folders: WorkingFolders, readable: readonly string[]) {
    const { bounds, outputDir } = this.#settings
    bounds.check()
    this.#caches ??= prepareCache({ cache: join(outputDir, 'cache'), home: bounds.home, settings: outputDir })
    const places = this.#places(folders, readable)
    this.#last = places
    return { places, env: { ...this.#caches, ...requested.env } }
  }

  #places(folders: WorkingFolders, readable: readonly string[] = []): readonly Place[] {
    const { bounds, outputDir, path } = this.#settings
    const [sockets, namespace] = [this.#sockets, this.#holder.processes]
    // Made where they are not there yet: a running command would see those that are made later.
    for (const folder of workingFolders(outputDir)) mkdirSync(folder, { recursive: true, mode: 0o700 })
    const code = bounds.temp.flatMap((folder) => codeFolder(folder) ?? [])
    return planPlaces({
      ...{
        code,
        bounds,
        readable,
        outputDir,
        ...folders,
        cache: join(outputDir, 'cache'),
        path: path(),
        sockets,
        namespace,
      },
    })
  }

  async #bubblewrapped(
    requested: Started,
    folders: WorkingFolders,
    {
      network,
      outlives,
      readable,
    }: { readonly network: boolean; readonly outlives: boolean; readonly readable: readonly string[] },
  ): Promise<IsolatedProgram> {
    if (this.#bubblewrap === null) throw noIsolation('bubblewrap (bwrap) is not installed')
    if (outlives) await this.#holder.keep()
    const held = await this.#holder.open()
    this.#settings.support.worked?.()
    const own = [held.user, held.pid]
    const release = () => {
      for (const descriptor of own.splice(0)) closeSync(descriptor)
    }
    try {
      const { places, env } = this.#bounds(requested, folders, readable)
      // One that nothing mounts would be open inside, and with it everything around it.
      const roots = places.flatMap((place) =>
        isMounted(place) && place.type === 'write' && place.descriptor != null ? [place] : [],
      )
      const isBound = this.#settings.support.bindsDescriptors?.() ?? false
      const shared = network ? null : held.loopback
      const args = bubblewrapArgs(places, {
        home: this.#settings.bounds.home,
        network: network || shared !== null,
        env,
        namespaces: { user: USER_DESCRIPTOR, pid: PID_DESCRIPTOR },
        descriptorOf: (path) => {
          const at = isBound ? roots.findIndex((root) => root.path === path) : -1
          return at === -1 ? null : FIRST_ROOT_DESCRIPTOR + at
        },
      })
      own.push(openArgs(args, folders.scratch))
      const [program = '', ...launch] = [
        ...held.enter,
        ...(shared ?? []),
        this.#bubblewrap,
        '--args',
        String(ARGS_DESCRIPTOR),
        '--',
      ]
      const check = isBound ? [] : ['/bin/sh', '-c', CHECK_ROOTS, 'sh', ...roots.map(({ path }) => path), '--']
      const all = [...launch, ...check, requested.program, ...requested.args]
      const descriptors = [...own, ...roots.map(({ descriptor }) => descriptor!)]
      const stopped = () => this.#holder.stopped(held)
      const mark = new StartMark(folders.scratch)
      return { program, args: all, env: CLEAN_ENV, descriptors, isConfined: true, mark, stopped, release }
    } catch (error) {
      release()
      throw error
    }
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
  return new HermesError(`Commands cannot be isolated on this machine: ${why}.`, { code: NO_ISOLATION })
}
