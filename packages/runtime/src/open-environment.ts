import { createHash } from 'node:crypto'
import { accessSync, constants } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { type HermesConfig, homeLayout, type TerminalSettings } from '@hermes/config'
import { type Clock, HermesError, type Logger } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import { createLocalEnvironment, filterEnvironment } from '@hermes/sandbox'
import type { DockerOptions } from '@hermes/sandbox/docker'
import type { SshOptions } from '@hermes/sandbox/ssh'

/** What an environment is opened from. */
export interface EnvironmentRequest {
  readonly config: HermesConfig
  readonly home: string
  readonly userHome: string
  readonly user: string
  /** Where the agent works on this machine. Absolute. */
  readonly cwd: string
  readonly tempDir: string
  readonly env: Readonly<Record<string, string>>
  /** Keys and tokens of the home, for what configuration asks to pass on. */
  readonly secrets: Readonly<Record<string, string>>
  readonly secretNames: readonly string[]
  readonly logger: Logger
  readonly clock: Clock
}

/** The backends there are. */
export const BACKENDS = ['local', 'ssh', 'docker'] as const

/**
 * The environment that `terminal.backend` names. Nothing but the local one is loaded before it is chosen.
 * @throws HermesError `runtime.unknown_backend`, `runtime.backend_config`, or what opening it throws.
 */
export async function openEnvironment(request: EnvironmentRequest): Promise<Environment> {
  const { backend } = request.config.terminal
  switch (backend) {
    case 'local':
      return openLocal(request)
    case 'ssh': {
      const { openSshEnvironment } = await import('@hermes/sandbox/ssh')
      return openSshEnvironment(sshOptions(request))
    }
    case 'docker': {
      const { openDockerEnvironment } = await import('@hermes/sandbox/docker')
      return openDockerEnvironment(await dockerOptions(request))
    }
    default:
      throw new HermesError(`terminal.backend is "${backend}" in config.yaml; it can be ${BACKENDS.join(', ')}.`, {
        code: 'runtime.unknown_backend',
        details: { backend },
      })
  }
}

function openLocal({
  config,
  cwd,
  env,
  home,
  userHome,
  user,
  secretNames,
  ...request
}: EnvironmentRequest): Environment {
  const { env_passthrough: keep, isolation } = config.terminal
  const path = (text: string) => toPath(text, userHome, cwd)
  return createLocalEnvironment({
    cwd,
    env: filterEnvironment(env, { secretNames, keep }),
    home: userHome,
    outputDir: homeLayout(home).outputs,
    logger: request.logger,
    clock: request.clock,
    user,
    ...(isolation === 'off'
      ? {}
      : {
          temp: [...new Set([request.tempDir, '/tmp', '/var/tmp'])],
          isolation: {
            hidden: [home],
            writable: config.terminal.isolation_write.map(path),
            readable: config.terminal.isolation_read.map(path),
            network: config.terminal.isolation_network,
            required: isolation === 'on',
          },
        }),
  })
}

/** How the other machine is reached; variables of the reference system stand in for what config.yaml leaves out. */
export function sshOptions(request: EnvironmentRequest): SshOptions {
  const { config, env, userHome, cwd } = request
  const { terminal } = config
  const host = terminal.ssh_host ?? env['TERMINAL_SSH_HOST']
  if (!host) {
    throw new HermesError(
      'terminal.backend is ssh, but no host is set. Run: hermes config set terminal.ssh_host NAME',
      {
        code: 'runtime.backend_config',
      },
    )
  }
  const user = terminal.ssh_user ?? env['TERMINAL_SSH_USER']
  const port = terminal.ssh_port ?? (Number(env['TERMINAL_SSH_PORT']) || undefined)
  const key = terminal.ssh_key ?? env['TERMINAL_SSH_KEY']
  const farCwd = farFolder(terminal)
  return {
    host,
    ...(user ? { user } : {}),
    ...(port ? { port } : {}),
    ...(key ? { identityFile: toPath(key, userHome, cwd) } : {}),
    ...(farCwd === undefined ? {} : { cwd: farCwd }),
    hostKeys: terminal.ssh_host_keys,
    env: passedOn(request, terminal.env_passthrough),
    ...shared(request, `ssh-${digest([host, user, port])}`),
  }
}

