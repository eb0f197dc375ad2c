import { relative } from 'node:path'
import { HermesError } from '@hermes/contracts'
import type { FileChange, RememberedFiles } from '@hermes/contracts/environment'
import type { Action } from '@hermes/contracts/policy'
import type { ToolContext } from '@hermes/contracts/tool'
import {
  changesGitPrograms,
  changesLifecycle,
  mayHoldLaterFiles,
  onlyLooks,
  programsRun,
  surfaceOf,
  writtenPaths,
} from '@hermes/safety'

/** Watches what a command does to files that run or instruct later. */
export interface LaterFiles {
  /** Asks about each that changed without being named by the command, and puts back what is not permitted. Lines for the model. */
  settle(): Promise<readonly string[]>
}

const NOTHING: LaterFiles = { settle: async () => [] }
const MOST = 10

/**
 * What the policy sees of a command is its words; a program that it runs may write `CLAUDE.md` or a hook of git all the same. A command that only
 * looks, or one that a person let out of the isolation, is not watched, nor are the files of the project that git itself brings. `command` is
 * `null` for a program of code, which names nothing.
 */
export function watchLaterFiles(
  command: string | null,
  context: Pick<ToolContext, 'environment' | 'permit'>,
  { outside = false }: { readonly outside?: boolean } = {},
): LaterFiles {
  const { root, rememberFiles } = context.environment
  if (outside || root === undefined || rememberFiles === undefined || (command !== null && onlyLooks(command)))
    return NOTHING
  const cwd = context.environment.cwd()
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
      for (const { path } of changes.filter(counts).slice(0, MOST)) {
        const note = await settleOne(path, remembered, context)
        if (note !== null) notes.push(note)
      }
      return notes
    },
  }
}

/** Whether what changed is what runs, where only a part of a file does. */
function runsOther(path: string, { before, after }: FileChange): boolean {
  if (path === 'package.json') return after === null || changesLifecycle(before ?? '', after)
  if (path === '.git/config') return after === null || changesGitPrograms(before ?? '', after)
  return true
}

async function settleOne(
  path: string,
  remembered: RememberedFiles,
  context: Pick<ToolContext, 'environment' | 'permit'>,
): Promise<string | null> {
  const { backend, root = '' } = context.environment
  const action: Action = { type: 'write', path, operation: 'write', backend, runsLater: true }
  try {
    await context.permit(action)
    return null
  } catch (error) {
    const isPutBack = remembered.putBack(path)
    if (!HermesError.isInstance(error) || error.code !== 'policy.denied') throw error
    const state = isPutBack ? 'it is as it was before' : 'undo that, it could not be put back'
    return `[A program changed ${relative(root, path)}, which runs or instructs later. That is not permitted: ${state}.]`
  }
}
