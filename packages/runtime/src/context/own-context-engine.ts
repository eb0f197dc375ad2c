import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { isAbsolute, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { errorLine, HermesError, isAbort, type Logger } from '@hermes/contracts'
import type {
  CompactOutcome,
  CompactRequest,
  ContextEngine,
  ContextEngineParts,
  CreateContextEngine,
} from '@hermes/contracts/context'
import type { CompactionEntry, Entry } from '@hermes/contracts/conversation'

/** Where an engine is looked for. */
export interface EngineContext {
  /** What `context.engine` of config.yaml says: a path, `~/` and one below the home included, or the name of a package in the home. */
  readonly engine: string
  /** What an extension makes under that name. Default: it is a module. */
  readonly create?: CreateContextEngine | undefined
  readonly home: string
  readonly userHome: string
}

/**
 * Loads the engine that config.yaml names and holds it to its contract: what it throws ends no run, and a summary of its own making always
 * carries the texts and the request that must not be lost.
 * @throws HermesError `runtime.bad_context_engine`: one line that names the module.
 */
export async function loadOwnEngine(context: EngineContext, parts: ContextEngineParts): Promise<ContextEngine> {
  try {
    const create = context.create ?? (await exportedEngine(context))
    if (typeof create !== 'function') throw new TypeError('it exports no function createContextEngine')
    const engine = await create(parts)
    for (const name of ['isDue', 'plan', 'compact'] as const)
      if (typeof engine?.[name] !== 'function') throw new TypeError(`its engine has no method ${name}`)
    return guarded(engine, parts.logger)
  } catch (error) {
    throw new HermesError(`context.engine "${context.engine}" cannot be used: ${errorLine(error)}.`, {
      code: 'runtime.bad_context_engine',
      cause: error,
    })
  }
}

async function exportedEngine(context: EngineContext): Promise<CreateContextEngine | undefined> {
  const module: unknown = await import(pathToFileURL(resolveEngine(context)).href)
  return (module as { createContextEngine?: CreateContextEngine }).createContextEngine
}

/** What is wrong with the place of an engine, seen without running it; one line each. */
export function engineProblems(context: EngineContext): readonly string[] {
  try {
    if (existsSync(resolveEngine(context))) return []
  } catch {
    // A package that is not there, as below.
  }
  return [`context.engine: there is no module "${context.engine}"; long sessions are compacted in the usual way.`]
}

function resolveEngine({ engine, home, userHome }: EngineContext): string {
  if (isAbsolute(engine)) return engine
  if (engine.startsWith('~/')) return join(userHome, engine.slice(2))
  if (/^\.{0,2}\/|\.m?js$/.test(engine)) return join(home, engine)
  return createRequire(join(home, 'package.json')).resolve(engine)
}

function guarded(engine: ContextEngine, logger: Logger): ContextEngine {
  const failed = (what: string, error: unknown) =>
    logger.error(`The context engine of config.yaml failed to ${what}.`, { error: errorLine(error) })
  return {
    async isDue(state) {
      try {
        return (await engine.isDue(state)) === true
      } catch (error) {
        failed('say whether it is due', error)
        return false
      }
    },
    async plan(request) {
      try {
        return await engine.plan(request)
      } catch (error) {
        failed('plan', error)
        return null
      }
    },
    async compact(request, options) {
      try {
        return checked(await engine.compact(request, options), request)
      } catch (error) {
        if (options.signal.aborted || isAbort(error)) throw error
        failed('compact', error)
        return { type: 'unchanged', reason: `The context engine failed: ${errorLine(error)}.` }
      }
    },
  }
}

/** @throws TypeError for what is no outcome. */
function checked(outcome: CompactOutcome, request: CompactRequest): CompactOutcome {
  if (outcome?.type === 'unchanged') return outcome
  const entry = outcome?.entry
  if (outcome?.type !== 'compacted' || typeof entry?.summary !== 'string' || !Number.isInteger(entry.upToSeq))
    throw new TypeError('it gave no outcome of a compaction')
  return {
    ...outcome,
    entry: withRequest(withCarried({ ...entry, type: 'compaction' }, request.carry), request.entries),
  }
}

function withCarried(entry: CompactionEntry, carry: readonly string[]): CompactionEntry {
  const missing = carry.filter((text) => !entry.summary.includes(text))
  return missing.length === 0 ? entry : { ...entry, summary: [entry.summary, ...missing].join('\n\n') }
}

/** The newest request of a person comes again when it would be among what goes. */
function withRequest(entry: CompactionEntry, entries: readonly Entry[]): CompactionEntry {
  const requested = entries.findLast(
    (candidate) =>
      candidate.type === 'message' &&
      candidate.message.role === 'user' &&
      candidate.message.content.some((part) => (part.origin ?? 'user') === 'user'),
  )
  const isShown =
    !requested || requested.seq > entry.upToSeq || requested.seq <= (entry.headUpToSeq ?? Number.NEGATIVE_INFINITY)
  const { repeatedSeqs = [] } = entry
  return isShown || repeatedSeqs.includes(requested.seq)
    ? entry
    : { ...entry, repeatedSeqs: [...repeatedSeqs, requested.seq] }
}
