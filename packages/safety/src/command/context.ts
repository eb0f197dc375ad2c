import { matchGlob } from '../glob.js'

/** Where a command runs, as far as it is known. */
export interface CommandContext {
  /** Absolute, or starting with `~`. */
  readonly cwd?: string
  /** Absolute path of the Hermes home. */
  readonly home?: string
  /** Absolute path of the person's home folder; `~` and `$HOME` stand for it. */
  readonly userHome?: string
  /** Folders the session works in; default `cwd`. What is unknown about a program matters for what lies outside of them. */
  readonly workspace?: readonly string[]
  /** Scripts that enter an environment of Python, and folders of such, that the session wrote: resolved. Default: none. */
  readonly activations?: ReadonlySet<string>
  /** Commands are held to the workspace, so that what cannot be followed does not have to be asked about. Default `false`. */
  readonly isolated?: boolean
  /** The command leaves the isolation with approval: nothing holds what its words or its code do. Default `false`. */
  readonly outside?: boolean
  /**
   * The command is one that may only be meant as one: nothing further is supposed about its words. Says whether the command around it is
   * isolated, as `isolated` is always `true` here. Default: it is a command of its own.
   */
  readonly supposed?: 'isolated' | 'unisolated'
}

/** Variables whose value is known before any command, beside `HOME` and `PWD`. */
export function knownVariables({ home, userHome }: CommandContext): ReadonlyMap<string, string> {
  const user = userHome?.split('/').findLast((part) => part !== '')
  return new Map([
    ['HERMES_HOME', home ?? '~/.hermes'],
    ['BASH', 'bash'],
    ['SHELL', 'bash'],
    ['XDG_CONFIG_HOME', '~/.config'],
    ['XDG_DATA_HOME', '~/.local/share'],
    ['ZDOTDIR', '~'],
    ...(user === undefined ? [] : [['USER', user] as const, ['LOGNAME', user] as const]),
  ])
}

const SYSTEM_FOLDERS = Object.freeze([
  ...['/bin', '/boot', '/dev', '/etc', '/home', '/lib', '/lib32', '/lib64', '/opt', '/proc', '/root', '/run', '/sbin'],
  ...['/srv', '/sys', '/usr', '/var', '/usr/bin', '/usr/lib', '/usr/local', '/usr/sbin', '/usr/share', '/var/lib'],
  ...['/Applications', '/Library', '/System', '/Users', '/Volumes', '/private', '/private/etc', '/private/var'],
])

/** `path` with `.`, `..` and double slashes gone; the person's home folder becomes `~`; relative to `cwd` where that is known. */
export function resolveShellPath(path: string, context: CommandContext): string {
  const rooted = path.startsWith('/') || path === '~' || /^~[^/]*\//.test(path) || /^~\w+$/.test(path)
  const full = rooted || context.cwd === undefined ? path : `${context.cwd}/${path}`
  const home = context.userHome?.replace(/\/+$/, '')
  const normal = normalize(full)
  if (home === undefined || home === '') return normal
  if (normal === home) return '~'
  return normal.startsWith(`${home}/`) ? `~${normal.slice(home.length)}` : normal
}

function normalize(path: string): string {
  const absolute = path.startsWith('/')
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    const last = parts.at(-1)
    if (part !== '..') parts.push(part)
    else if (last === undefined && absolute) continue
    else if (last === undefined || last === '..') parts.push(part)
    else if (parts.length === 1 && last.startsWith('~')) return normalize(`/home/${path.slice(path.indexOf('..') + 2)}`)
    else parts.pop()
  }
  return (absolute ? '/' : '') + parts.join('/') || '.'
}

/** Whether losing what is at `path` means losing the system or a home folder. A trailing `/*` counts as the folder itself. */
export function isCriticalPath(path: string, context: CommandContext): boolean {
  const folder = path.replace(/(?<=\/)(?:\.?\*|\*\*|\.\[!?\.?\]\*|\{[^/]*\})$/, '') || path
  const resolved = resolveShellPath(folder === '*' ? '.' : folder, context)
  if (resolved === '/' || /^~[^/]*$/.test(resolved) || SYSTEM_FOLDERS.includes(resolved)) return true
  if (/^\/(?:home|Users)\/[^/]+$/.test(resolved)) return true
  return /^\/[^/]*[*?[][^/]*$/.test(resolved) && SYSTEM_FOLDERS.some((system) => matchGlob(resolved, system))
}
