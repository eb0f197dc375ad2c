import { createHash } from 'node:crypto'
import { HermesError } from '@hermes/contracts'

/** A folder of this machine inside the container. */
export interface Mount {
  /** Absolute, or the name of a volume. */
  readonly source: string
  readonly target: string
  /** Default `false`. */
  readonly readOnly?: boolean
}

/** What a container is like. */
export interface ContainerOptions {
  readonly image: string
  /** Which work it is for: one container for each task and profile, shared by all that open it. Default `default`. */
  readonly task?: string
  /** Default `default`. */
  readonly profile?: string
  readonly mounts?: readonly Mount[]
  /** Cores. Default 1; 0 is no limit. */
  readonly cpus?: number
  /** Default 5,120; 0 is no limit. */
  readonly memoryMb?: number
  /** Of the container's own files, on engines that can; default 0, no limit. */
  readonly diskMb?: number
  /** Default 256. */
  readonly maxProcesses?: number
  /** Size of /dev/shm. Default `1g`. */
  readonly shmSize?: string
  /** Default `true`; without it the container has only its loopback. */
  readonly network?: boolean
  /** `UID:GID` the container runs as. Default: root in the container. */
  readonly user?: string
  /** The engine comes from a snap, where `no-new-privileges` keeps programs from starting. Default `false`. */
  readonly snap?: boolean
  /** Further options of `docker run`, last before the image. They can undo the hardening: the operator's own risk. */
  readonly extraArgs?: readonly string[]
  /** Seconds without any process until the container stops by itself. Default 300. */
  readonly idleSeconds?: number
}

/** Which limits an engine can enforce. */
export type Limits = 'all' | 'no-disk' | 'none'

export const MANAGED_LABEL = 'hermes.managed'
const TASK_LABEL = 'hermes.task'
const PROFILE_LABEL = 'hermes.profile'
const SHAPE_LABEL = 'hermes.shape'

/** The `--filter` options that find containers of `options`, made the same way. */
export function labelFilters(options: ContainerOptions): string[] {
  return labels(options).flatMap((label) => ['--filter', `label=${label}`])
}

function labels(options: ContainerOptions): string[] {
  const { task = 'default', profile = 'default' } = options
  return [
    `${MANAGED_LABEL}=1`,
    `${TASK_LABEL}=${task}`,
    `${PROFILE_LABEL}=${profile}`,
    `${SHAPE_LABEL}=${shape(options)}`,
  ]
}

/** Tells containers apart that were made from other options. */
function shape({ task: _task, profile: _profile, ...options }: ContainerOptions): string {
  return createHash('sha256')
    .update(JSON.stringify(Object.entries(options).sort()))
    .digest('hex')
    .slice(0, 16)
}

/** A name that only one container can have, so that two programs do not make two of them. */
export function containerName(options: ContainerOptions): string {
  return `hermes-${createHash('sha256').update(labels(options).join('\n')).digest('hex').slice(0, 16)}`
}

/**
 * The arguments of `docker run` for a hardened container that only waits: no capabilities but those a package manager needs, no new
 * privileges, limits, private temporary folders. `limits` says which the engine can enforce.
 */
export function runArgs(options: ContainerOptions, limits: Limits): string[] {
  const { cpus = 1, memoryMb = 5_120, diskMb = 0, network = true, user, snap = false, idleSeconds = 300 } = options
  return [
    ...['run', '--detach', '--init', '--name', containerName(options)],
    ...labels(options).flatMap((label) => ['--label', label]),
    ...['--cap-drop', 'ALL'],
    ...capabilities(user).flatMap((name) => ['--cap-add', name]),
    ...(snap ? [] : ['--security-opt', 'no-new-privileges']),
    ...['--pids-limit', String(options.maxProcesses ?? 256)],
    ...(limits !== 'none' && cpus > 0 ? ['--cpus', String(cpus)] : []),
    ...(limits !== 'none' && memoryMb > 0 ? ['--memory', `${memoryMb}m`] : []),
    ...(limits === 'all' && diskMb > 0 ? ['--storage-opt', `size=${diskMb}m`] : []),
    ...['--shm-size', options.shmSize ?? '1g'],
    ...['--tmpfs', '/tmp:rw,nosuid,exec,size=512m,mode=1777'],
    ...['--tmpfs', '/var/tmp:rw,nosuid,noexec,size=256m,mode=1777'],
    ...['--tmpfs', '/run:rw,nosuid,noexec,size=64m'],
    ...(network ? [] : ['--network', 'none']),
    ...(user === undefined ? [] : ['--user', user]),
    ...(options.mounts ?? []).flatMap((mount) => ['--volume', volume(mount)]),
    ...['--workdir', '/workspace', '--entrypoint', '/bin/sh'],
    ...(options.extraArgs ?? []),
    checkedImage(options.image),
    ...['-c', idleScript(idleSeconds)],
  ]
}

/** Package managers write as other users and change owners; a container that starts as root may become another user. */
function capabilities(user: string | undefined): readonly string[] {
  const files = ['DAC_OVERRIDE', 'CHOWN', 'FOWNER']
  return user === undefined ? [...files, 'SETUID', 'SETGID'] : files
}

function volume({ source, target, readOnly = false }: Mount): string {
  if (source !== '' && target.startsWith('/') && !/[:\0]/.test(source + target))
    return `${source}:${target}${readOnly ? ':ro' : ''}`
  throw new HermesError(`"${source}:${target}" is no mount: both parts are paths without a colon.`, {
    code: 'environment.invalid_mount',
  })
}

function checkedImage(image: string): string {
  if (/^[A-Za-z0-9][\w./:@-]*$/.test(image)) return image
  throw new HermesError(`"${image}" is no name of a container image.`, { code: 'environment.invalid_image' })
}

/** Waits, and ends once nothing was started in the container for a while: the kernel counts the numbers given to processes. */
function idleScript(idleSeconds: number): string {
  return `trap 'exit 0' TERM INT
idle=0 before=0
while [ $idle -lt ${idleSeconds} ]; do
  sleep 5 & wait $!
  count=0; for one in /proc/[0-9]*; do count=$((count+1)); done
  read a b c d last 2>/dev/null < /proc/loadavg || last=$((before+9))
  if [ $((last-before)) -gt 1 ] || [ $count -gt 2 ]; then idle=0; else idle=$((idle+5)); fi
  before=$last
done`
}
