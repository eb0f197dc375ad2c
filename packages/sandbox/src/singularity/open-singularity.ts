import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { HermesError, silentLogger } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import type { Mount } from '../docker/container-options.js'
import { askEngine } from '../docker/engine.js'
import { openRemoteEnvironment, type RemoteOptions } from '../remote/remote-environment.js'
import { SingularityHost } from './singularity-host.js'

const PROBE_LIMIT_MS = 5_000

/** What {@link openSingularityEnvironment} needs. Nothing is read from this program's own environment. */
export interface SingularityOptions extends RemoteOptions {
  /** A file (`.sif`), a folder, or an address such as `docker://debian:12`. */
  readonly image: string
  /** `apptainer`, `singularity`, or a path. Default: `apptainer`. */
  readonly program?: string
  /** Variables of the engine's client itself, for example `PATH` and `HOME`; the container does not get them. */
  readonly clientEnv: Readonly<Record<string, string>>
  /** Default none. Folders of the image are writable in memory, for as long as the environment is open. */
  readonly mounts?: readonly Mount[]
  /** A folder of this machine that is the home directory there. Absolute. Default: none, the home is in memory. */
  readonly homeFolder?: string
  /** Cores, where the user may limit them. Default 0, no limit. */
  readonly cpus?: number
  /** Where the user may limit it. Default 0, no limit. */
  readonly memoryMb?: number
  /** Default `true`; without it the container has only its loopback. */
  readonly network?: boolean
}

/**
 * Opens an environment in a container of its own of apptainer or singularity, which ends with it. The engines refuse to do so for
 * root on machines without all capabilities.
 * @throws HermesError `environment.image_missing`, `engine_permission`, `engine_failed`, `client_missing`, `invalid_image`.
 */
export async function openSingularityEnvironment(options: SingularityOptions): Promise<Environment> {
  const { program = 'apptainer', clientEnv, logger = silentLogger, image, homeFolder } = options
  if (image === '' || image.startsWith('-')) {
    throw new HermesError(`"${image}" is no name of a container image.`, { code: 'environment.invalid_image' })
  }
  const { mounts = [], cpus = 0, memoryMb = 0, network = true } = options
  const engine = { program, env: clientEnv }
  const limits = { cpus, memoryMb, network }
  const home = homeFolder === undefined ? {} : { homeFolder }
  const host = new SingularityHost({ engine, image, mounts, ...limits, ...home, logger })
  // Processes of one container are nobody's business in the next: their numbers mean others there.
  const outputDir = join(options.outputDir, randomBytes(4).toString('hex'))
  return openRemoteEnvironment(host, { ...options, cwd: options.cwd ?? '/tmp', outputDir, login: false })
}

/** Whether the engine can be used: its version, or one line that says why not. Asks for five seconds at most. */
export async function probeSingularity(options: {
  readonly program?: string
  readonly clientEnv: Readonly<Record<string, string>>
}): Promise<{ readonly ready: true; readonly version: string } | { readonly ready: false; readonly why: string }> {
  const engine = { program: options.program ?? 'apptainer', env: options.clientEnv }
  try {
    const { exitCode, stdout, stderr } = await askEngine(engine, ['--version'], PROBE_LIMIT_MS)
    return exitCode === 0 ? { ready: true, version: stdout.trim() } : { ready: false, why: stderr.trim() }
  } catch (error) {
    return { ready: false, why: (error as Error).message }
  }
}
