// Gets what a person named into quarantine: a folder beside the installed skills that nothing loads from.

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, lstat, mkdir, mkdtemp, readdir, realpath, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { errorLine, HermesError } from '@hermes/contracts'
import { MAX_SKILL_BYTES, SKILL_FILE } from '../format/skill.js'
import { findSkillFolders } from '../index/find-skill-folders.js'
import type { SkillsHome } from '../skills-home.js'
import type { Fetched, Quarantined } from './fetched.js'
import { hubBytes, writeFiles } from './hub.js'
import { HUBS } from './hubs.js'
import { diskReason, keep, notKept } from './keep.js'
import { marketplaceAt } from './marketplace.js'
import { fetchFromServer, isOfServer } from './mcp-skills.js'
import { MAX_PACKED_BYTES, packedSkill } from './packed-skill.js'
import { isPlain, shownPath } from './plain.js'
import { fetchWellKnown } from './well-known.js'

/** Where a person is, and how they stop. */
export interface Fetching {
  readonly home: SkillsHome
  /** Where what is fetched lies meanwhile. Absolute. */
  readonly quarantine: string
  readonly cwd: string
  readonly signal: AbortSignal
}

const MAX_COPIED_FILES = 2_000
const MAX_COPIED_BYTES = 100_000_000
const PACKED = /\.(?:tar\.gz|tgz|zip)$/i
const GIT = /^(?:git\+|git@|git:\/\/|ssh:\/\/|github:|file:\/\/|https?:\/\/[^?#]*\.git(?:\/|#|$))/
/** `OWNER/REPOSITORY`, a folder in it, and `#REF`. */
const SHORT = /^([\w.-]+)\/([\w.-]+)((?:\/[\w.-]+)*)(#[\w./-]+)?$/

/** What a browser shows of a repository of GitHub, of a folder in it or of a file. A reference with a slash has to be given by `#REF`. */
const PAGE =
  /^https?:\/\/(?:www\.)?github\.com\/([\w.-]+\/[\w.-]+?)\/?(?:\/(?:tree|blob)\/([\w.-]+)((?:\/[\w.-]+)*?)(?:\/SKILL\.md)?\/?)?(#[\w./-]+)?$/

/**
 * Gets skills: a folder, the address of a SKILL.md or of an archive of one skill, a git address (`#REF`, and `//FOLDER` for one in it), `OWNER/REPOSITORY[/FOLDER]` of GitHub or the
 * address of its page, a site with `/.well-known/skills/index.json`, one of a hub (`clawhub:SLUG`, `skills.sh:OWNER/REPOSITORY/SKILL`, `lobehub:IDENTIFIER`), or of an MCP server of the home (`mcp:SERVER/NAME`).
 * @throws HermesError `skills.not_fetched`, `skills.not_kept`, one line; nothing is left then.
 */
export async function fetchSkills(from: string, fetching: Fetching): Promise<Quarantined> {
  const stage = await keep('What is fetched', async () => {
    await mkdir(fetching.quarantine, { recursive: true, mode: 0o700 })
    return mkdtemp(join(fetching.quarantine, 'fetched-'))
  })
  const discard = () => rm(stage, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined)
  try {
    return { ...(await fetchInto(from, stage, fetching)), discard }
  } catch (error) {
    await discard()
    fetching.signal.throwIfAborted()
    const reason = diskReason(error)
    if (reason !== null) throw notKept('What is fetched', reason, error)
    if (HermesError.isInstance(error) && error.code === 'skills.not_fetched') throw error
    throw notFetched(errorLine(error).replace(/\.$/, ''))
  }
}

async function fetchInto(from: string, stage: string, fetching: Fetching): Promise<Fetched> {
  const hub = HUBS.find((one) => one.has(from))
  if (hub) return hub.get(from, stage, { fetch: fetching.home.fetch, signal: fetching.signal })
  if (isOfServer(from)) return fetchFromServer(from, stage, fetching)
  if (GIT.test(from)) return cloned(from, stage, fetching)
  const [, page, branch, inside = '', mark] = PAGE.exec(from) ?? []
  if (page !== undefined) {
    const ref = mark ?? (branch === undefined ? '' : `#${branch}`)
    return cloned(`https://github.com/${page}.git${inside === '' ? '' : `/${inside}`}${ref}`, stage, fetching)
  }
  if (/^https?:\/\//.test(from)) return downloaded(from, stage, fetching)
  const local = resolve(
    fetching.cwd,
    from.replace(/^~(?=$|\/)/, () => fetching.home.userHome),
  )
  if ((await stat(local).catch(() => null))?.isDirectory()) return copied(local, stage)
  const [, owner, repository, below, ref = ''] = SHORT.exec(from) ?? []
  if (owner === undefined || from.startsWith('.') || from.startsWith('/'))
    throw notFetched(`${from.slice(0, 100)} is no folder, address or OWNER/REPOSITORY`)
  return cloned(`https://github.com/${owner}/${repository}.git${below ? `/${below}` : ''}${ref}`, stage, fetching, from)
}

async function copied(local: string, stage: string): Promise<Fetched> {
  const real = await realpath(local)
  const target = join(stage, basename(real))
  const isLeftOut = (path: string) => path !== real && /^(?:node_modules|\.git)$/.test(basename(path))
  await requireSmall(real, isLeftOut)
  // Links stay links, so that they are seen and refused.
  await cp(real, target, { recursive: true, verbatimSymlinks: true, filter: (path) => !isLeftOut(path) })
  return found(target, stage, null, (way) => (way === '' ? real : join(real, way)))
}

/** A folder is counted before anything of it is copied: it may be somebody's whole home. */
async function requireSmall(root: string, isLeftOut: (path: string) => boolean): Promise<void> {
  let [files, bytes] = [0, 0]
  const count = async (folder: string): Promise<void> => {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (isLeftOut(path)) continue
      if (entry.isDirectory()) await count(path)
      else {
        files += 1
        bytes += (await lstat(path)).size
      }
      if (files > MAX_COPIED_FILES || bytes > MAX_COPIED_BYTES)
        throw notFetched(`${root} has more than ${MAX_COPIED_FILES} files or 100 MB; name the folder of the skill`)
    }
  }
  await count(root)
}

async function cloned(from: string, stage: string, fetching: Fetching, shown = from): Promise<Fetched> {
  const [place = '', ref] = from
    .replace(/^git\+/, '')
    .replace(/^github:/, 'https://github.com/')
    .split('#')
  const [repository, below] = partsOf(place)
  if (/^-/.test(repository) || ref?.startsWith('-') || below.split('/').includes('..'))
    throw notFetched(`${from.slice(0, 100)} is no git address`)
  const target = join(stage, basename(repository).replace(/\.git$/, '') || 'skill')
  const git = [
    'git',
    '-c',
    'core.hooksPath=/dev/null',
    '-c',
    'protocol.ext.allow=never',
    '-c',
    'core.symlinks=true',
  ] as const
  const clone = [...git, 'clone', '--quiet', '--no-recurse-submodules'] as const
  const newest = ['--depth', '1', ...(ref === undefined ? [] : ['--branch', ref])]
  try {
    await run([...clone, ...newest, '--', repository, target], stage, fetching)
  } catch (error) {
    fetching.signal.throwIfAborted()
    // A commit is no branch, and servers of plain files give all or nothing.
    if (ref === undefined && !/dumb|shallow|depth/.test(errorLine(error))) throw error
    await rm(target, { recursive: true, force: true })
    await run([...clone, '--', repository, target], stage, fetching)
    if (ref !== undefined) await run([...git, '-C', target, 'checkout', '--quiet', '--detach', ref], stage, fetching)
  }
  const pin = (await run([...git, '-C', target, 'rev-parse', 'HEAD'], stage, fetching)).trim()
  await rm(join(target, '.git'), { recursive: true, force: true })
  const [head, mark = ''] = shown.split('#')
  const withRef = mark === '' ? '' : `#${mark}`
  const isShort = shown !== from
  const root = below === '' ? target : join(target, below)
  return found(root, stage, pin, (way) => {
    if (way === '') return shown
    return `${head}${isShort || below !== '' ? '/' : '//'}${way}${withRef}`
  })
}

/** A repository and the folder in it: what follows `.git`, else what follows two slashes behind the host. */
function partsOf(place: string): readonly [repository: string, below: string] {
  const [, repository, below] = /^(.*?\.git)\/{1,2}(.+)$/.exec(place) ?? []
  if (repository !== undefined) return [repository, below!]
  const host = /^[a-z+]+:\/\/[^/]*\/?/.exec(place)?.[0].length ?? 0
  const at = place.indexOf('//', host)
  return at > 0 ? [place.slice(0, at), place.slice(at + 2)] : [place, '']
}

async function run(argv: readonly [string, ...string[]], cwd: string, { home, signal }: Fetching): Promise<string> {
  const { exitCode, stdout, stderr } = await home.run(argv, { cwd, signal })
  signal.throwIfAborted()
  if (exitCode === 0) return stdout
  if (exitCode === 127) throw notFetched(`${argv[0]} is not installed`)
  if (/no space left on device/i.test(stderr)) throw Object.assign(new Error(stderr), { code: 'ENOSPC' })
  const lines = stderr.split('\n').filter((line) => line.trim() !== '')
  const why = lines.find((line) => /fatal|error/i.test(line)) ?? lines[0] ?? `exit code ${exitCode ?? 'unknown'}`
  throw notFetched(`${argv[0]} says ${JSON.stringify(why.slice(0, 200))}; it may be private, or gone`)
}

async function downloaded(url: string, stage: string, fetching: Fetching): Promise<Fetched> {
  const { pathname } = new URL(url)
  const isPacked = PACKED.test(pathname)
  if (!isPacked && !/\.md$/i.test(pathname)) return fetchWellKnown(url, stage, fetching)
  const { home, signal } = fetching
  const most = isPacked ? MAX_PACKED_BYTES : MAX_SKILL_BYTES
  const bytes = await hubBytes(new URL(url).host, url, most, { fetch: home.fetch, signal })
  const name = isPacked ? basename(pathname).replace(PACKED, '') : basename(dirname(pathname)) || 'skill'
  const folder = join(stage, /^[\w.-]+$/.test(name) ? name : 'skill')
  await writeFiles(folder, isPacked ? packedSkill(bytes) : [{ path: SKILL_FILE, bytes }])
  const pin = createHash('sha256').update(bytes).digest('hex')
  return { skills: [{ folder, name: basename(folder), from: url }], pin }
}

/** The skill that a folder is, or those in it. */
async function found(
  root: string,
  stage: string,
  pin: string | null,
  fromOf: (way: string) => string,
): Promise<Fetched> {
  await requirePlain(root, stage)
  const isSkill = (await stat(join(root, SKILL_FILE)).catch(() => null))?.isFile()
  if (isSkill) return { skills: [{ folder: root, name: basename(root), from: fromOf('') }], pin }
  const below = [root, join(root, 'skills'), join(root, '.claude/skills'), join(root, '.agents/skills')]
  const market = await marketplaceAt(root)
  const listed = market?.folders.map((folder) => join(root, folder)) ?? []
  const skills = [...below, ...listed].flatMap((folder) => skillsIn(folder, root))
  const unique = [...new Map(skills.map((one) => [one.folder, one])).values()]
  for (const { folder } of unique) await requirePlain(folder, stage)
  if (unique.length === 1 && !isPlain(relative(root, unique[0]!.folder).split(sep).join('/')))
    throw notFetched(`its folder ${shownPath(unique[0]!.name)} has a name that is more than a word in a command`)
  const elsewhere = market?.elsewhere.map((one) => ({ folder: '', ...one })) ?? []
  if (unique.length + elsewhere.length > 0) {
    const here = unique.map(({ folder, name }) => {
      const way = relative(root, folder).split(sep).join('/')
      return { folder, name, from: isPlain(way) ? fromOf(way) : '' }
    })
    return { skills: [...here, ...elsewhere], pin }
  }
  const names = await readdir(root).catch(() => null)
  throw notFetched(names === null ? 'there is no such folder in it' : 'there is no SKILL.md in it')
}

/** A folder may be a skill itself. */
function skillsIn(folder: string, root: string): readonly { readonly folder: string; readonly name: string }[] {
  if (folder !== root && existsSync(join(folder, SKILL_FILE))) return [{ folder, name: basename(folder) }]
  return findSkillFolders(folder)
}

/** What leads elsewhere by a link is not what was fetched. */
async function requirePlain(folder: string, stage: string): Promise<void> {
  const way = relative(stage, folder)
  const real = await realpath(folder).catch(() => null)
  if (real !== null && real !== join(await realpath(stage), way))
    throw notFetched(`${JSON.stringify(basename(folder))} in it is a link, or lies behind one`)
}

const notFetched = (why: string) =>
  new HermesError(`The skill could not be fetched: ${why}.`, { code: 'skills.not_fetched' })
