// What of a turn changes files, and what shows whether they are right.
import type { ToolResultEvent } from '@hermes/contracts/extension'
import { effectOf } from '@hermes/contracts/tool'
import { type ProgramRun, programsRun } from '@hermes/safety'

/** What one call means for the files that were changed before it. */
interface Evidence {
  /** Files that it changed. Absolute where that can be told. */
  readonly changed: readonly string[]
  /** Something was run, which may have shown the changes at work. */
  readonly hasRun: boolean
  /** Whether it showed this file. */
  looksAt(path: string): boolean
}

/** Nothing of these says anything about the files of the workspace. */
const NEUTRAL = new Set([
  'todo',
  'memory',
  'learning',
  'skills',
  'clarify',
  'session_search',
  'web',
  'checkpoints',
  'moa',
])
/** These put files in place; what they print is no check of them. */
const WRITERS = /^(?:sed|perl|tee|cp|mv|install|ln|truncate|dd|ed|ex|patch|printf|echo|cat)$/
/** Bookkeeping: it neither shows files nor runs them. */
const BOOKKEEPING =
  /^(?:cd|pushd|popd|export|set|source|true|false|:|sleep|wait|exit|touch|mkdir|rmdir|rm|chmod|chown|kill|pkill|which|type|command|date)$/
const GIT_BOOKKEEPING = /^git (?:add|commit|push|pull|fetch|stash|checkout|switch|branch|tag|status|log|init|config)\b/
/** They look, and not into files. */
const BLIND = /^(?:ls|echo|printf|pwd|stat|du|df|which|whoami|env|date|tree|find)$/

/** Reads a call that was made. */
export function evidenceOf(event: ToolResultEvent): Evidence {
  const { tool, args, outcome, isRefused, plan, environment } = event
  if (tool === null || isRefused || typeof args === 'string' || NEUTRAL.has(tool.toolset)) return NONE
  if (tool.name === 'terminal' && typeof args['command'] === 'string') {
    const resolve = (path: string) => environment?.resolve(path) ?? path
    return ofCommand(args['command'], { resolve, hasFailed: outcome.isError })
  }
  if (tool.toolset !== 'file') return { ...NONE, hasRun: !outcome.isError }
  if (outcome.isError) return NONE
  const paths = tool.paths?.(args, plan) ?? []
  if (effectOf(tool, args) === 'write') return { ...NONE, changed: paths }
  if (paths.length > 0) return { ...NONE, looksAt: (path) => paths.includes(path) }
  const shown = outcome.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
  return { ...NONE, looksAt: (path) => shown.includes(baseName(path)) }
}

const baseName = (path: string) => path.slice(path.lastIndexOf('/') + 1)

const NONE: Evidence = { changed: [], hasRun: false, looksAt: () => false }

function ofCommand(
  command: string,
  { resolve, hasFailed }: { readonly resolve: (path: string) => string; readonly hasFailed: boolean },
): Evidence {
  let changed: readonly string[] = []
  let hasRun = false
  const looks: string[] = []
  for (const program of programsRun(command)) {
    if (isBookkeeping(program)) continue
    if (program.writes && WRITERS.test(program.name)) {
      if (!hasFailed) changed = [...changed, ...program.targets.map(resolve)]
      hasRun = false
    } else if (!program.looks) {
      changed = []
      hasRun = true
    } else if (!BLIND.test(program.name)) looks.push(program.written)
  }
  const showsAll = looks.some((written) => /^git (?:diff|show)\b/.test(written))
  const named = (path: string) => looks.some((written) => written.includes(baseName(path)))
  return {
    changed: changed.filter((path) => !showsAll && !named(path)),
    hasRun,
    looksAt: (path) => showsAll || named(path),
  }
}

function isBookkeeping({ name, args }: ProgramRun): boolean {
  return BOOKKEEPING.test(name) || GIT_BOOKKEEPING.test([name, ...args].join(' '))
}
