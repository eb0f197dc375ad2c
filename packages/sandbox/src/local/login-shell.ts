import type { ShellState } from '../shell/shell-state.js'

type Variables = Readonly<Record<string, string>>

/** Whose start-up files are read, and what of them counts. */
export interface LoginOptions {
  /** bash or zsh. Default, and for other shells: the one that runs commands. */
  readonly shell?: string | undefined
  /** Which variables besides `PATH` they may add. Default: all. */
  readonly admits?: (name: string, value: string) => boolean
}

/** Runs a program that leaves its state in the file `$1`; `null` when it leaves none, or takes longer than `timeoutMs`. */
export type Capture = (run: {
  readonly program: string
  readonly args: readonly string[]
  readonly env: Variables
  readonly timeoutMs: number
}) => Promise<ShellState | null>

const INTERACTIVE_LIMIT_MS = 5_000
const LOGIN_LIMIT_MS = 3_000

const SAVE = `{ command pwd; printf '\\0'; export -p; printf '\\0.'; } >| "$1"`
// zsh prints its PATH together with the array it is tied to, in a form that other shells do not know.
const SAVE_ZSH = `{ command pwd; printf '\\0'; printf 'export PATH=%q\\n' "$PATH"; printf '\\0.'; } >| "$1"`

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
  at: { readonly commandShell: string; readonly home: string; readonly env: Variables; readonly capture: Capture },
): Promise<Variables> {
  const shell =
    options.shell !== undefined && /(^|\/)(?:bash|zsh)$/.test(options.shell) ? options.shell : at.commandShell
  const isZsh = /zsh$/.test(shell)
  const env = { ...at.env, HOME: at.home, TERM: 'dumb' }
  const ask = (flags: readonly string[], timeoutMs: number) =>
    at.capture({ program: shell, args: [...flags, '-c', isZsh ? SAVE_ZSH : SAVE, 'bash'], env, timeoutMs })
  const found = (await ask(['-l', '-i'], INTERACTIVE_LIMIT_MS)) ?? (await ask(['-l'], LOGIN_LIMIT_MS))
  if (found === null) return at.env
  const admits = (name: string, value: string) => !OF_THE_SHELL.test(name) && (options.admits?.(name, value) ?? true)
  const added = Object.entries(found.env).filter(
    ([name, value]) => !(name in at.env) && name !== 'HOME' && admits(name, value),
  )
  return { ...Object.fromEntries(added), ...at.env, PATH: joinPaths(at.env['PATH'] ?? '', found.env['PATH'] ?? '') }
}

/** The folders of `login` in their order, for they say what goes before what; first those that only `own` has, such as a virtual environment. */
function joinPaths(own: string, login: string): string {
  const theirs = login.split(':').filter((folder) => folder !== '')
  const ours = own.split(':').filter((folder) => folder !== '' && !theirs.includes(folder))
  return [...new Set([...ours, ...theirs])].join(':')
}
