// Worktrees of the person's own: folders of the same repository, each on a branch of its own, below `.worktrees` in its root.
//
//   made at the newest commit, locked by its process ─▶ worked in ─▶ taken away where nothing would be lost, else kept and named
import { randomBytes } from 'node:crypto'
import { HermesError } from '@hermes/contracts'
import { PLAIN_STATUS, quoted, type RunShell } from '../plain-git.js'

/** A worktree beside the first one of a repository. */
export interface WorktreeInfo {
  /** Absolute. */
  readonly path: string
  /** `null` where no branch is checked out. */
  readonly branch: string | null
  /** Why somebody does not want it taken away; `null` for no reason. */
  readonly lock: string | null
  /** Whether Hermes made it: any other one stays, whatever is in it. */
  readonly isOurs: boolean
  /** Files that are neither committed nor ignored; `null` where that cannot be looked at. */
  readonly changes: number | null
  /** Ignored files and folders, such as one with variables; those that programs make anew do not count. */
  readonly ignored: number
  /** Commits that no other branch has, and whose content is not in the branch of the first worktree either. */
  readonly commits: number
}

/** One that was just made. */
export interface MadeWorktree {
  readonly path: string
  readonly branch: string
  /** The same folder in it as the one it was asked for in. */
  readonly cwd: string
  /** The root of the repository, in which it is listed. */
  readonly root: string
}

const FOLDER = '.worktrees'
const LOCKED_BY = 'hermes, process '
/** What builds, tests, package managers and desktops leave, and make again. */
const MADE_ANEW =
  /(?:^!! |\/)(?:(?:node_modules|dist|build|out|target|coverage|tmp|\.venv|venv|__pycache__|\.[\w-]*cache|\.next|\.nuxt|\.turbo|\.gradle|\.tox)\/|[^/]*\.(?:pyc|tsbuildinfo|log)|\.[\w-]*cache|\.DS_Store)"?$/
const NAME = /^[a-z0-9][a-z0-9._-]{0,39}$/i

/**
 * Makes a worktree at the newest commit of the one that `cwd` is in, on a new branch `hermes/NAME`, and locks it for a process.
 * @throws HermesError `command.worktree` with one line.
 */
export async function makeWorktree(
  run: RunShell,
  cwd: string,
  { name, pid }: { readonly name: string; readonly pid: number },
): Promise<MadeWorktree> {
  if (!NAME.test(name)) throw problem(`"${name}" is no name for a worktree: letters, digits, dots and dashes`)
  const root = await rootOf(run, cwd)
  const prefix = (await must(run, cwd, 'git rev-parse --show-prefix')).trim()
  const [path, branch] = [`${root}/${FOLDER}/${name}`, `hermes/${name}`]
  const ignore = `${FOLDER}/.gitignore`
  await must(run, root, `mkdir -p ${FOLDER} && { [ -e ${ignore} ] || printf '*\\n' > ${ignore}; }`)
  const commit = lines(await must(run, cwd, `git rev-parse --verify HEAD`)).at(-1)!
  // It is never there without a lock; older versions of git take no reason with the first one.
  await must(run, root, `git worktree add -q --lock -b ${branch} ${FOLDER}/${name} ${commit}`)
  const lock = `git worktree lock --reason '${LOCKED_BY}${pid}' ${FOLDER}/${name}`
  await must(run, root, `git worktree unlock ${FOLDER}/${name} && ${lock}`)
  const same = `${path}/${prefix}`.replace(/\/$/, '')
  // A folder that is not committed is not there.
  const hasSame = (await run(`[ -d ${quoted(same)} ]`, root)).exitCode === 0
  return { path, branch, root, cwd: hasSame ? same : path }
}

/** A name that nothing else has. */
export function newName(): string {
  return randomBytes(4).toString('hex')
}

/** The worktrees of a repository but the first. @throws HermesError `command.worktree` */
export async function listWorktrees(run: RunShell, cwd: string): Promise<readonly WorktreeInfo[]> {
  const root = await rootOf(run, cwd)
  const known = readList(await must(run, root, `git worktree list --porcelain`)).slice(1)
  const infos: WorktreeInfo[] = []
  for (const { path, branch, lock } of known) {
    const isOurs = path.startsWith(`${root}/${FOLDER}/`) && (branch?.startsWith('hermes/') ?? false)
    const commits = branch === null ? 0 : await ownCommits(run, root, branch)
    infos.push({ path, branch, lock, isOurs, ...(await filesOf(run, root, path)), commits })
  }
  return infos
}

/** What is in the folder of a worktree and in no commit, also where the person has git show less of it. */
async function filesOf(run: RunShell, root: string, path: string): Promise<Pick<WorktreeInfo, 'changes' | 'ignored'>> {
  // A folder that somebody deleted has nothing that could be lost but its commits.
  if ((await run(`[ -e ${quoted(path)} ]`, root)).exitCode !== 0) return { changes: 0, ignored: 0 }
  const command = `git status --porcelain --untracked-files=all --ignored=matching ${PLAIN_STATUS} 2> /dev/null`
  const seen = await run(command, path).catch(() => null)
  if (seen === null || seen.exitCode !== 0) return { changes: null, ignored: 0 }
  const { output } = seen
  const ignored = lines(output).filter((line) => line.startsWith('!! '))
  const files = ignored.filter((line) => !MADE_ANEW.test(line))
  return { changes: lines(output).length - ignored.length, ignored: files.length }
}

