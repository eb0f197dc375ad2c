import { createHash } from 'node:crypto'
import { existsSync, lstatSync, type Stats } from 'node:fs'
import { lstat, readdir, readFile, readlink, realpath, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { HermesError } from '@hermes/contracts'
import type { FolderTrust } from '@hermes/contracts/policy'
import { withLock, writePrivate } from '@hermes/files'
import { homeLayout } from './home.js'

/** What a project can bring that instructs an agent or runs by itself, and where it lies. One answer covers all of it. */
const COVERED = Object.freeze({
  instructions: [
    ...['.hermes.md', 'HERMES.md', 'AGENTS.md', 'agents.md', 'CLAUDE.md', 'claude.md', 'CLAUDE.local.md'],
    ...['.cursorrules', '.cursor/rules'],
  ],
  skills: ['.hermes/skills', '.agents/skills', '.claude/skills', '.codex/skills'],
  plugins: ['.hermes/plugins', '.agents/plugins'],
  'MCP servers': [
    ...['.mcp.json', 'mcp.json', '.hermes/mcp.json', '.cursor/mcp.json', '.vscode/mcp.json', '.zed/settings.json'],
    '.codex/config.toml',
  ],
  hooks: [
    ...['.claude/settings.json', '.claude/settings.local.json', '.claude/hooks'],
    ...['.codex/hooks.json', '.codex/hooks', '.hermes/hooks'],
  ],
  // What they run by after a write.
  linters: [
    ...['biome.json', 'biome.jsonc', 'ruff.toml', '.ruff.toml'],
    ...['js', 'mjs', 'cjs', 'ts', 'mts'].map((ending) => `eslint.config.${ending}`),
    ...['', '.js', '.cjs', '.json', '.yml', '.yaml'].map((ending) => `.eslintrc${ending}`),
  ],
} satisfies Record<string, readonly string[]>)

/** A kind of thing that a project brings. */
type TrustedKind = keyof typeof COVERED

/** What a person may be asked to trust. */
export interface FolderCover {
  /** The project: absolute, links followed. */
  readonly folder: string
  /** `changed`: it was trusted, and something of it is another one now. `declined`: the person said no to what is there. */
  readonly state: 'trusted' | 'changed' | 'declined' | 'unknown'
  /** What is there, by kind; paths in the project. */
  readonly brings: readonly { readonly kind: TrustedKind; readonly paths: readonly string[] }[]
  /** What is new, gone or another one since the answer; paths in the project. */
  readonly changed: readonly string[]
  /** Whether it is a repository; else a folder by itself, or one that the person answered for. */
  readonly isRepository: boolean
}

/** An answer as it is kept. */
interface TrustedFolder {
  readonly folder: string
  readonly isTrusted: boolean
  readonly atMs: number
}

/** The answers that the person of a home gave. */
export interface TrustStore extends FolderTrust {
  /** What the project of a folder brings, and what the person said of it. Rejects for a folder that is not there. */
  look(folder: string): Promise<FolderCover>
  list(): Promise<readonly TrustedFolder[]>
  /**
   * Keeps the answer for what is there now; one that was given before is replaced. Gives what it covers.
   * @throws HermesError `config.no_folder`, `files.not_writable`
   */
  answer(folder: string, isTrusted: boolean): Promise<FolderCover>
  /**
   * Has an answer cover what is at these paths now, absolute: the person agreed to that change, or it was made in their session. Nothing else that
   * changed is covered by it. Without a yes for the project nothing happens.
   */
  adopt(paths: readonly string[]): Promise<void>
  /** Takes the answer back; `false` when there was none. The folder need not be there any more. */
  remove(folder: string): Promise<boolean>
}

/** Options of {@link openTrust}. */
interface TrustOptions {
  readonly home: string
  /** A folder whose project counts as trusted for as long as this object lives, as it is when it is first asked about. Absolute. */
  readonly trustedNow?: string | undefined
  /** The home of the person. An answer for it, or for a folder above it, covers what lies right in it and no folder below. */
  readonly userHome?: string
  /** In Unix milliseconds. */
  readonly now: () => number
}

interface Entry extends TrustedFolder {
  /** SHA-256 by path in the project. */
  readonly files: Readonly<Record<string, string>>
}

const MAX_FILES = 2_000
const MAX_DEPTH = 8
/** Of a larger file its size and times count in place of what it holds. */
const MAX_BYTES = 5_000_000

/** The trust in projects that a home keeps, in `trust.json`. Each call reads the file anew, so that an answer reaches what is running. */
export function openTrust({ home, trustedNow, userHome = '', now }: TrustOptions): TrustStore {
  const file = homeLayout(home).trust
  let here: Promise<Entry | null> | null = null
  const forNow = () => {
    here ??=
      trustedNow === undefined
        ? Promise.resolve(null)
        : entryFor(trustedNow, true, now(), { home, userHome }).catch(() => null)
    return here
  }
  const look = async (folder: string): Promise<FolderCover> => {
    const current = await forNow()
    const answered = await read(file)
    const entries = current ? [current, ...answered] : answered
    const root = await projectOf(folder, userHome, entries)
    const isRepository = await isThere(join(root, '.git'))
    const own = entries.find((entry) => entry.folder === root)
    const main = own ? null : await repositoryOf(root)
    const known = own ?? entries.find((entry) => entry.folder === main && entry.isTrusted)
    const files = await filesOf(root, home)
    const brings = kindsOf(Object.keys(files))
    if (!known) return { folder: root, state: 'unknown', brings, changed: [], isRepository }
    // A worktree has what is committed: what only lies in the repository itself is not missing there.
    const changed = differences(known.files, files).filter((path) => own !== undefined || path in files)
    const state =
      changed.length === 0 ? (known.isTrusted ? 'trusted' : 'declined') : known.isTrusted ? 'changed' : 'unknown'
    return { folder: root, state, brings, changed, isRepository }
  }
  const change = <T>(edit: (entries: readonly Entry[]) => readonly [readonly Entry[], T]) =>
    withLock(`${file}.lock`, { busy: `Another process writes ${file}; try again.` }, async () => {
      const [entries, result] = edit(await read(file))
      await writePrivate(file, `${JSON.stringify({ version: 1, folders: entries }, null, 2)}\n`)
      return result
    })
  return {
    isTrusted: async (folder) => {
      // Nobody has answered for most folders, and then there is nothing to compare.
      if (trustedNow === undefined && (!existsSync(file) || (await read(file)).length === 0)) return false
      const cover = await look(await nearestThere(folder)).catch(() => null)
      return cover?.state === 'trusted'
    },
    look,
    list: async () => (await read(file)).map(({ folder, isTrusted, atMs }) => ({ folder, isTrusted, atMs })),
    answer: async (folder, isTrusted) => {
      const entry = await entryFor(folder, isTrusted, now(), { home, userHome })
      await change((entries) => [[...entries.filter((one) => one.folder !== entry.folder), entry], undefined])
      return look(folder)
    },
    adopt: async (paths) => {
      const answered = await read(file)
      const current = await forNow()
      const known = current ? [current, ...answered] : answered
      for (const path of paths) {
        const root = await projectOf(await nearestThere(dirname(path)), userHome, known).catch(() => null)
        const entry = known.find((one) => one.folder === root && one.isTrusted)
        if (!entry) continue
        const covered = relative(entry.folder, path)
        const now = (await filesOf(entry.folder, home))[covered]
        if (now === entry.files[covered]) continue
        const adopted = (one: Entry): Entry => {
          const { [covered]: _, ...others } = one.files
          return { ...one, files: now === undefined ? others : { ...others, [covered]: now } }
        }
        if (entry === current) here = Promise.resolve(adopted(entry))
        else await change((all) => [all.map((one) => (one.folder === root ? adopted(one) : one)), undefined])
      }
    },
    remove: async (folder) => {
      const root = await projectOf(folder, userHome).catch(() => folder)
      const wanted = new Set([root, folder])
      if (!(await read(file)).some((one) => wanted.has(one.folder))) return false
      return change((entries) => [entries.filter((one) => !wanted.has(one.folder)), true])
    },
  }
}

async function entryFor(
  folder: string,
  isTrusted: boolean,
  atMs: number,
  { home, userHome }: { readonly home: string; readonly userHome: string },
): Promise<Entry> {
  const root = await projectOf(folder, userHome)
  return { folder: root, isTrusted, atMs, files: await filesOf(root, home) }
}

/**
 * The project that a folder or file belongs to: the nearest folder above with `.git`, or that was answered for; else the folder itself. Links are
 * followed, so that nothing belongs to a project that leads out of it. A home that is a repository, or was answered for, is no project of what
 * people download into its folders.
 * @throws HermesError `config.no_folder`
 */
async function projectOf(path: string, userHome: string, answered: readonly TrustedFolder[] = []): Promise<string> {
  const real = await realpath(path).catch((cause: unknown) => {
    throw new HermesError(`There is no folder ${path}.`, { code: 'config.no_folder', cause })
  })
  const near = (await stat(real)).isDirectory() ? real : dirname(real)
  const home = userHome === '' ? '' : await realpath(userHome).catch(() => userHome)
  const isHome = (place: string) => place === home || `${home}/`.startsWith(join(place, '/'))
  for (let place = real; ; place = dirname(place)) {
    if (isHome(place) && place !== near) return real
    if ((await isThere(join(place, '.git'))) || answered.some(({ folder }) => folder === place)) return place
    if (place === dirname(place)) return real
  }
}

/**
 * The repository whose worktree `root` is, by what both of them say: a `.git` file alone could name any. `null` for anything else.
 * @see https://git-scm.com/docs/gitrepository-layout "worktrees/<id>/gitdir"
 */
async function repositoryOf(root: string): Promise<string | null> {
  try {
    const named = /^gitdir: (.+)$/m.exec(await readFile(join(root, '.git'), 'utf8'))?.[1]
    if (named === undefined) return null
    const folder = await realpath(resolve(root, named))
    const git = dirname(dirname(folder))
    if (basename(dirname(folder)) !== 'worktrees' || basename(git) !== '.git') return null
    const back = (await readFile(join(folder, 'gitdir'), 'utf8')).trim()
    return (await realpath(dirname(resolve(folder, back)))) === root ? dirname(git) : null
  } catch {
    return null
  }
}

/** What was named and is not there has no words of its own. */
async function nearestThere(path: string): Promise<string> {
  for (let place = path; place !== dirname(place); place = dirname(place)) if (await isThere(place)) return place
  return path
}

function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}

