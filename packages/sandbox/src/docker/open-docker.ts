import { join } from 'node:path'
import { silentLogger, systemClock } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import { openRemoteEnvironment, type RemoteOptions } from '../remote/remote-environment.js'
import { reapContainers } from './container.js'
import { type ContainerOptions, containerName } from './container-options.js'
import { DockerHost } from './docker-host.js'
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
