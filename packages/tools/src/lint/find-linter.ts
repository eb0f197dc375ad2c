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

/** The first linter of the table that a folder above `path` is set up for, and whose program is there. */
export async function findLinter(context: ToolContext, path: string): Promise<FoundLinter | null> {
  const fitting = LINTERS.filter(({ files }) => files.test(path))
  if (fitting.length === 0) return null
  const known = context.state.scratch('lint-folders', () => new Map<string, readonly string[]>())
  // A configuration that is written now counts from now on.
  if (CONFIG_NAMES.has(posix.basename(path))) known.clear()
  for (let folder = posix.dirname(path); ; folder = posix.dirname(folder)) {
    const configs = await configsIn(context, folder, known)
    const linter = fitting.find((one) => one.configs.some((name) => configs.includes(name)))
    if (linter) return locate(context, linter, folder)
    // What lies above a repository is not its project.
    if (configs.includes('.git') || folder === '/') return null
  }
}

async function configsIn(
  { environment }: ToolContext,
  folder: string,
  known: Map<string, readonly string[]>,
): Promise<readonly string[]> {
  const before = known.get(folder)
  if (before) return before
  const entries = (await environment.list(folder)) ?? []
  const names = entries.map(({ name }) => name).filter((name) => name === '.git' || CONFIG_NAMES.has(name))
  if (known.size >= MAX_FOLDERS) known.clear()
  known.set(folder, names)
  return names
}

/** The program may be that of a folder further up, as in a workspace of several packages. */
async function locate({ environment }: ToolContext, linter: Linter, root: string): Promise<FoundLinter | null> {
  for (let folder = root; ; folder = posix.dirname(folder)) {
    for (const candidate of linter.programs) {
      const program = posix.join(folder, candidate)
      const stat = await environment.stat(await environment.realpath(program))
      if (stat?.type === 'file') return { linter, root, program }
    }
    if (folder === '/') return null
  }
}
