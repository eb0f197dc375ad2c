import { spawnSync } from 'node:child_process'
import {
  accessSync,
  closeSync,
  constants,
  openSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { availableParallelism } from 'node:os'
import { readIfThere } from '../shell/shell-files.js'
import { findBubblewrap } from './find-bubblewrap.js'
import { createTurns, type InTurn } from './turns.js'

/** Whether this machine can hold commands to a workspace. Made once for a program; it looks when it is first asked, and not again. */
export interface IsolationSupport {
  /** Why not, as a line; `null` when it can. */
  why(): string | null
  /** Whether bubblewrap mounts folders by file descriptor, which old ones do not. Default: not. */
  bindsDescriptors?(): boolean
  /** Says that it could, just now. */
  worked?(): void
  /** Says that it cannot after all. */
  failed(why: string): void
  /**
   * Makes the namespaces of a session: as many at once as there are processors, since each further start holds the program up until it
   * gets one. Default: at once.
   */
  readonly inTurn?: InTurn
}

/**
 * Looks at this machine, at the first question for some milliseconds. What worked is kept in the file `remembered`, so that the next program
 * need not try it: it counts until the machine starts anew, and for the same bubblewrap, user and container. Default: nothing is kept.
 */
export function createIsolationSupport({
  platform = process.platform,
  remembered,
}: {
  readonly platform?: NodeJS.Platform
  readonly remembered?: string
} = {}): IsolationSupport {
  let known: Found | null = null
  let isRemembered = false
  const mark = () => (remembered === undefined || platform !== 'linux' ? null : markOfMachine())
  const recall = (): Found | null => {
    const now = mark()
    if (now === null || readIfThere(remembered!)?.toString() !== now) return null
    isRemembered = true
    return { why: null, bindsDescriptors: takesDescriptors(findBubblewrap() ?? '') }
  }
  const found = () => (known ??= recall() ?? look(platform))
  return {
    why: () => found().why,
    bindsDescriptors: () => found().bindsDescriptors ?? false,
    worked: () => {
      const now = isRemembered ? null : mark()
      if (now !== null) keep(remembered!, now)
      isRemembered = true
    },
    failed: (why) => {
      if (remembered !== undefined) keep(remembered, '')
      known = { why }
    },
    inTurn: createTurns(Math.max(2, availableParallelism())),
  }
}

/** A folder that is not there is not made for it. */
function keep(path: string, text: string): void {
  try {
    writeFileSync(path, text, { mode: 0o600 })
  } catch {
    // Then the next program tries it anew.
  }
}

/** What would have to be the same for isolation to work as it did; `null` where that cannot be told. */
function markOfMachine(): string | null {
  const program = findBubblewrap()
  if (program === null) return null
  try {
    const { ino, size, mtimeMs, mode } = statSync(program)
    const status = readFileSync('/proc/self/status', 'utf8')
    const held = /^(?:Uid|Cap\w+|NoNewPrivs|Seccomp):.*$/gm
    const namespaces = ['user', 'mnt', 'pid'].map((name) => readlinkSync(`/proc/self/ns/${name}`))
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${[program, ino, size, mtimeMs, mode, boot, ...namespaces, ...(status.match(held) ?? [])].join('\n')}\n`
  } catch {
    return null
  }
}

interface Found {
  readonly why: string | null
  readonly bindsDescriptors?: boolean
}

/** Why this user could not work in `folder` when isolated, as a line; `null` when nothing is known to be in the way. */
export function isolationHinders(folder: string, user = process.getuid?.()): string | null {
  if (user !== 0) return null
  try {
    if (statSync(folder).uid === 0) return null
  } catch {
    return null
  }
  // Without its capabilities root is a user like any other.
  return 'you are root, and the working directory belongs to somebody else'
}

function look(platform: NodeJS.Platform): Found {
  switch (platform) {
    case 'linux':
      return lookAtBubblewrap()
    case 'darwin':
      return { why: lookAtSeatbelt() }
    default:
      return { why: `there is no way to on ${platform}` }
  }
}

// Everything that commands are started with later, but for namespaces that are there already.
const TRIAL = ['--unshare-user', '--unshare-pid', '--as-pid-1', '--unshare-ipc', '--cap-drop', 'ALL']
const ROOT = ['--ro-bind', '/', '/']
const ROOT_BY_DESCRIPTOR = ['--ro-bind-fd', '3', '/']
const TRIAL_REST = [
  ...['--dev', '/dev', '--proc', '/proc', '--perms', '0111', '--tmpfs', '/run', '--remount-ro', '/run', '--clearenv'],
  // What cannot be run is one program start less.
  ...['--', '/'],
]
const TRIAL_MS = 5_000

function lookAtBubblewrap(): Found {
  const program = findBubblewrap()
  if (program === null) return { why: 'bubblewrap (bwrap) is not installed' }
  // With rights of its own it joins no namespace that is there already.
  if ((statSync(program).mode & 0o4000) !== 0) return { why: `${program} is setuid, and has to work without that` }
  const bindsDescriptors = takesDescriptors(program)
  const root = openSync('/', 'r')
  try {
    const why = tryOut(program, [...TRIAL, ...(bindsDescriptors ? ROOT_BY_DESCRIPTOR : ROOT), ...TRIAL_REST], root)
    return { why, bindsDescriptors }
  } finally {
    closeSync(root)
  }
}

/** Whether its options name one for folders by descriptor: to read that takes less than to start a program that refuses it. */
function takesDescriptors(program: string): boolean {
  try {
    return readFileSync(program).includes('ro-bind-fd')
  } catch {
    return false
  }
}

function lookAtSeatbelt(): string | null {
  const program = '/usr/bin/sandbox-exec'
  try {
    accessSync(program, constants.X_OK)
  } catch {
    return 'sandbox-exec is missing'
  }
  return tryOut(program, ['-p', '(version 1)(allow default)', '/usr/bin/true'])
}

/** Runs `program`, with `file` as file descriptor 3; why it failed, or `null`. */
function tryOut(program: string, args: readonly string[], file: number | 'ignore' = 'ignore'): string | null {
  const { status, stderr, error } = spawnSync(program, args, {
    cwd: '/',
    env: {},
    stdio: ['ignore', 'ignore', 'pipe', file],
    encoding: 'utf8',
    timeout: TRIAL_MS,
  })
  if (status === 0 || /^bwrap: execvp \/: /m.test(stderr)) return null
  const text = error?.message ?? stderr.trim().split('\n').at(-1) ?? ''
  return text.replace(/^[\w-]+: /, '').replace(/\.$/, '') || `${program} does not work`
}

/** Why commands cannot be isolated on this machine, as a line; `null` when they can. */
export async function probeIsolation(): Promise<string | null> {
  return createIsolationSupport().why()
}
