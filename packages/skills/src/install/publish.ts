// Gives a skill of the home to others: into a folder, or to a repository of GitHub by a branch and a pull request.
import { cp, lstat, mkdir, mkdtemp, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { HermesError } from '@hermes/contracts'
import { SKILL_FILE } from '../format/skill.js'
import { requireStrict } from '../format/write-skill.js'
import type { SkillLibrary } from '../skill-library.js'
import { isNotPlain, scanSkill } from './scan-skill.js'

/** Where a skill goes. */
type Target =
  | { readonly type: 'folder'; readonly path: string }
  | { readonly type: 'github'; readonly repository: string }

/** A skill that may be published, as a person is shown it. */
interface Publication {
  readonly name: string
  /** Absolute. */
  readonly folder: string
  readonly files: readonly string[]
  readonly findings: readonly string[]
  readonly target: Target
  /** For a person. */
  readonly where: string
}

const REPOSITORY = /^(?:https:\/\/github\.com\/)?([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/

/**
 * Looks at what would be published; nothing goes anywhere.
 * @throws HermesError `skills.not_published`, one line: it is not the home's own, fails the format, holds a key, or may take over an agent.
 */
export async function readPublication(
  name: string,
  to: string,
  { library, cwd }: { readonly library: SkillLibrary; readonly cwd: string },
): Promise<Publication> {
  const skill = library.require(await library.index(cwd), name)
  if (skill.source !== 'user' || skill.folder === null)
    throw notPublished(name, `it is a ${skill.source} skill, not your own`)
  const scanned = await scanSkill(skill.folder, name).catch((error: unknown) => {
    throw isNotPlain(error) ? notPublished(name, error.message) : error
  })
  const blocked = scanned.findings.find(({ severity }) => severity === 'blocked')
  if (blocked) throw notPublished(name, blocked.text)
  const files = Object.keys(scanned.files)
  for (const path of files) {
    const text = await readFile(join(skill.folder, path), 'utf8')
    if (path === SKILL_FILE) requireStrict(text, name, (await import('yaml')).default.parse)
    if (library.home.redact(text) !== text) throw notPublished(name, `${path} holds a key`)
  }
  const target = await targetOf(to, cwd)
  const where =
    target.type === 'folder' ? join(target.path, name) : `github.com/${target.repository}, by a pull request`
  return { name, folder: skill.folder, files, findings: scanned.findings.map(({ text }) => text), target, where }
}

async function targetOf(to: string, cwd: string): Promise<Target> {
  const path = resolve(cwd, to)
  if ((await stat(path).catch(() => null))?.isDirectory()) return { type: 'folder', path }
  const repository = REPOSITORY.exec(to)?.[1]
  if (repository !== undefined && !/^[./~]/.test(to)) return { type: 'github', repository }
  throw new HermesError(`${to.slice(0, 100)} is no folder that is there, and no OWNER/REPOSITORY.`, {
    code: 'commands.usage',
  })
}

/** Publishes it; gives a line for the person. @throws HermesError `skills.not_published`. Abort leaves nothing here. */
export async function publish(
  publication: Publication,
  { library, signal }: { readonly library: SkillLibrary; readonly signal: AbortSignal },
): Promise<string> {
  const { name, target } = publication
  switch (target.type) {
    case 'folder':
      await place(publication, join(target.path, name))
      return `Published ${name} in ${join(target.path, name)}.`
    case 'github':
      return toGitHub(publication, target.repository, { library, signal })
    default:
      return target satisfies never
  }
}

/** Puts the files of a skill in place of those of the same skill, and of nothing else. */
async function place({ name, folder }: Publication, to: string): Promise<void> {
  const [own, place] = [await realpath(folder), join(await realpath(dirname(to)), basename(to))]
  if (`${place}${sep}`.startsWith(`${own}${sep}`) || `${own}${sep}`.startsWith(`${place}${sep}`))
    throw notPublished(name, `${to} is where it lies`)
  const there = await lstat(to).catch(() => null)
  if (there?.isSymbolicLink()) throw notPublished(name, `${to} is a link`)
  if (there !== null && !(await stat(join(to, SKILL_FILE)).catch(() => null)))
    throw notPublished(name, `${to} is there and no skill`)
  const next = await mkdtemp(join(dirname(to), `.${name}-`))
  try {
    await cp(folder, join(next, name), { recursive: true, verbatimSymlinks: true })
    await rm(to, { recursive: true, force: true })
    await rename(join(next, name), to)
  } finally {
    await rm(next, { recursive: true, force: true })
  }
}

/** A folder of a repository may be a link to anywhere. */
async function requirePlain(name: string, tree: string): Promise<void> {
  const folder = join(tree, 'skills')
  await mkdir(folder, { recursive: true })
  if ((await realpath(folder)) !== join(await realpath(tree), 'skills'))
    throw notPublished(name, 'skills of that repository is a link')
}

async function toGitHub(
  publication: Publication,
  repository: string,
  { library, signal }: { readonly library: SkillLibrary; readonly signal: AbortSignal },
): Promise<string> {
  const { name } = publication
  const { home } = library
  const hub = join(home.directory, '.hub', 'quarantine')
  await mkdir(hub, { recursive: true, mode: 0o700 })
  const stage = await mkdtemp(join(hub, 'published-'))
  const tree = join(stage, basename(repository))
  const run = async (...argv: readonly [string, ...string[]]) => {
    const { exitCode, stdout, stderr } = await home.run(argv, { cwd: stage, signal })
    signal.throwIfAborted()
    const line =
      `${stderr}\n${stdout}`.split('\n').find((one) => /fatal|error|denied|rejected/i.test(one)) ??
      stderr.trim().split('\n')[0]!
    return { exitCode, stdout: stdout.trim(), why: JSON.stringify(line.slice(0, 200)) }
  }
  const git = async (...args: readonly string[]) => {
    const { exitCode, stdout, why } = await run('git', '-c', 'core.hooksPath=/dev/null', '-C', tree, ...args)
    if (exitCode !== 0) throw notPublished(name, `git ${args[0]} says ${why}`)
    return stdout
  }
  try {
    const cloned = await run(
      'git',
      'clone',
      '--quiet',
      '--depth',
      '1',
      '--',
      `https://github.com/${repository}.git`,
      tree,
    )
    if (cloned.exitCode !== 0) throw notPublished(name, `git says ${cloned.why}`)
    const branch = `skill-${name}`
    await git('checkout', '--quiet', '-b', branch)
    await requirePlain(name, tree)
    await place(publication, join(tree, 'skills', name))
    await git('add', '--all', '--', `skills/${name}`)
    if ((await git('status', '--porcelain')) === '') return `github.com/${repository} has ${name} as it is.`
    await git('commit', '--quiet', '-m', `skills: ${name}`)
    await git('push', '--quiet', 'origin', branch)
    const words = [
      '--repo',
      repository,
      '--head',
      branch,
      '--title',
      `skills: ${name}`,
      '--body',
      `Adds the skill ${name}.`,
    ] as const
    const opened = await run('gh', 'pr', 'create', ...words)
    const address = /https:\/\/\S+/.exec(opened.stdout)?.[0]
    return opened.exitCode === 0 && address !== undefined
      ? `Published ${name}: ${address}`
      : `Pushed ${branch} to github.com/${repository}. Open the pull request there: https://github.com/${repository}/compare/${branch}?expand=1`
  } finally {
    await rm(stage, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined)
  }
}

const notPublished = (name: string, why: string) =>
  new HermesError(`${name} is not published: ${why}.`, { code: 'skills.not_published' })
