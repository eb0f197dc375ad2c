import type { ShellState } from '../shell/shell-state.js'

type Variables = Readonly<Record<string, string>>

/** Whose start-up files are read, and what of them counts. */
export interface LoginOptions {
  /** bash or zsh. Default, and for other shells: the one that runs commands. */
  readonly shell?: string | undefined
  /** Which variables besides `PATH` they may add. Default: all. */
  readonly admits?: (name: string, value: string) => boolean
  /** Shared by environments that open at about the same time. Default: each reads the files itself. */
  readonly shared?: SharedLogins | undefined
  /** Variables that differ between those: the files are not told them. Default: none. */
  readonly unshared?: readonly string[]
}

/** What start-up files came to a moment ago, by all that it goes by. */
export type SharedLogins = Map<string, { readonly readAtMs: number; readonly state: Promise<ShellState | null> }>

/** Runs a program that leaves its state in the file `$1`; `null` when it leaves none, or takes longer than `timeoutMs`. */
export type Capture = (run: {
  readonly program: string
  readonly args: readonly string[]
  readonly env: Variables
  readonly timeoutMs: number
}) => Promise<ShellState | null>

/** Who changes such a file and opens a session a minute later finds what changed. */
const SHARED_FOR_MS = 60_000
const INTERACTIVE_LIMIT_MS = 5_000
const LOGIN_LIMIT_MS = 3_000

// Where nothing else has, it tells first that it runs.
const TELL = `{ printf '+\\n' >&3; exec 3>&-; } 2>/dev/null; `
const SAVE = `${TELL}{ command pwd; printf '\\0'; export -p; printf '\\0.'; } >| "$1"`
// zsh prints its PATH together with the array it is tied to, in a form that other shells do not know.
const SAVE_ZSH = `${TELL}{ command pwd; printf '\\0'; printf 'export PATH=%q\\n' "$PATH"; printf '\\0.'; } >| "$1"`

/** What says how a shell is used rather than what it should find. */
const OF_THE_SHELL =
  /^(?:PWD|OLDPWD|SHLVL|_|TERM|TERM_PROGRAM\w*|COLUMNS|LINES|PS\d|PROMPT\w*|RPROMPT|HIST\w+|BASH\w*|ZSH\w*|ENV|FPATH|TMUX\w*|STY)$/

/**
 * `env`, and beside it what the start-up files of the user's own shell add: further variables, and the folders of their `PATH`. What `env`
 * has keeps its value. An interactive shell is asked first, for many files end early in another one, then one that is not; where neither
 * comes to an end, `env` is all there is.
 */
export async function withLogin(
  options: LoginOptions,
  at: {
    readonly commandShell: string
    readonly home: string
    readonly env: Variables
    readonly capture: Capture
    /** Where it runs, and how: what they come to may depend on it. */
    readonly circumstances: readonly string[]
    readonly nowMs: number
  },
): Promise<Variables> {
  const shell =
    options.shell !== undefined && /(^|\/)(?:bash|zsh)$/.test(options.shell) ? options.shell : at.commandShell
  const isZsh = /zsh$/.test(shell)
  const shared = Object.entries(at.env).filter(([name]) => !options.unshared?.includes(name))
  const env = { ...Object.fromEntries(shared), HOME: at.home, TERM: 'dumb' }
  const ask = (flags: readonly string[], timeoutMs: number) =>
    at.capture({ program: shell, args: [...flags, '-c', isZsh ? SAVE_ZSH : SAVE, 'bash'], env, timeoutMs })
  const read = async () => (await ask(['-l', '-i'], INTERACTIVE_LIMIT_MS)) ?? (await ask(['-l'], LOGIN_LIMIT_MS))
  const key = JSON.stringify([shell, env, at.circumstances])
  const found = await (options.shared ? readShared(options.shared, key, at.nowMs, read) : read())
  if (found === null) return at.env
  const admits = (name: string, value: string) => !OF_THE_SHELL.test(name) && (options.admits?.(name, value) ?? true)
  const added = Object.entries(found.env).filter(
    ([name, value]) => !(name in at.env) && name !== 'HOME' && admits(name, value),
  )
  return { ...Object.fromEntries(added), ...at.env, PATH: joinPaths(at.env['PATH'] ?? '', found.env['PATH'] ?? '') }
}

/** The session that reads may be closed over it: then another one does. */
async function readShared(
  shared: SharedLogins,
  key: string,
  nowMs: number,
  read: () => Promise<ShellState | null>,
): Promise<ShellState | null> {
  const recent = shared.get(key)
  if (recent && nowMs - recent.readAtMs < SHARED_FOR_MS) {
    const state = await recent.state.catch(() => null)
    if (state !== null) return state
  }
  // Nobody asks again for those of sessions that are over: a process of months would keep them all.
  for (const [old, { readAtMs }] of shared) if (nowMs - readAtMs >= SHARED_FOR_MS) shared.delete(old)
  const state = read()
  shared.set(key, { readAtMs: nowMs, state })
  return state
}

/** The folders of `login` in their order, for they say what goes before what; first those that only `own` has, such as a virtual environment. */
function joinPaths(own: string, login: string): string {
  const theirs = login.split(':').filter((folder) => folder !== '')
  const ours = own.split(':').filter((folder) => folder !== '' && !theirs.includes(folder))
  return [...new Set([...ours, ...theirs])].join(':')
}
