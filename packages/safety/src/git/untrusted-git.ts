import { dirname, join } from 'node:path/posix'
import { HermesError } from '@hermes/contracts'
import type { Environment, ExecOptions, ExecResult } from '@hermes/contracts/environment'
import type { Action, Permit } from '@hermes/contracts/policy'
import {
  type GitSetting,
  gitSettingsEnv,
  isOfRepository,
  readGitSettings,
  withoutRepositoryPrograms,
} from './repository-programs.js'

/** Where git runs, and with whose leave. */
interface GitTarget {
  readonly environment: Environment
  readonly permit: (action: Action) => Promise<Permit>
  /** For every command. */
  readonly limits: Pick<ExecOptions, 'signal' | 'timeoutMs' | 'maxOutputBytes'>
}

/** Runs `command`, which begins with `git`, in a folder. */
type UntrustedGit = (cwd: string, command: string) => Promise<ExecResult>

/** For commands that show differences: nothing but git itself makes them, and repositories within are not entered. */
export const PLAIN_DIFF = '--no-ext-diff --no-textconv --no-color --submodule=short --ignore-submodules=dirty'

const SETTINGS: readonly (readonly [name: string, value: string])[] = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['core.pager', 'cat'],
  ['core.sshCommand', 'false'],
  ['credential.helper', ''],
  ['commit.gpgSign', 'false'],
  ['log.showSignature', 'false'],
  ['diff.autoRefreshIndex', 'false'],
  ['maintenance.auto', 'false'],
  ['gc.auto', '0'],
  // A folder of a repository may itself look like one, with settings that came along when it was cloned.
  ['safe.bareRepository', 'explicit'],
]
// Nothing missing is fetched: who serves it is named by the repository, and so is the program that asks for it.
const ENV = { GIT_OPTIONAL_LOCKS: '0', GIT_NO_LAZY_FETCH: '1', GIT_ALLOW_PROTOCOL: 'none', GIT_TERMINAL_PROMPT: '0' }
const LIST_SETTINGS = 'git config --list --show-scope --name-only'
const MOST_SETTINGS_BYTES = 500_000
const NOT_INSTALLED = 127
const NO_SUCH_FLAG = 129

/**
 * git for repositories that nobody vouches for: their settings and attributes can name programs that git starts while it only looks. Hooks,
 * monitors, signature checks and helpers are switched off by the settings of the command; the filters and merge drivers that the
 * repository itself defines are looked up first and taken away one by one. What the user's own settings define stays.
 * @throws HermesError `agent.git_unsafe` where git is older than 2.31 and would not heed that, the settings cannot be read, or they name
 * another folder as that of the repository; `policy.denied`.
 * @see git documentation: git, section Security; git-config, `GIT_CONFIG_COUNT`; gitattributes, filters and merge drivers
 */
export function openUntrustedGit({ environment, permit, limits }: GitTarget): UntrustedGit {
  const known = new Map<string, Promise<Readonly<Record<string, string>>>>()
  const run = async (command: string, options: ExecOptions & { readonly cwd: string }) => {
    const spawnPermit = await permit({ type: 'spawn', command, cwd: options.cwd, backend: environment.backend })
    return environment.exec(spawnPermit, command, { ...limits, ...options, aside: true })
  }
  const harmless = async (cwd: string) => {
    const env = { ...ENV, ...gitSettingsEnv(SETTINGS) }
    const listed = await run(LIST_SETTINGS, { cwd, env, maxOutputBytes: MOST_SETTINGS_BYTES })
    // Where there is no git the command itself says so.
    if (listed.exitCode === NOT_INSTALLED) return env
    const settings = parseSettings(listed)
    if (settings.some((setting) => isOfRepository(setting) && setting.name === 'core.worktree')) {
      const { output } = await run('git rev-parse --show-toplevel', { cwd, env })
      if ((await folderWithGit(environment, cwd)) !== output.trim())
        throw unsafe('it says that its files are elsewhere')
    }
    const without = withoutRepositoryPrograms(settings)
    if (without === null) throw unsafe('one of its filters has a name that is no text')
    return { ...ENV, ...gitSettingsEnv([...SETTINGS, ...without]) }
  }
  return async (cwd, command) => {
    const env = known.get(cwd) ?? harmless(cwd)
    known.set(cwd, env)
    return run(command, { cwd, env: await env })
  }
}

/** One a line, its scope before a tab. A list that is cut is none. */
function parseSettings({ exitCode, output, outputBytes }: ExecResult): readonly GitSetting[] {
  const needed = '2.31 or newer is needed'
  if (exitCode !== 0) throw unsafe(exitCode === NO_SUCH_FLAG ? needed : output.trim().split('\n').at(-1))
  if (outputBytes > MOST_SETTINGS_BYTES) throw unsafe('it has too many settings')
  const settings = readGitSettings(output)
  if (settings.some(({ scope, name }) => scope === 'command' && name === 'core.fsmonitor')) return settings
  throw unsafe(needed)
}

function unsafe(why = 'its settings cannot be read'): HermesError {
  const text = `git was not run, as the repository could misuse it: ${why.replace(/\.$/, '')}.`
  return new HermesError(text, { code: 'agent.git_unsafe' })
}

/** The nearest folder from `cwd` up that a repository lies in. What its settings call its folder may be any, such as one of keys. */
export async function folderWithGit(environment: Environment, cwd: string): Promise<string | null> {
  for (let folder = await environment.realpath(cwd); ; folder = dirname(folder)) {
    if (await environment.stat(join(folder, '.git'))) return folder
    if (folder === '/') return null
  }
}
