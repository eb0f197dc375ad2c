import { relative } from 'node:path'
import type { FileChange, RememberedFiles } from '@hermes/contracts/environment'
import type { ToolContext } from '@hermes/contracts/tool'
import {
  changesGitPrograms,
  changesIdeaRuns,
  changesLifecycle,
  mayHoldLaterFiles,
  onlyLooks,
  programsRun,
  surfaceOf,
  writtenPaths,
} from '@hermes/safety'

/** Watches what a command does to files that run or instruct later. */
interface LaterFiles {
  /** Asks about each that changed without being named by the command, and puts back what is not permitted. Lines for the model. */
  settle(): Promise<readonly string[]>
}

const NOTHING: LaterFiles = { settle: async () => [] }
type CallContext = Pick<ToolContext, 'environment' | 'permit' | 'signal'>

/** After so many questions, and a no to one of them, the rest goes back without one. */
const MOST_QUESTIONS = 10
const MOST_LINES = 20

/**
 * What the policy sees of a command is its words; a program that it runs may write `CLAUDE.md` or a hook of git all the same. A command that only
 * looks, or one that a person let out of the isolation, is not watched, nor are the files of the project that git itself brings. `command` is
 * `null` for a program of code, which names nothing.
 */
export function watchLaterFiles(
  command: string | null,
  context: CallContext,
  { outside = false, workdir = '.' }: { readonly outside?: boolean; readonly workdir?: string | undefined } = {},
): LaterFiles {
  const { root, rememberFiles } = context.environment
  if (outside || root === undefined || rememberFiles === undefined || (command !== null && onlyLooks(command)))
    return NOTHING
  const cwd = context.environment.resolve(workdir)
  const remembered = rememberFiles({
    holds: (path) => (surfaceOf(path) !== null && !path.endsWith('.sample')) || path === 'package.json',
    enters: mayHoldLaterFiles,
  })
  return {
    async settle() {
      const changes = remembered.changes()
      if (changes.length === 0) return []
      const named = command === null ? [] : writtenPaths(command, { cwd }).map((path) => relative(root, path))
      const isGits = command !== null && programsRun(command).every(({ name, looks }) => name === 'git' || looks)
      const counts = (change: FileChange) => {
        const path = relative(root, change.path)
        return !named.includes(path) && !(isGits && !path.startsWith('.git/')) && runsOther(path, change)
      }
      const notes: string[] = []
      for (const [at, { path }] of changes.filter(counts).entries()) {
        const mayAsk = !context.signal.aborted && (at < MOST_QUESTIONS || notes.length === 0)
        if (!mayAsk || !(await isPermitted(path, context))) notes.push(takeBack(path, root, remembered))
      }
      const more = notes.length - MOST_LINES
      return more <= 0 ? notes : [...notes.slice(0, MOST_LINES), `[The same with ${more} more such files.]`]
    },
  }
}

/** Whether what changed is what runs, where only a part of a file does. */
function runsOther(path: string, { before, after }: FileChange): boolean {
  if (path === '.idea/workspace.xml') return after === null || changesIdeaRuns(before ?? '', after)
  if (path === 'package.json') return after === null || changesLifecycle(before ?? '', after)
  if (path === '.git/config') return after === null || changesGitPrograms(before ?? '', after)
  return true
}

async function isPermitted(path: string, { environment, permit }: CallContext): Promise<boolean> {
  try {
    await permit({ type: 'write', path, operation: 'write', backend: environment.backend, runsLater: true })
    return true
  } catch {
    // Also where nobody answered: the command is over, and what it printed must not be lost for that.
    return false
  }
}

function takeBack(path: string, root: string, remembered: RememberedFiles): string {
  const { isBack, aside } = remembered.putBack(path)
  const state = isBack ? 'it is as it was before' : 'undo that, it could not be put back'
  const kept = aside === null ? '' : `; what was there is in ${aside}`
  return `[A program changed ${relative(root, path)}, which runs or instructs later. That is not permitted: ${state}${kept}.]`
}
