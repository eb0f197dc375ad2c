import { posix } from 'node:path'
import type { ToolContext } from '@hermes/contracts/tool'
import { LINTERS, type Linter } from './linters.js'

/** A linter that the project of a file uses, and where it runs. */
export interface FoundLinter {
  readonly linter: Linter
  /** The folder of its configuration. */
  readonly root: string
  /** Absolute. */
  readonly program: string
}

const MAX_FOLDERS = 2_000
const CONFIG_NAMES = new Set(LINTERS.flatMap(({ configs }) => configs))
const STICKY = 0o1000
const WRITABLE_BY_ALL = 0o002

/** The first linter of the table that a folder above `path` is set up for, and whose program is there. */
export async function findLinter(context: ToolContext, path: string): Promise<FoundLinter | null> {
  const fitting = LINTERS.filter(({ files }) => files.test(path))
  if (fitting.length === 0) return null
  const known = knownFolders(context)
  // A configuration that is written now counts from now on.
  if (CONFIG_NAMES.has(posix.basename(path))) known.clear()
  for (let folder = posix.dirname(path); ; folder = posix.dirname(folder)) {
    const configs = await configsIn(context, folder)
    const linter = fitting.find((one) => one.configs.some((name) => configs.includes(name)))
    if (linter) return (await isShared(context, folder)) ? null : locate(context, linter, folder)
    // What lies above a repository is not its project.
    if (configs.includes('.git') || folder === '/') return null
  }
}

const knownFolders = ({ state }: ToolContext) =>
  state.scratch('lint-folders', () => new Map<string, readonly string[]>())

async function configsIn(context: ToolContext, folder: string): Promise<readonly string[]> {
  const known = knownFolders(context)
  const before = known.get(folder)
  if (before) return before
  const entries = (await context.environment.list(folder)) ?? []
  const names = entries.map(({ name }) => name).filter((name) => name === '.git' || CONFIG_NAMES.has(name))
  if (known.size >= MAX_FOLDERS) known.clear()
  known.set(folder, names)
  return names
}

/** The program may be that of a folder further up, as in a workspace of several packages. */
async function locate(context: ToolContext, linter: Linter, root: string): Promise<FoundLinter | null> {
  const { environment } = context
  for (let folder = root; ; folder = posix.dirname(folder)) {
    for (const candidate of linter.programs) {
      const program = posix.join(folder, candidate)
      const stat = await environment.stat(await environment.realpath(program))
      if (stat?.type === 'file') return (await isShared(context, folder)) ? null : { linter, root, program }
    }
    if (folder === '/') return null
  }
}

/** A folder such as `/tmp`, where everybody puts files: what lies there is nobody's project. */
async function isShared({ environment }: ToolContext, folder: string): Promise<boolean> {
  const { mode = 0 } = (await environment.stat(folder)) ?? {}
  return (mode & STICKY) !== 0 && (mode & WRITABLE_BY_ALL) !== 0
}

/**
 * Whether git keeps the program: it came with the repository, and nobody here chose to run it. What was installed beside the repository
 * was trusted by whoever did that. Where git refuses to say, the repository is somebody else's, which counts as yes.
 */
export async function isCommitted(context: ToolContext, { root, program }: FoundLinter): Promise<boolean> {
  const { environment, permit, signal } = context
  const repository = await repositoryOf(context, root)
  if (repository === null) return false
  const paths = [program, await environment.realpath(program)].filter((path) => path.startsWith(`${repository}/`))
  if (paths.length === 0) return false
  const command = `git -c core.fsmonitor=false ls-files -- ${paths.map(quote).join(' ')}`
  const spawnPermit = await permit({ type: 'spawn', command, cwd: repository, backend: environment.backend })
  const { exitCode, output } = await environment.exec(spawnPermit, command, { cwd: repository, signal })
  signal.throwIfAborted()
  return exitCode === 0 ? output.trim() !== '' : exitCode !== NO_SUCH_PROGRAM
}

const NO_SUCH_PROGRAM = 127

async function repositoryOf(context: ToolContext, root: string): Promise<string | null> {
  for (let folder = root; ; folder = posix.dirname(folder)) {
    if ((await configsIn(context, folder)).includes('.git')) return folder
    if (folder === '/') return null
  }
}

/** A word for a shell. */
export function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