function kindsOf(paths: readonly string[]): FolderCover['brings'] {
  return (Object.entries(COVERED) as [TrustedKind, readonly string[]][]).flatMap(([kind, places]) => {
    const found = paths.filter((path) => places.some((place) => path === place || path.startsWith(`${place}/`)))
    return found.length === 0 ? [] : [{ kind, paths: found }]
  })
}

/** What is there of all that an answer covers, by path in the project. What lies in `home` is the person's own, also where a session works around it. */
async function filesOf(root: string, home: string): Promise<Record<string, string>> {
  const found = new Map<string, string>()
  const own = await realpath(home).catch(() => home)
  // A project that lies in the home is a project all the same.
  const isInHome = `${root}/`.startsWith(join(own, '/'))
  const isOwn = (place: string) => !isInHome && join(root, place, '/').startsWith(join(own, '/'))
  for (const place of Object.values(COVERED).flat()) if (!isOwn(place)) await collect(root, place, found, 0)
  return Object.fromEntries(found)
}

async function collect(root: string, path: string, found: Map<string, string>, depth: number): Promise<void> {
  const at = join(root, path)
  const own = factsOf(at)
  if (own === null) return
  if (found.size >= MAX_FILES)
    throw new HermesError(`${root} brings more than ${MAX_FILES} files that an answer would cover.`, {
      code: 'config.too_much_to_trust',
    })
  const link = own.isSymbolicLink() ? await linkTarget(root, at) : ''
  const info = await stat(at, { bigint: true }).catch(() => null)
  if (info?.isDirectory()) {
    if (link !== '') found.set(path, sha256(`link\0${link}`))
    if (depth >= MAX_DEPTH) return
    const names = (await readdir(at).catch(() => [])).sort()
    for (const name of names) if (name !== 'node_modules') await collect(root, `${path}/${name}`, found, depth + 1)
    return
  }
  found.set(path, await digestOf(at, link, info))
}

