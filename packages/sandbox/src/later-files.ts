import { basename, relative } from 'node:path'
import type { FileChange, RememberedFiles } from '@hermes/contracts/environment'
import type { ToolContext } from '@hermes/contracts/tool'
import {
  changesGitPrograms,
  changesIdeaRuns,
  changesLifecycle,
  changesMakeRuns,
  LATER_FILES,
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
type CallContext = Pick<ToolContext, 'environment' | 'permit' | 'signal' | 'state'>

/** After so many questions, and a no to one of them, the rest goes back without one. */
const MOST_QUESTIONS = 10
const MOST_LINES = 20

const NOT_ALL =
  '[There are more folders or files than are compared: changes deep in this project to what runs or instructs later may not be noticed.]'

/** What programs in the background may have changed since the last call, which the next one asks about. */
interface Unsettled {
  /** `null` where none runs. */
  since: RememberedFiles | null
  /** What the words of their commands say, absolute. */
  readonly named: Set<string>
  /** The model knows that not every folder is looked into. */
  isPartNoted: boolean
}

const unsettledIn = ({ state }: CallContext): Unsettled =>
  state.scratch('later-files', () => ({ since: null, named: new Set<string>(), isPartNoted: false }))

/**
 * What the policy sees of a command is its words; a program that it runs may write `CLAUDE.md` or a hook of git all the same. A command that only
 * looks, or one that a person let out of the isolation, is not watched, nor are the files of the project that git itself brings. While programs
 * run in the background, each call settles what changed since the one before. `command` is
 * `null` for a program of code, which names nothing.
 */
export function watchLaterFiles(
  command: string | null,
  context: CallContext,
  { outside = false, workdir = '.' }: { readonly outside?: boolean; readonly workdir?: string | undefined } = {},
): LaterFiles {
  const { environment } = context
  const { root, rememberFiles } = environment
  if (root === undefined || rememberFiles === undefined) return NOTHING
  const unsettled = unsettledIn(context)
  const isWatched = !outside && (command === null || !onlyLooks(command))
  const remembered = unsettled.since ?? (isWatched ? rememberFiles(LATER_FILES) : null)
  const programs = command === null || !isWatched ? [] : programsRun(command)
  const isGits = programs.length > 0 && programs.every(({ name, looks }) => name === 'git' || looks)
  // What a person let out, and files that git brings, change now: what others did has changed before.
  const early = new Set(outside || isGits ? remembered?.changes().map(({ path }) => path) : [])
  const words = isWatched && command !== null ? writtenPaths(command, { cwd: environment.resolve(workdir) }) : []
  const counts = (change: FileChange) => {
    const path = relative(root, change.path)
    // The policy knows what the words write by its name alone, and not who includes it.
    const isIncluded = surfaceOf(path) === null && (remembered?.isNamed(change.path) ?? false)
    const isInWords = words.includes(change.path) || unsettled.named.has(change.path)
    if ((isInWords && !isIncluded) || !runsOther(path, change, isIncluded)) return false
    return early.has(change.path) || isInWords || (!outside && (!isGits || /(?:^|\/)\.git\//.test(path)))
  }
  const isAnyRunning = () => environment.processes().some((process) => process.info().status === 'running')
  return {
    async settle() {
      // Remembered before it is looked: what comes while somebody is asked is asked about next time.
      const next = isAnyRunning() ? rememberFiles(LATER_FILES) : null
      const changes = remembered?.changes() ?? []
      const notes: string[] = []
      for (const [at, { path }] of changes.filter(counts).entries()) {
        const mayAsk = !context.signal.aborted && (at < MOST_QUESTIONS || notes.length === 0)
        if (!mayAsk || !(await isPermitted(path, context))) notes.push(takeBack(path, root, remembered!))
      }
      unsettled.since = next
      if (next) for (const path of words) unsettled.named.add(path)
      else unsettled.named.clear()
      const more = notes.length - MOST_LINES
      const lines = more <= 0 ? notes : [...notes.slice(0, MOST_LINES), `[The same with ${more} more such files.]`]
      const isPart = remembered?.isWhole() === false
      const isNew = isPart && !unsettled.isPartNoted
      if (remembered) unsettled.isPartNoted = isPart
      return isNew ? [...lines, NOT_ALL] : lines
    },
  }
}

/** Settles what programs in the background changed since the last call, where some ran. Lines for the model. */
export async function settleLaterFiles(context: CallContext): Promise<readonly string[]> {
  return unsettledIn(context).since === null ? [] : watchLaterFiles('true', context).settle()
}

/** Whether what changed is what runs, where only a part of a file does. */
function runsOther(path: string, { before, after }: FileChange, isIncluded: boolean): boolean {
  if (/(?:^|\/)\.idea\/workspace\.xml$/.test(path)) return after === null || changesIdeaRuns(before ?? '', after)
  if (basename(path) === 'package.json') return after === null || changesLifecycle(before ?? '', after)
  if (/(?:^|\/)\.git\/config$/.test(path)) return after === null || changesGitPrograms(before ?? '', after)
  return !isIncluded || after === null || changesMakeRuns(before ?? '', after)
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
