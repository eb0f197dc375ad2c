// The supervisor of this machine: where it wants a service described, and what it is told.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { HermesError } from '@hermes/contracts'
import type { Io } from '@hermes/runtime/app'
import { launchdAgent, launchdLabel, type Service, systemdUnit } from './definitions.js'

/** What keeps services going. */
export interface Supervisor {
  readonly file: string
  isInstalled(): Promise<boolean>
  /** Describes the service and has it started now and at each login. @throws HermesError `service.failed` */
  install(service: Service): Promise<void>
  uninstall(): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
}

/** The one of this system; `null` where there is none, as in a container. */
export function supervisorOf(
  io: Pick<Io, 'env' | 'userHome'>,
  name: string,
  platform = process.platform,
): Supervisor | null {
  if (platform === 'linux') return new Systemd(io, name)
  return platform === 'darwin' ? new Launchd(io, name) : null
}

abstract class InFile {
  abstract readonly file: string
  protected readonly env: Readonly<Record<string, string>>

  constructor({ env }: Pick<Io, 'env'>) {
    this.env = env
  }

  async isInstalled(): Promise<boolean> {
    return access(this.file).then(
      () => true,
      () => false,
    )
  }

  protected async write(content: string): Promise<void> {
    await mkdir(dirname(this.file), { recursive: true })
    await writeFile(this.file, content, { mode: 0o600 })
  }

  protected async remove(): Promise<void> {
    await rm(this.file, { force: true })
  }

  /** @throws HermesError `service.failed` with what the program said */
  protected async tell(program: string, ...args: readonly string[]): Promise<void> {
    const child = spawn(program, args, { env: { ...this.env }, stdio: ['ignore', 'ignore', 'pipe'] })
    const failed = once(child, 'error').then(([error]) => Promise.reject(error as Error))
    const output = text(child.stderr)
    const [code] = await Promise.race([once(child, 'close'), failed]).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
      throw notThere(program)
    })
    if (code === 0) return
    const message = `${program} ${args.join(' ')} failed: ${(await output).trim() || `exit code ${code}`}`
    throw new HermesError(message, { code: 'service.failed' })
  }
}

function notThere(program: string): HermesError {
  const message = `There is no ${program} here. Let whatever supervises this machine run \`hermes gateway run\`, and start it again after exit code 75.`
  return new HermesError(message, { code: 'service.failed' })
}

class Systemd extends InFile implements Supervisor {
  readonly file: string
  readonly #unit: string

  constructor(io: Pick<Io, 'env' | 'userHome'>, name: string) {
    super(io)
    this.#unit = `${name}.service`
    const config = io.env['XDG_CONFIG_HOME'] || join(io.userHome, '.config')
    this.file = join(config, 'systemd', 'user', this.#unit)
  }

  async install(service: Service): Promise<void> {
    await this.write(systemdUnit(service))
    await this.#tell('daemon-reload')
    await this.#tell('enable', '--now', this.#unit)
  }

  async uninstall(): Promise<void> {
    await this.#tell('disable', '--now', this.#unit)
    await this.remove()
    await this.#tell('daemon-reload')
  }

  start(): Promise<void> {
    return this.#tell('start', this.#unit)
  }

  stop(): Promise<void> {
    return this.#tell('stop', this.#unit)
  }

  #tell(...args: readonly string[]): Promise<void> {
    return this.tell('systemctl', '--user', ...args)
  }
}

class Launchd extends InFile implements Supervisor {
  readonly file: string
  readonly #domain = `gui/${process.getuid?.() ?? 0}`
  readonly #label: string

  constructor(io: Pick<Io, 'env' | 'userHome'>, name: string) {
    super(io)
    this.#label = launchdLabel(name)
    this.file = join(io.userHome, 'Library', 'LaunchAgents', `${this.#label}.plist`)
  }

  async install(service: Service): Promise<void> {
    await this.write(launchdAgent(service))
    await this.start()
  }

  async uninstall(): Promise<void> {
    await this.stop()
    await this.remove()
  }

  start(): Promise<void> {
    return this.tell('launchctl', 'bootstrap', this.#domain, this.file)
  }

  stop(): Promise<void> {
    return this.tell('launchctl', 'bootout', `${this.#domain}/${this.#label}`)
  }
}
