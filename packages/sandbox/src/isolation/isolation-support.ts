import { spawnSync } from 'node:child_process'
import { accessSync, closeSync, constants, openSync, statSync } from 'node:fs'
import { findBubblewrap } from './find-bubblewrap.js'

/** Whether this machine can hold commands to a workspace. Made once for a program; it looks when it is first asked, and not again. */
export interface IsolationSupport {
  /** Why not, as a line; `null` when it can. */
  why(): string | null
  /** Whether bubblewrap mounts folders by file descriptor, which old ones do not. Default: not. */
  bindsDescriptors?(): boolean
  /** Says that it cannot after all. */
  failed(why: string): void
}

/** Looks at this machine, at the first question for some milliseconds. */
export function createIsolationSupport(platform: NodeJS.Platform = process.platform): IsolationSupport {
  let known: Found | null = null
  const found = () => (known ??= look(platform))
  return {
    why: () => found().why,
    bindsDescriptors: () => found().bindsDescriptors ?? false,
    failed: (why) => {
      known = { why }
    },
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
  const root = openSync('/', 'r')
  try {
    const attempt = (mount: readonly string[]) => tryOut(program, [...TRIAL, ...mount, ...TRIAL_REST], root)
    if (attempt(ROOT_BY_DESCRIPTOR) === null) return { why: null, bindsDescriptors: true }
    return { why: attempt(ROOT) }
  } finally {
    closeSync(root)
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
