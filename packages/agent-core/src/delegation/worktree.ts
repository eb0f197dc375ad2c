import { randomBytes } from 'node:crypto'
import { errorLine, HermesError } from '@hermes/contracts'
import type { ExecResult } from '@hermes/contracts/environment'
import type { ToolContext } from '@hermes/contracts/tool'
import { openUntrustedGit, PLAIN_DIFF } from '@hermes/safety'

const GIT_TIMEOUT_MS = 120_000
const MAX_STAT_LINES = 30
const MAX_NAMED_FILES = 20
const STATUS = 'status --porcelain --ignore-submodules=dirty'

/** A git worktree that one child works in, on a branch of its own. */
export interface Worktree {
  /** The same directory as its parent's, in the worktree. Absolute. */
  readonly cwd: string
  /**
   * Commits what the child left, takes the worktree away and says what is on the branch and whether it merges. Never rejects: what goes
   * wrong is in the report, with where the work is.
   */
  finish(goal: string): Promise<string>
}

/** What worktrees are made with: git runs where the parent works, under the same policy, and nothing that the repository names. */
type WorktreeContext = Pick<ToolContext, 'environment' | 'permit'>

/**
 * Makes a worktree of the repository around the current directory, at its newest commit, in a folder of `/tmp` for this user alone.
 * @throws HermesError `delegation.no_worktree` with one line; `policy.denied`.
 */
export async function openWorktree(context: WorktreeContext): Promise<Worktree> {
  const git = gitIn(context)
  const cwd = context.environment.cwd()
  const found = await git(cwd, 'rev-parse --show-toplevel HEAD --show-prefix')
  const [, base, prefix = ''] = found.output.split('\n')
  if (found.exitCode !== 0 || !base)
    throw noWorktree(`${cwd} is not in a git repository that has a commit`, { output: '' })
  const name = `task-${randomBytes(4).toString('hex')}`
  const [path, branch] = [`/tmp/hermes-worktree-${name}`, `hermes/${name}`]
  await makePrivate(context, path)
  const made = await git(cwd, `worktree add -q -b ${branch} ${path} ${base}`)
  if (made.exitCode !== 0) throw noWorktree('git made none', made)
  const worktree = { path, branch, base, parentCwd: cwd }
  return {
    cwd: `${path}/${prefix}`.replace(/\/$/, ''),
    finish: (goal) =>
      finish(gitIn(context), worktree, goal).catch(
        (error: unknown) =>
          `Its work is in ${path} on branch ${branch}; it could not be put together: ${errorLine(error)}`,
      ),
  }
}

/** Everybody may look into `/tmp`, and put a link there for others to follow. */
async function makePrivate({ environment, permit }: WorktreeContext, path: string): Promise<void> {
  const [command, cwd] = [`mkdir -m 700 ${path}`, '/tmp']
  const spawnPermit = await permit({ type: 'spawn', command, cwd, backend: environment.backend })
  const made = await environment.exec(spawnPermit, command, { cwd, timeoutMs: GIT_TIMEOUT_MS })
  if (made.exitCode !== 0) throw noWorktree('there is no place for it in /tmp', made)
}

interface Place {
  readonly path: string
  readonly branch: string
  readonly base: string
  readonly parentCwd: string
}

type Git = (cwd: string, args: string) => Promise<ExecResult>

function gitIn({ environment, permit }: WorktreeContext): Git {
  const git = openUntrustedGit({
    environment,
    permit,
    limits: { timeoutMs: GIT_TIMEOUT_MS },
  })
  return (cwd, args) => git(cwd, `git ${args}`)
}

async function finish(git: Git, { path, branch, base, parentCwd }: Place, goal: string): Promise<string> {
  const must = async (cwd: string, args: string) => {
    const result = await git(cwd, args)
    if (result.exitCode !== 0) throw noWorktree(`git ${args.split(' ')[0]} failed`, result)
    return result.output.trimEnd()
  }
  if ((await must(path, STATUS)) !== '') {
    await must(path, 'add -A')
    const who = '-c user.name=Hermes -c user.email=hermes@localhost'
    await must(path, `${who} commit -q --no-verify -m ${quote(`hermes: ${goal.trim().split('\n')[0]}`)}`)
  }
  const files = lines(await must(parentCwd, `diff --name-only ${PLAIN_DIFF} ${base} ${branch}`))
  await must(parentCwd, `worktree remove ${path}`)
  if (files.length === 0) {
    await must(parentCwd, `branch -q -d ${branch}`)
    return 'It changed no files.'
  }
  const stat = lines(await must(parentCwd, `diff --stat=100 ${PLAIN_DIFF} ${base} ${branch}`))
  const shown = stat.length > MAX_STAT_LINES ? ['…', ...stat.slice(-MAX_STAT_LINES)] : stat
  const dirty = lines(await must(parentCwd, STATUS)).map((line) => line.slice(3))
  return [
    `Its changes are on branch ${branch}:`,
    ...shown,
    await mergeLine(git, parentCwd, branch),
    ...overlap(files.filter((file) => dirty.includes(file))),
  ].join('\n')
}

async function mergeLine(git: Git, cwd: string, branch: string): Promise<string> {
  const { exitCode, output } = await git(cwd, `merge-tree --write-tree --name-only --no-messages HEAD ${branch}`)
  if (exitCode === 0) return `It merges cleanly: git merge ${branch}`
  // Older versions of git cannot try a merge without a worktree.
  if (exitCode !== 1) return `To take it over: git merge ${branch}`
  return `It conflicts with HEAD in ${named(lines(output).slice(1))}: git merge ${branch}`
}

function overlap(files: readonly string[]): readonly string[] {
  return files.length === 0 ? [] : [`Changes here that are not committed touch the same files: ${named(files)}`]
}

function named(files: readonly string[]): string {
  const left = files.length - MAX_NAMED_FILES
  return left > 0 ? `${files.slice(0, MAX_NAMED_FILES).join(', ')} and ${left} more` : files.join(', ')
}

function lines(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '')
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function noWorktree(what: string, { output }: { readonly output: string }): HermesError {
  const why = output.trim() === '' ? '' : ` (${output.trim().split('\n').at(-1)})`
  return new HermesError(`There is no worktree: ${what}${why}.`, { code: 'delegation.no_worktree' })
}
