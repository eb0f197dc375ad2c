import type { Clock, HermesError, Logger } from '@hermes/contracts'
import { type Lease, takeLease } from '../processes/leases.js'
import type { HostClient } from '../remote/host-client.js'
import { ProgramHost } from '../remote/program-host.js'
import { ensureContainer, removeContainer } from './container.js'
import type { ContainerOptions } from './container-options.js'
import { type EngineOptions, engineFailure } from './engine.js'

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
export class DockerHost extends ProgramHost {
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
