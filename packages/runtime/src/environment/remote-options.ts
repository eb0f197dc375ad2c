import { createHash } from 'node:crypto'
import { accessSync, constants } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { delimiter, isAbsolute, join, relative } from 'node:path'
import type { TerminalSettings } from '@hermes/config'
import { HermesError } from '@hermes/contracts'
import type { DockerOptions } from '@hermes/sandbox/docker'
import type { SingularityOptions } from '@hermes/sandbox/singularity'
import type { SshOptions } from '@hermes/sandbox/ssh'
import { toPath } from '../home/settings.js'
import { cacheOf } from '../people/people.js'
import { type EnvironmentRequest, SESSION_MARK } from './environment-request.js'

/** How the other machine is reached. */
export function sshOptions(request: EnvironmentRequest): SshOptions {
  const { config, userHome, cwd } = request
  const { terminal } = config
  const host = terminal.ssh_host
  if (!host) {
    throw new HermesError(
      'terminal.backend is ssh, but no host is set. Run: hermes config set terminal.ssh_host NAME',
      {
        code: 'runtime.backend_config',
      },
    )
  }
  const { ssh_user: user, ssh_port: port, ssh_key: key } = terminal
  const remoteCwd = remoteFolder(terminal)
  return {
    host,
    ...(user ? { user } : {}),
    ...(port ? { port } : {}),
    ...(key ? { identityFile: toPath(key, userHome, cwd) } : {}),
    ...(remoteCwd === undefined ? {} : { cwd: remoteCwd }),
    hostKeys: terminal.ssh_host_keys,
    folders: syncFolders(request),
    env: passedOn(request, terminal.env_passthrough),
    ...shared(request, `ssh-${digest([host, user, port])}`),
  }
}

/**
 * Folders that config.yaml keeps the same on both sides. @throws HermesError `runtime.backend_config` for what is no pair of folders, and
 * for a folder that has to do with the Hermes home and would take changes from over there.
 */
export function syncFolders({ config, home, userHome, cwd }: EnvironmentRequest) {
  return config.terminal.sync_folders.map((text) => {
    const [source = '', target = '', mode, ...more] = text.split(':')
    const folder = { source: toPath(source, userHome, cwd), target, readOnly: mode === 'ro' }
    const touches = (a: string, b: string) => !relative(a, b).startsWith('..')
    const isPair = source !== '' && target.startsWith('/') && more.length === 0 && (mode === undefined || mode === 'ro')
    const isSafe = folder.readOnly || !(touches(folder.source, home) || touches(home, folder.source))
    if (isPair && isSafe) return folder
    const why = isPair
      ? 'holds or is in the Hermes home, which takes nothing from another side; add :ro'
      : 'is not SOURCE:/TARGET or SOURCE:/TARGET:ro'
    throw new HermesError(`terminal.sync_folders: "${text}" ${why}.`, { code: 'runtime.backend_config' })
  })
}

/** A container of docker or podman as config.yaml describes it. */
export async function dockerOptions(request: EnvironmentRequest): Promise<DockerOptions> {
  const { config, env, home, userHome, cwd } = request
  const { terminal } = config
  const isKept = terminal.container_persistent
  const remoteCwd = remoteFolder(terminal)
  const names = [...terminal.env_passthrough, ...terminal.docker_forward_env]
  const fixed = Object.entries(terminal.docker_env).map(([name, value]) => [name, String(value)] as const)
  return {
    image: terminal.docker_image,
    program: findEngine(env),
    // A container that is not kept belongs to one session.
    task: isKept ? 'default' : (request.task ?? `${process.pid}-${request.clock.now()}`),
    profile: digest([home]),
    persistent: isKept,
    mounts: [
      ...(terminal.docker_mount_cwd_to_workspace ? [{ source: cwd, target: '/workspace' }] : []),
      ...(isKept
        ? await keptFolders(home, 'docker', terminal.docker_mount_cwd_to_workspace ? ['home'] : ['workspace', 'home'])
        : []),
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
    ...(remoteCwd === undefined ? {} : { cwd: remoteCwd }),
    env: { ...passedOn(request, names), ...Object.fromEntries(fixed) },
    ...shared(request, 'docker'),
  }
}

/** A container of apptainer or singularity as config.yaml describes it. */
export async function singularityOptions(request: EnvironmentRequest): Promise<SingularityOptions> {
  const { config, env, home } = request
  const { terminal } = config
  const isKept = terminal.container_persistent
  const [workspace, root] = isKept ? await keptFolders(home, 'singularity', ['workspace', 'home']) : []
  return {
    image: terminal.singularity_image,
    program: findProgram(env, ['apptainer', 'singularity']),
    ...(workspace && root ? { mounts: [workspace], homeFolder: root.source } : {}),
    cwd: remoteFolder(terminal) ?? (isKept ? '/workspace' : '/tmp'),
    cpus: terminal.container_cpu,
    memoryMb: terminal.container_memory,
    env: passedOn(request, terminal.env_passthrough),
    ...shared(request, 'singularity'),
  }
}

/** The engine's command: docker, else podman when only that is there. */
export function findEngine(env: Readonly<Record<string, string>>): string {
  return env['HERMES_DOCKER_BINARY'] || findProgram(env, ['docker', 'podman'])
}

/** The first of `names` that is in PATH; the first of all when none is. */
export function findProgram(env: Readonly<Record<string, string>>, names: readonly [string, ...string[]]): string {
  const folders = (env['PATH'] ?? '').split(delimiter)
  return names.find((name) => folders.some((folder) => isExecutable(join(folder, name)))) ?? names[0]
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const TARGETS = { workspace: '/workspace', home: '/root' } as const

/** Folders of the home that containers of one backend have as theirs; made when they are missing. */
async function keptFolders(home: string, backend: string, names: readonly (keyof typeof TARGETS)[]) {
  const mounts = names.map((name) => ({
    source: join(home, 'sandboxes', backend, 'default', name),
    target: TARGETS[name],
  }))
  for (const { source } of mounts) await mkdir(source, { recursive: true, mode: 0o700 })
  return mounts
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
export function shared({ env, home, person = null, logger, clock }: EnvironmentRequest, name: string) {
  return { clientEnv: clientEnv(env), outputDir: join(cacheOf(home, person).outputs, name), logger, clock }
}

/** A working directory that means something over there. */
export function remoteFolder({ cwd }: TerminalSettings): string | undefined {
  return cwd !== undefined && (isAbsolute(cwd) || cwd.startsWith('~')) ? cwd : undefined
}

/** Every command has these, wherever it runs. */
const MARK_NAMES = ['AI_AGENT', 'HERMES_AGENT', SESSION_MARK]

/** The variables named, from the home's secrets or from this program's own; those that are nowhere are left out. */
export function passedOn({ env, secrets }: EnvironmentRequest, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    [...MARK_NAMES, ...names].flatMap((name) => {
      const value = secrets[name] ?? env[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

/** What the clients ssh, docker, podman and apptainer themselves need. */
const CLIENT_NAMES =
  /^(PATH|HOME|USER|LOGNAME|TMPDIR|XDG_RUNTIME_DIR|XDG_CONFIG_HOME|SSH_AUTH_SOCK|(DOCKER|CONTAINERS?|APPTAINER|SINGULARITY)_\w+)$/

function clientEnv(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => CLIENT_NAMES.test(name)))
}

/** A few letters that stand for `parts`. */
export function digest(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 8)
}
