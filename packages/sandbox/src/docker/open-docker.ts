import { join } from 'node:path'
import type { Clock, HermesError, Logger } from '@hermes/contracts'
import { errorLine, silentLogger, systemClock } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import type { Lease } from '../processes/leases.js'
import { takeLease } from '../processes/leases.js'
import { ProgramHost } from '../remote/program-host.js'
import type { RemoteOptions } from '../remote/remote-environment.js'
import { openRemoteEnvironment } from '../remote/remote-environment.js'
import type { HostClient } from '../remote/remote-host.js'
import type { ContainerOptions, Limits } from './container-options.js'
import { containerName, labelFilters, MANAGED_LABEL, runArgs } from './container-options.js'
import type { EngineOptions } from './engine.js'
import { askEngine, engineFailure } from './engine.js'

const PROBE_LIMIT_MS = 5_000

/** What {@link openDockerEnvironment} needs. Nothing is read from this program's own environment. */
export interface DockerOptions extends Omit<RemoteOptions, 'cwd'>, ContainerOptions {
  /** `docker`, `podman`, or a path. Default: `docker`. */
  readonly program?: string
  /** Variables of the engine's client itself, for example `PATH`, `HOME` and `DOCKER_HOST`; the container does not get them. */
  readonly clientEnv: Readonly<Record<string, string>>
  /** Where the shell starts in the container. Default `/workspace`. */
  readonly cwd?: string
  /** Whether the container stays for whoever opens the same task next; else its last user on this machine removes it. Default `true`. */
  readonly persistent?: boolean
}

/**
 * Opens an environment in a container of docker or podman: the one there is for the task and profile, else a new hardened one.
 * Containers of ours that ended a while ago are removed on the way.
 * @throws HermesError `environment.engine_unavailable`, `engine_permission`, `engine_timeout`, `engine_incomplete`, `image_missing`, `client_missing`,
 * `invalid_image`, `invalid_mount`, `unusable`.
 */
export async function openDockerEnvironment(options: DockerOptions): Promise<Environment> {
  const {
    clock = systemClock,
    logger = silentLogger,
    persistent = true,
    idleSeconds = 300,
    cwd = '/workspace',
  } = options
  const engine = { program: options.program ?? 'docker', env: options.clientEnv }
  const container = containerOptions(options)
  const leaseDir = join(options.outputDir, 'users', containerName(container))
  const host = new DockerHost({ engine, container, persistent, leaseDir, clock, logger })
  const [environment] = await Promise.all([
    openRemoteEnvironment(host, { ...options, cwd, login: false }),
    reapContainers(engine, { afterMs: idleSeconds * 2000, clock, logger }),
  ])
  return environment
}

/** The options that make the container what it is; the others may differ between those who share it. */
function containerOptions(options: DockerOptions): ContainerOptions {
  const { image, task, profile, mounts, cpus, memoryMb, diskMb, maxProcesses, shmSize, network, user, snap } = options
  const { extraArgs, idleSeconds } = options
  const all = {
    image,
    task,
    profile,
    mounts,
    cpus,
    memoryMb,
    diskMb,
    maxProcesses,
    shmSize,
    network,
    user,
    snap,
    extraArgs,
    idleSeconds,
  }
  return Object.fromEntries(
    Object.entries(all).filter(([, value]) => value !== undefined),
  ) as unknown as ContainerOptions
}

/** Whether an engine can be used: its version, or one line that says why not. Asks for five seconds at most. */
export async function probeDocker(options: {
  readonly program?: string
  readonly clientEnv: Readonly<Record<string, string>>
}): Promise<{ readonly ready: true; readonly version: string } | { readonly ready: false; readonly why: string }> {
  const engine = { program: options.program ?? 'docker', env: options.clientEnv }
  try {
    const output = await askEngine(engine, ['version', '--format', '{{.Server.Version}}'], PROBE_LIMIT_MS)
    if (output.exitCode === 0) return { ready: true, version: output.stdout.trim() }
    return { ready: false, why: engineFailure(output.exitCode, output.stderr).message }
  } catch (error) {
    return { ready: false, why: (error as Error).message }
  }
}

const DEFAULT_IDLE_SECONDS = 300
const NEW_ONE =
  'The container is a new one: processes of the one before are gone, and files outside the folders that are kept.'

interface DockerHostOptions {
  readonly engine: EngineOptions
  readonly container: ContainerOptions
  /** Whether the container is left for the next one who opens it; else it goes with its last user on this machine. */
  readonly persistent: boolean
  /** Where its users on this machine are counted. */
  readonly leaseDir: string
  readonly clock: Clock
  readonly logger: Logger
}

/** A container, made or found on first use and started again when it stopped for lack of work. */
class DockerHost extends ProgramHost {
  readonly backend = 'docker'
  readonly isolated = true
  readonly name: string
  readonly #options: DockerHostOptions
  #id: string | null = null
  #usedMs = 0
  #opening: Promise<void> | null = null
  #lease: Lease | null = null
  /** The one there was last. */
  #known: string | null = null
  #notice: string | null = null

  constructor(options: DockerHostOptions) {
    super()
    this.#options = options
    this.name = `the container of ${options.container.image}`
  }