async function dockerOptions(request: EnvironmentRequest): Promise<DockerOptions> {
  const { config, env, home, userHome, cwd } = request
  const { terminal } = config
  const isKept = terminal.container_persistent
  const farCwd = farFolder(terminal)
  const names = [...terminal.env_passthrough, ...terminal.docker_forward_env]
  const fixed = Object.entries(terminal.docker_env).map(([name, value]) => [name, String(value)] as const)
  return {
    image: terminal.docker_image,
    program: findEngine(env),
    // A container that is not kept belongs to this one agent.
    task: isKept ? 'default' : `${process.pid}-${request.clock.now()}`,
    profile: digest([home]),
    persistent: isKept,
    mounts: [
      ...(terminal.docker_mount_cwd_to_workspace ? [{ source: cwd, target: '/workspace' }] : []),
      ...(isKept ? await keptFolders(home, terminal.docker_mount_cwd_to_workspace) : []),
      ...terminal.docker_volumes.map((text) => toMount(text, userHome, cwd)),
    ],
    cpus: terminal.container_cpu,
    memoryMb: terminal.container_memory,
    diskMb: terminal.container_disk,
    shmSize: terminal.docker_shm_size,
    network: terminal.docker_network,
    snap: terminal.docker_snap_compat,
    extraArgs: terminal.docker_extra_args,
    idleSeconds: terminal.lifetime_seconds,
    ...(terminal.docker_run_as_host_user ? { user: `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}` } : {}),
    ...(farCwd === undefined ? {} : { cwd: farCwd }),
    env: { ...passedOn(request, names), ...Object.fromEntries(fixed) },
    ...shared(request, 'docker'),
  }
}

/** The engine's command: docker, else podman when only that is there. */
export function findEngine(env: Readonly<Record<string, string>>): string {
  const isThere = (name: string) =>
    (env['PATH'] ?? '').split(delimiter).some((folder) => isExecutable(join(folder, name)))
  return env['HERMES_DOCKER_BINARY'] || (!isThere('docker') && isThere('podman') ? 'podman' : 'docker')
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

async function keptFolders(home: string, isCwdMounted: boolean) {
  const folder = join(home, 'sandboxes', 'docker', 'default')
  const targets = [...(isCwdMounted ? [] : [['workspace', '/workspace']]), ['home', '/root']] as const
  for (const [name] of targets) await mkdir(join(folder, name!), { recursive: true, mode: 0o700 })
  return targets.map(([name, target]) => ({ source: join(folder, name!), target: target! }))
}

function toMount(text: string, userHome: string, cwd: string) {
  const [source = '', target = '', mode] = text.split(':')
  const isPath = /^[~./]/.test(source)
  return {
    source: isPath ? toPath(source, userHome, cwd) : source,
    target,
    ...(mode === 'ro' ? { readOnly: true } : {}),
  }
}

/** What all backends on another side are given. */
function shared({ env, home, logger, clock }: EnvironmentRequest, name: string) {
  return { clientEnv: clientEnv(env), outputDir: join(homeLayout(home).outputs, name), logger, clock }
}

/** A working directory that means something over there. */
function farFolder({ cwd }: TerminalSettings): string | undefined {
  return cwd !== undefined && (isAbsolute(cwd) || cwd.startsWith('~')) ? cwd : undefined
}

function passedOn({ env, secrets }: EnvironmentRequest, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = secrets[name] ?? env[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

/** What the clients ssh, docker and podman themselves need. */
const CLIENT_NAMES =
  /^(PATH|HOME|USER|LOGNAME|TMPDIR|XDG_RUNTIME_DIR|XDG_CONFIG_HOME|SSH_AUTH_SOCK|DOCKER_\w+|CONTAINER_\w+|CONTAINERS_\w+)$/

function clientEnv(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => CLIENT_NAMES.test(name)))
}

function toPath(text: string, userHome: string, cwd: string): string {
  return text === '~' || text.startsWith('~/') ? join(userHome, text.slice(1)) : resolve(cwd, text)
}

function digest(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 8)
}