/** At once: most of the places are not there, and each session looks at all of them. */
function factsOf(at: string): Stats | null {
  try {
    return lstatSync(at, { throwIfNoEntry: false }) ?? null
  } catch {
    return null
  }
}

async function digestOf(
  at: string,
  link: string,
  info: { readonly size: bigint; readonly mtimeNs: bigint; readonly ctimeNs: bigint; isFile(): boolean } | null,
): Promise<string> {
  if (!info?.isFile()) return sha256(`other\0${link}`)
  if (info.size > BigInt(MAX_BYTES)) return sha256(`large\0${link}\0${info.size} ${info.mtimeNs} ${info.ctimeNs}`)
  // A file that cannot be read is like no other: it stays changed.
  const content = await readFile(at).catch(() => null)
  return content === null ? 'unreadable' : sha256(`file\0${link}\0`, content)
}

/** Where a link leads, as a path in the project where it stays there. */
async function linkTarget(root: string, at: string): Promise<string> {
  const real = await realpath(at).catch(() => readlink(at).catch(() => 'nowhere'))
  const inside = relative(root, real)
  return inside.startsWith(`..${sep}`) || isAbsolute(inside) ? real : inside
}

const sha256 = (head: string, content: Uint8Array = new Uint8Array()) =>
  createHash('sha256').update(head).update(content).digest('hex')

function differences(
  before: Readonly<Record<string, string>>,
  now: Readonly<Record<string, string>>,
): readonly string[] {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort()
  return paths.filter((path) => before[path] !== now[path] || now[path] === 'unreadable')
}

/** The answers; none where the file is missing or damaged, so that nobody is trusted by mistake. */
async function read(file: string): Promise<readonly Entry[]> {
  const text = await readFile(file, 'utf8').catch(() => '{}')
  try {
    const { folders } = JSON.parse(text) as { readonly folders?: unknown }
    return Array.isArray(folders) ? folders.filter(isEntry) : []
  } catch {
    return []
  }
}

function isEntry(value: unknown): value is Entry {
  if (typeof value !== 'object' || value === null) return false
  const { folder, isTrusted, atMs, files } = value as Partial<Entry>
  return (
    typeof folder === 'string' &&
    typeof isTrusted === 'boolean' &&
    typeof atMs === 'number' &&
    typeof files === 'object' &&
    files !== null
  )
}