  async connect(): Promise<void> {
    const { clock, container } = this.#options
    const idleMs = (container.idleSeconds ?? DEFAULT_IDLE_SECONDS) * 1000
    const before = this.#usedMs
    this.#usedMs = clock.now()
    // It may have stopped by itself only after a while without commands.
    if (this.#id !== null && this.#usedMs - before < idleMs / 2) return
    this.#opening ??= this.#open().finally(() => {
      this.#opening = null
    })
    await this.#opening
  }

  client(line: string): HostClient {
    const { program, env } = this.#options.engine
    return { program, args: ['exec', '--interactive', this.#id ?? '', '/bin/sh', '-c', line], env }
  }

  takeNotice(): string | null {
    const notice = this.#notice
    this.#notice = null
    return notice
  }

  failure(exitCode: number | null, stderr: string): HermesError {
    const failure = engineFailure(exitCode, stderr)
    // It was removed or stopped from outside: the next command looks for it anew.
    if (failure.code === 'environment.container_gone') this.#id = null
    return failure
  }

  async close({ keepProcesses }: { readonly keepProcesses: boolean }): Promise<void> {
    await this.#opening?.catch(() => undefined)
    const { engine, persistent } = this.#options
    const isLast = this.#lease?.release() ?? true
    if (persistent || keepProcesses || this.#id === null || !isLast) return
    await removeContainer(engine, this.#id)
  }

  async #open(): Promise<void> {
    const { engine, container, logger, persistent, leaseDir } = this.#options
    if (!persistent) this.#lease ??= takeLease(leaseDir)
    this.#id = await ensureContainer(engine, container, logger)
    if (this.#known !== null && this.#known !== this.#id) this.#notice = NEW_ONE
    this.#known = this.#id
  }
}

/** An image may have to be pulled. */
const RUN_LIMIT_MS = 600_000
const ASK_LIMIT_MS = 30_000
/** What engines say that cannot enforce limits. */
const NO_DISK_LIMIT = /storage-opt|storage opt|pquota|project quota/i
const NO_LIMITS = /cgroup|NanoCPUs|cpu cfs|memory limit|cpu controller|Minimum memory/i

/**
 * The running container for `options`: one that is there already, else a new one. Returns its id.
 * @throws HermesError `environment.engine_*`, `environment.image_missing`.
 */
async function ensureContainer(engine: EngineOptions, options: ContainerOptions, logger: Logger): Promise<string> {
  const there = await findContainer(engine, options)
  if (there === null) return createContainer(engine, options, logger)
  if (!there.isRunning) await ask(engine, ['start', there.id])
  return there.id
}

async function findContainer(engine: EngineOptions, options: ContainerOptions) {
  const format = '{{.ID}} {{.State}}'
  const output = await ask(engine, ['ps', '--all', '--no-trunc', ...labelFilters(options), '--format', format])
  const [id, state] = output.trim().split('\n')[0]!.split(' ')
  return id ? { id, isRunning: state === 'running' } : null
}

async function createContainer(engine: EngineOptions, options: ContainerOptions, logger: Logger): Promise<string> {
  const run = (limits: Limits) => askEngine(engine, runArgs(options, limits), RUN_LIMIT_MS)
  const lacks = async (limits: Limits, why: string) => {
    logger.warn('This container engine cannot enforce all limits; the container runs without.', { limits, why })
    await removeContainer(engine, containerName(options))
    return run(limits)
  }
  let output = await run('all')
  if (output.exitCode !== 0 && NO_DISK_LIMIT.test(output.stderr)) output = await lacks('no-disk', output.stderr.trim())
  if (output.exitCode !== 0 && NO_LIMITS.test(output.stderr)) output = await lacks('none', output.stderr.trim())
  if (output.exitCode === 0) return output.stdout.trim()
  // Another program made it in the meantime.
  const other = /already in use/.test(output.stderr) ? await findContainer(engine, options) : null
  if (other?.isRunning) return other.id
  await removeContainer(engine, containerName(options))
  throw engineFailure(output.exitCode, output.stderr)
}

/** Removes a container with all that is in it; one that is not there is fine. */
async function removeContainer(engine: EngineOptions, id: string): Promise<void> {
  await askEngine(engine, ['rm', '--force', '--volumes', id], ASK_LIMIT_MS)
}

/** Removes containers of ours that ended longer than `afterMs` ago. Running ones are left alone, whoever uses them. */
async function reapContainers(
  engine: EngineOptions,
  { afterMs, clock, logger }: { readonly afterMs: number; readonly clock: Clock; readonly logger: Logger },
): Promise<void> {
  try {
    const filters = ['--filter', `label=${MANAGED_LABEL}=1`, '--filter', 'status=exited']
    const ids = (await ask(engine, ['ps', '--all', '--no-trunc', ...filters, '--format', '{{.ID}}']))
      .split('\n')
      .filter(Boolean)
    if (ids.length === 0) return
    const ends = await ask(engine, ['inspect', '--format', '{{.Id}} {{.State.FinishedAt}}', ...ids])
    for (const line of ends.trim().split('\n')) {
      const [id, ...at] = line.split(' ')
      const endedMs = Date.parse(at.join(' ').replace(/^(\S+) (\S+?)(\.\d+)? ([+-]\d{4}).*$/, '$1T$2$4'))
      if (id && clock.now() - endedMs > afterMs) await removeContainer(engine, id)
    }
  } catch (error) {
    logger.warn('Containers that ended were not removed.', { error: errorLine(error) })
  }
}

async function ask(engine: EngineOptions, args: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await askEngine(engine, args, ASK_LIMIT_MS)
  if (exitCode !== 0) throw engineFailure(exitCode, stderr)
  return stdout
}