/** What keeps a worktree, in words; `null` where nothing would be lost with it. */
export function keptBecause({ branch, lock, isOurs, changes, ignored, commits }: WorktreeInfo): string | null {
  if (lock !== null && !isLeft(lock)) return lock === '' ? 'it is locked' : `it is locked: ${lock}`
  const parts = [
    ...(branch === null ? ['it has no branch'] : []),
    ...(commits > 0 ? [counted(commits, 'commit that is nowhere else', 'commits that are nowhere else')] : []),
    ...(changes === null ? ['its files cannot be looked at'] : []),
    ...(changes ? [counted(changes, 'file that is not committed', 'files that are not committed')] : []),
    ...(ignored > 0 ? [counted(ignored, 'ignored file or folder', 'ignored files or folders')] : []),
    ...(isOurs || branch === null ? [] : ['Hermes did not make it']),
  ]
  return parts.length === 0 ? null : parts.join(', ')
}

/** Takes a worktree away with its branch; gives why it stays, `null` once it is gone. Never rejects. */
export async function removeWorktree(
  run: RunShell,
  root: string,
  { path, branch, lock }: WorktreeInfo,
): Promise<string | null> {
  try {
    // What another branch had may have gone with it a moment ago.
    if (branch === null || (await ownCommits(run, root, branch)) > 0) return 'its commits are nowhere else'
    if (lock !== null) await must(run, root, `git worktree unlock ${quoted(path)}`)
    // Without --force git looks once more for what is not committed.
    await must(run, root, `git worktree remove ${quoted(path)}`)
    await must(run, root, `git branch -q -D ${quoted(branch)}`)
    return null
  } catch (error) {
    return error instanceof Error ? error.message.replace(/\.$/, '') : String(error)
  }
}

/** Ends the work in a worktree: it goes where nothing would be lost; else it is kept. Says which, in a line. Never rejects. */
export async function leaveWorktree(run: RunShell, { path, branch, root }: MadeWorktree): Promise<string> {
  const where = `Your work is in ${path} on branch ${branch}`
  try {
    await run(`git worktree unlock ${quoted(path)}`, root)
    const info = (await listWorktrees(run, root)).find((one) => one.path === path)
    if (info === undefined) return `The worktree ${path} is gone.`
    const why = keptBecause(info)
    if (why !== null) return `${where}: ${why}. To take it over: git merge ${branch}`
    const stays = await removeWorktree(run, root, info)
    if (stays !== null) return `${where}: ${stays}. To take it over: git merge ${branch}`
    return 'The worktree had nothing new and is gone.'
  } catch (error) {
    return `${where}; it could not be looked at: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** Whether the process that locked it has ended. */
function isLeft(lock: string): boolean {
  const pid = lock.startsWith(LOCKED_BY) ? Number(lock.slice(LOCKED_BY.length)) : Number.NaN
  return Number.isInteger(pid) && !isAlive(pid)
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // It runs, and belongs to somebody else.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** The root of the first worktree, whichever one the folder is in. @throws HermesError `command.worktree` */
export async function rootOf(run: RunShell, cwd: string): Promise<string> {
  const { output, exitCode } = await run(`git worktree list --porcelain`, cwd)
  const [first] = readList(output)
  if (exitCode !== 0 || first === undefined) throw problem(`${cwd} is in no git repository`)
  return first.path
}

function readList(text: string): readonly Pick<WorktreeInfo, 'path' | 'branch' | 'lock'>[] {
  return text.split('\n\n').flatMap((block) => {
    const field = (name: string) => new RegExp(`^${name}(?: (.*))?$`, 'm').exec(block)
    const path = field('worktree')?.[1]
    if (path === undefined) return []
    const lock = field('locked')
    const branch = field('branch')?.[1]?.replace('refs/heads/', '') ?? null
    return [{ path, branch, lock: lock === null ? null : (lock[1] ?? '') }]
  })
}

/** How many commits would be lost with a branch: none where their content was taken over in another commit. */
async function ownCommits(run: RunShell, root: string, branch: string): Promise<number> {
  const name = quoted(branch)
  const others = `--exclude=${name} --branches --remotes --tags`
  const answer = await must(run, root, `git rev-list --count ${name} --not ${others} 2> /dev/null`)
  const count = Number(answer.trim())
  if (answer.trim() === '' || !Number.isInteger(count)) throw problem(`git does not say what ${branch} has`)
  if (count === 0) return 0
  const merged = await run(`git merge-tree --write-tree HEAD ${name}`, root)
  const tree = await run(`git rev-parse HEAD^{tree}`, root)
  const isTakenOver = merged.exitCode === 0 && lines(merged.output)[0] === tree.output.trim()
  return isTakenOver ? 0 : count
}

async function must(run: RunShell, cwd: string, command: string): Promise<string> {
  const { output, exitCode } = await run(command, cwd)
  if (exitCode === 0) return output
  throw problem(
    lines(output)
      .at(-1)
      ?.replace(/^fatal: /, '') ?? 'git could not be run here',
  )
}

function lines(text: string): readonly string[] {
  return text.split('\n').filter((line) => line.trim() !== '')
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`
}

function problem(message: string): HermesError {
  return new HermesError(`${message}.`.replace(/\.\.$/, '.'), { code: 'command.worktree' })
}
