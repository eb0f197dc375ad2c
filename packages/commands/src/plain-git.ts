// git for the person, in a repository that nobody may have vouched for yet: nothing that it names is run while git only looks or makes a worktree.
import { HermesError } from '@hermes/contracts'
import { gitSettingsEnv, readGitSettings, withoutRepositoryPrograms } from '@hermes/safety'

/** Runs a shell command in a folder. */
export type RunShell = (
  command: string,
  cwd: string,
) => Promise<{ readonly output: string; readonly exitCode: number | null }>

/** A repository within is not entered: git would run what that one names. */
export const PLAIN_STATUS = '--ignore-submodules=dirty'
/** For commands that show differences. */
export const PLAIN_DIFF = `--no-ext-diff --no-textconv --no-color --submodule=short ${PLAIN_STATUS}`

const SETTINGS: readonly (readonly [name: string, value: string])[] = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['core.pager', 'cat'],
  ['core.sshCommand', 'false'],
  ['credential.helper', ''],
  // A folder of a repository may itself look like one, with settings that came along when it was cloned.
  ['safe.bareRepository', 'explicit'],
]
/** Nothing missing is fetched: who serves it is named by the repository, and so is the program that asks for it. */
const ENV = { GIT_TERMINAL_PROMPT: '0', GIT_NO_LAZY_FETCH: '1', GIT_ALLOW_PROTOCOL: 'none' }
/** Of all settings those that matter, then how many: what is printed may be cut. */
const LISTED = ['local', 'worktree'].flatMap((scope) =>
  ['filter."*', 'merge."*', 'core.worktree"'].map((begin) => `"${scope}\t${begin}`),
)
const LIST = `git config --list --show-scope --name-only 2> /dev/null | { LC_ALL=C; n=0; while IFS= read -r line; do case "$line" in ${LISTED.join('|')}|"command\tcore.fsmonitor") printf '%s\\n' "$line"; n=$((n + 1)) ;; esac; done; echo $n; }`

/** The folder that the files of a repository are in, as git takes it, and the nearest one from here up that a repository lies in. */
const FOLDERS = `git rev-parse --show-toplevel; d=$(pwd -P); while [ ! -e "$d/.git" ] && [ -n "$d" ]; do d="\${d%/*}"; done; printf '%s\\n' "$d"`

/**
 * The same shell for commands of git that are the person's own wish: hooks and monitors are switched off, and so are filters and merge drivers
 * that the repository itself defines. Nobody is asked for a password, and nothing is fetched. What the person's own settings define stays.
 * @throws HermesError `command.git_unsafe` where that cannot be done, as with git before 2.31, or the repository says that its files are in
 * another folder
 */
export function plainShell(run: RunShell): RunShell {
  const known = new Map<string, Promise<string>>()
  return async (command, cwd) => {
    const variables = known.get(cwd) ?? variablesFor(run, cwd)
    known.set(cwd, variables)
    return run(`${await variables} && { ${command}; }`, cwd)
  }
}

/** The beginning of a command that sets them. */
async function variablesFor(run: RunShell, cwd: string): Promise<string> {
  const { output } = await run(`${exported(SETTINGS)} && { ${LIST}; }`, cwd)
  const lines = output.trimEnd().split('\n')
  const settings = readGitSettings(lines.slice(0, -1).join('\n'))
  if (!settings.some(({ scope }) => scope === 'command')) throw unsafe('git 2.31 or newer is needed')
  if (Number(lines.at(-1)) !== settings.length) throw unsafe('it has too many settings')
  if (settings.some(({ name }) => name === 'core.worktree')) {
    const folders = (await run(`${exported(SETTINGS)} && { ${FOLDERS}; }`, cwd)).output.trimEnd().split('\n')
    if (folders.length !== 2 || folders[0] !== folders[1]) throw unsafe('it says that its files are elsewhere')
  }
  const without = withoutRepositoryPrograms(settings)
  if (without === null) throw unsafe('one of its filters has a name that is no text')
  return exported([...SETTINGS, ...without])
}

function exported(settings: readonly (readonly [name: string, value: string])[]): string {
  const variables = Object.entries({ ...ENV, ...gitSettingsEnv(settings) })
  return `export ${variables.map(([name, value]) => `${name}=${quoted(value)}`).join(' ')}`
}

/** A word for a shell. */
export function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}

function unsafe(why: string): HermesError {
  return new HermesError(`git was not run, as the repository could misuse it: ${why}.`, { code: 'command.git_unsafe' })
}
