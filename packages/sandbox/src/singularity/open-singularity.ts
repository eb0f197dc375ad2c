import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Logger } from '@hermes/contracts'
import { HermesError, silentLogger } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import type { Mount } from '../docker/container-options.js'
import type { EngineOptions } from '../docker/engine.js'
import { askEngine } from '../docker/engine.js'
import { ProgramHost } from '../remote/program-host.js'
import type { RemoteOptions } from '../remote/remote-environment.js'
import { openRemoteEnvironment } from '../remote/remote-environment.js'
import type { HostClient } from '../remote/remote-host.js'

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

/** An image may have to be fetched and converted. */
const START_LIMIT_MS = 600_000
const ASK_LIMIT_MS = 30_000
/** What engines say that cannot enforce limits for this user. */
const NO_LIMITS = /cgroup/i

interface SingularityHostOptions {
  readonly engine: EngineOptions
  readonly image: string
  readonly mounts: readonly Mount[]
  /** A folder of this machine that is the home directory; without it that is in memory. */
  readonly homeFolder?: string
  readonly cpus: number
  readonly memoryMb: number
  readonly network: boolean
  readonly logger: Logger
}

// The engine gives a command no session of its own, which is what its processes are found by.
const LEAD = '{ command -v setsid >/dev/null 2>&1 && exec setsid /bin/sh -c "$1"; exec /bin/sh -c "$1"; }'
// It hands on the client's own output, which may be a socket; only a pipe or a file can be opened by name.
const LEAD_TO_PIPE = `${LEAD} | cat`

/** An instance of apptainer or singularity, one for each environment; it ends with it, what is in mounted folders stays. */
class SingularityHost extends ProgramHost {
  readonly backend = 'singularity'
  readonly isolated = true
  readonly name: string
  readonly #options: SingularityHostOptions
  /** The number of this program tells later ones whose instance it is. */
  readonly #instance = `hermes-${process.pid}-${randomBytes(4).toString('hex')}`
  #starting: Promise<void> | null = null

  constructor(options: SingularityHostOptions) {
    super()
    this.#options = options
    this.name = `the container of ${options.image}`
  }

  async connect(): Promise<void> {
    this.#starting ??= this.#start()
    await this.#starting
  }

  client(line: string, { lasts = false }: { readonly lasts?: boolean } = {}): HostClient {
    const { program, env } = this.#options.engine
    const command = ['/bin/sh', '-c', lasts ? LEAD : LEAD_TO_PIPE, 'sh', line]
    return { program, args: ['exec', '--cleanenv', '--pwd', '/', `instance://${this.#instance}`, ...command], env }
  }

  failure(exitCode: number | null, stderr: string): HermesError {
    return singularityFailure(exitCode, stderr)
  }

  async close({ keepProcesses }: { readonly keepProcesses: boolean }): Promise<void> {
    if (this.#starting === null || keepProcesses) return
    await this.#starting.catch(() => undefined)
    await askEngine(this.#options.engine, ['instance', 'stop', '--force', this.#instance], ASK_LIMIT_MS)
  }

  async #start(): Promise<void> {
    await this.#stopOrphans()
    const { engine, logger } = this.#options
    let output = await askEngine(engine, this.#startArgs(true), START_LIMIT_MS)
    if (output.exitCode !== 0 && NO_LIMITS.test(output.stderr)) {
      logger.warn('This engine cannot limit processors and memory; the container runs without.', { why: output.stderr })
      output = await askEngine(engine, this.#startArgs(false), START_LIMIT_MS)
    }
    if (output.exitCode !== 0) throw singularityFailure(output.exitCode, output.stderr)
  }

  /** Nothing of this machine is shared but what is mounted: not its home, temporary folders, processes or variables. */
  #startArgs(limits: boolean): string[] {
    const { image, mounts, homeFolder, cpus, memoryMb, network } = this.#options
    return [
      ...['instance', 'start', '--containall', '--cleanenv', '--no-privs', '--writable-tmpfs'],
      ...(homeFolder === undefined ? ['--no-home'] : ['--home', `${homeFolder}:/root`]),
      ...(network ? [] : ['--net', '--network', 'none']),
      ...(limits && cpus > 0 ? ['--cpus', String(cpus)] : []),
      ...(limits && memoryMb > 0 ? ['--memory', `${memoryMb}M`] : []),
      ...mounts.flatMap(({ source, target, readOnly }) => ['--bind', `${source}:${target}${readOnly ? ':ro' : ''}`]),
      image,
      this.#instance,
    ]
  }

  /** Instances whose program died without ending them. */
  async #stopOrphans(): Promise<void> {
    const { engine } = this.#options
    const { exitCode, stdout } = await askEngine(engine, ['instance', 'list', '--json'], ASK_LIMIT_MS)
    if (exitCode !== 0) return
    for (const [, name, pid] of stdout.matchAll(/"(hermes-(\d+)-[0-9a-f]{8})"/g)) {
      if (!isAlive(Number(pid))) await askEngine(engine, ['instance', 'stop', '--force', name!], ASK_LIMIT_MS)
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as { code?: unknown }).code === 'EPERM'
  }
}

const CAUSES: readonly { readonly words: RegExp; readonly code: string; readonly line: string }[] = [
  {
    words: /no instance found/i,
    code: 'container_gone',
    line: 'The container was ended by somebody else. Start a new session to get another.',
  },
  {
    words:
      /could not open image|image does not exist|unable to pull|while making image from oci|unauthorized|manifest unknown|no such host|connection refused/i,
    code: 'image_missing',
    line: 'The container image is not there and cannot be fetched. Check its name and the network.',
  },
  {
    words: /user namespace|capability set|setuid|not permitted/i,
    code: 'engine_permission',
    line: 'This machine does not let you start containers: user namespaces are off, or the engine is not set up for them.',
  },
]

/** A failure of apptainer or singularity as one line. */
function singularityFailure(exitCode: number | null, stderr: string): HermesError {
  const last = /(?:FATAL|ERROR):\s+(.+)/.exec(stderr)?.[1] ?? stderr.trim().split('\n').at(-1) ?? ''
  const details = { exitCode, ...(last === '' ? {} : { said: last }) }
  const cause = CAUSES.find(({ words }) => words.test(stderr))
  if (cause) return new HermesError(cause.line, { code: `environment.${cause.code}`, details })
  return new HermesError(`The container engine failed${last === '' ? '' : `: ${last.replace(/\.$/, '')}`}.`, {
    code: 'environment.engine_failed',
    details,
  })
}
