import { latestCompaction, liveEntries, type TextSource } from '@hermes/contracts/conversation'
import type { SessionInfo } from '@hermes/contracts/store'
import type { ToolContext, ToolResult } from '@hermes/contracts/tool'
import { defineTool } from '@hermes/contracts/tool'
import type { FromSchema } from 'json-schema-to-ts'
import type { SearchHit, SearchOptions, Storage } from '../storage.js'
import { personOfSession, type StorageToolServices } from './learning.js'
import { hitLines, messageText, sessionLine } from './session-text.js'

const LIMIT = { default: 5, max: 20 }
/** Messages on each side. */
const WINDOW = { default: 5, max: 20 }
/** Results of tools are long, and say the same again. */
const ROLES: readonly string[] = ['user', 'assistant']
// So many hits are looked at for as many different conversations as asked for.
const HITS_PER_SESSION = 8
const MAX_HITS = 100

const parameters = {
  type: 'object',
  properties: {
    query: {
      type: 'string',
      description: 'Words; "a phrase", AND, NOT, pre*, *part*. None: recent sessions',
    },
    session_id: { type: 'string', description: 'Id or title' },
    around: { type: 'integer' },
    role: { type: 'array', items: { type: 'string', enum: ['user', 'assistant', 'tool'] }, 'x-shown': false },
    source: { type: 'string', 'x-shown': false },
    tag: { type: 'string', 'x-shown': false },
    after: { type: 'string', description: '2026-03-01' },
    before: { type: 'string' },
    sort: { type: 'string', enum: ['relevance', 'newest'], 'x-shown': false },
    limit: { type: 'integer', 'x-shown': false },
  },
} as const

type Args = FromSchema<typeof parameters>

/**
 * Searches, reads and lists earlier conversations. The running one is left out with those it was forked from and those forked from it, since
 * the model has it before its eyes; but for what was compacted away. `session_id` may name any of them.
 */
export const createSessionSearchTool = (services: StorageToolServices) =>
  defineTool<Args>({
    name: 'session_search',
    toolset: 'session_search',
    description:
      'Search earlier conversations with this user: the best hit of each; read on with session_id and around (message number).',
    parameters,
    effect: 'read',
    concurrency: 'parallel',
    icon: '🗂',
    summarize: ({ query, session_id, around }) =>
      query
        ? `search sessions for ${query}`
        : `read ${session_id ?? 'recent sessions'}${around ? ` around #${around}` : ''}`,
    execute: async (args, context) => searchSessions(await services.storage(), args, context),
  })

/** What was said there may repeat what was read there. */
const EARLIER: readonly TextSource[] = [{ type: 'session', name: 'an earlier session' }]

/** Parameters that are not worth their place in every prompt. */
const NARROWER = 'There may be more: limit, sort newest, role [user, assistant, tool], source, tag, after, before.'

async function searchSessions(storage: Storage, args: Args, context: ToolContext): Promise<ToolResult> {
  const person = await personOfSession(storage, context.sessionId)
  const dates = { afterMs: toMs(args.after), beforeMs: toMs(args.before) }
  if (Number.isNaN(dates.afterMs) || Number.isNaN(dates.beforeMs)) return failure('Dates look like 2026-03-01.')
  const session = args.session_id === undefined ? null : await storage.sessions.resolve(args.session_id, { person })
  if (session?.type === 'ambiguous')
    return failure(`Several sessions begin with that: ${session.candidates.map(({ id }) => id).join(', ')}.`)
  if (session?.type === 'none')
    return failure(`There is no session "${args.session_id}". Call without it for recent ones.`)
  const words = args.query?.trim() ?? ''
  if (words !== '')
    return search(storage, words, { ...args, ...dates, person, sessionId: session?.session.id }, context)
  if (!session) return browse(storage, { ...args, person }, context)
  if (args.around === undefined) return readSession(storage, session.session)
  const window = Math.min(Math.max(1, args.limit ?? WINDOW.default), WINDOW.max)
  const text = await readAround(storage, session.session, { seq: args.around, window })
  return text ?? failure(`Session ${session.session.id} has no message #${args.around}.`)
}

interface Requested extends Args {
  readonly person: string | null
  readonly afterMs: number | undefined
  readonly beforeMs: number | undefined
  readonly sessionId: string | undefined
}

async function search(
  storage: Storage,
  words: string,
  requested: Requested,
  context: ToolContext,
): Promise<ToolResult> {
  const { sort = 'relevance', person, source, tag, afterMs, beforeMs, sessionId } = requested
  const limit = limitOf(requested)
  const filter: SearchOptions = {
    person,
    order: sort,
    limit: Math.min(limit * HITS_PER_SESSION, MAX_HITS),
    role: requested.role ?? ROLES,
    ...(source === undefined ? {} : { source }),
    ...(tag === undefined ? {} : { tag }),
    ...(afterMs === undefined ? {} : { afterMs }),
    ...(beforeMs === undefined ? {} : { beforeMs }),
  }
  const own = await ownLineage(storage, context.sessionId)
  const hits = await storage.search.find(words, {
    ...filter,
    ...(sessionId ? { sessionId } : { excludeSessions: own }),
  })
  const compactedHits = sessionId ? [] : await summaryHits(storage, words, { ...filter, sessionId: context.sessionId })
  const others = sessionId ? hits : onePerLineage(await withRoots(storage, hits))
  const shown = [...compactedHits.slice(0, 1), ...others].slice(0, limit)
  const known = [...own, ...hits.map((hit) => hit.sessionId)]
  const summaries = isNarrowed(requested)
    ? []
    : await summed(storage, words, { person, known, limit: limit - shown.length })
  if (shown.length + summaries.length === 0)
    return `Nothing was found for ${words}. Try other words, a prefix*, or role tool.`
  const backlog = await storage.search.backlog()
  const note = [
    ...(shown.length + summaries.length < limit ? [] : [NARROWER]),
    ...(backlog === 0 ? [] : ['Older messages are still being indexed; search again later for those.']),
  ]
  return {
    text: [...shown.map(hitLines), ...summaries, ...note].join('\n\n'),
    external: true,
    sources: EARLIER,
  }
}

/** The session, those it was forked from or is a child of, and those that came of it. */
async function ownLineage(storage: Storage, sessionId: string): Promise<readonly string[]> {
  const [above, below] = await Promise.all([
    storage.sessions.ancestors(sessionId),
    storage.sessions.descendants(sessionId),
  ])
  return [sessionId, ...[...above, ...below].map(({ id }) => id)]
}

/** What the running conversation had in it before it was compacted: the model does not see it any more. */
async function summaryHits(
  storage: Storage,
  words: string,
  filter: SearchOptions & { readonly sessionId: string },
): Promise<readonly SearchHit[]> {
  const compaction = latestCompaction(liveEntries(await storage.log.entries(filter.sessionId)))
  if (compaction === null) return []
  const { upToSeq, headUpToSeq = Number.NEGATIVE_INFINITY, repeatedSeqs = [] } = compaction
  const hits = await storage.search.find(words, filter)
  return hits.filter(({ seq }) => seq <= upToSeq && seq > headUpToSeq && !repeatedSeqs.includes(seq))
}

/** A summary is of a whole session: it has no role, and says nothing of when. */
function isNarrowed({ role, source, tag, afterMs, beforeMs, sessionId }: Requested): boolean {
  return (
    [source, tag, afterMs, beforeMs, sessionId].some((filter) => filter !== undefined) ||
    role?.includes('assistant') === false
  )
}

/** Sessions that are about the words although no message that was found has them. */
async function summed(
  storage: Storage,
  words: string,
  {
    person,
    known,
    limit,
  }: { readonly person: string | null; readonly known: readonly string[]; readonly limit: number },
): Promise<readonly string[]> {
  if (limit < 1) return []
  const found = await storage.summaries.search(words, { person, limit, excludeSessions: known })
  const sessions = await Promise.all(found.map(({ sessionId }) => storage.sessions.get(sessionId)))
  return found.flatMap(({ text }, index) => {
    const session = sessions[index]
    return session ? [`${sessionLine(session)}\n  Summary: ${text.replace(/\s+/g, ' ')}`] : []
  })
}

/** Each hit with the first ancestor of its session. */
async function withRoots(
  storage: Storage,
  hits: readonly SearchHit[],
): Promise<readonly (readonly [SearchHit, string])[]> {
  const roots = new Map<string, string>()
  for (const { sessionId } of hits) {
    if (roots.has(sessionId)) continue
    const lineage = await storage.sessions.ancestors(sessionId)
    roots.set(sessionId, lineage.at(-1)?.id ?? sessionId)
  }
  return hits.map((hit) => [hit, roots.get(hit.sessionId)!] as const)
}

function onePerLineage(hits: readonly (readonly [SearchHit, string])[]): readonly SearchHit[] {
  const seen = new Set<string>()
  return hits.filter(([, root]) => !seen.has(root) && seen.add(root)).map(([hit]) => hit)
}

async function browse(
  storage: Storage,
  args: Args & Pick<Requested, 'person'>,
  context: ToolContext,
): Promise<ToolResult> {
  const { source, person } = args
  const own = new Set(await ownLineage(storage, context.sessionId))
  const limit = limitOf(args)
  const recent = await storage.sessions.list({
    person,
    limit: limit + own.size,
    ...(source === undefined ? {} : { source }),
  })
  const sessions = recent.filter(({ id }) => !own.has(id)).slice(0, limit)
  if (sessions.length === 0) return 'There are no earlier sessions.'
  return sessions.map((session) => `${sessionLine(session)}\n  ${session.preview}`).join('\n')
}

function limitOf({ limit }: Args): number {
  return Math.min(Math.max(1, limit ?? LIMIT.default), LIMIT.max)
}

/** `NaN` for what is no date. */
function toMs(date: string | undefined): number | undefined {
  return date === undefined || date.trim() === '' ? undefined : Date.parse(date.trim())
}

const failure = (text: string): ToolResult => ({ text, isError: true })

const FIRST = 20
const LAST = 10

/** The beginning and the end of a session, and what a long one was about. */
async function readSession(storage: Storage, session: SessionInfo): Promise<ToolResult> {
  const texts = (await storage.log.entries(session.id)).map(messageText).filter((text) => text !== null)
  const left = texts.length - FIRST - LAST
  const shown =
    left <= 0 ? texts : [...texts.slice(0, FIRST), `… ${left} messages; read them with around …`, ...texts.slice(-LAST)]
  const summary = left <= 0 ? null : await storage.summaries.get(session.id)
  const about = summary === null ? [] : [`Summary: ${summary.text}`]
  return { text: [sessionLine(session), ...about, ...shown].join('\n'), external: true, sources: EARLIER }
}

/** The messages on both sides of one; `null` when the session has no such message. */
async function readAround(
  storage: Storage,
  session: SessionInfo,
  { seq, window }: { readonly seq: number; readonly window: number },
): Promise<ToolResult | null> {
  const messages = (await storage.log.entries(session.id)).filter((entry) => entry.type === 'message')
  const at = messages.findIndex((entry) => entry.seq === seq)
  if (at === -1) return null
  const from = Math.max(0, at - window)
  const shown = messages.slice(from, at + window + 1)
  const [before, after] = [from, messages.length - from - shown.length]
  const counts = `  (${before} messages before, ${after} after)`
  return {
    text: [sessionLine(session) + counts, ...shown.map(messageText).filter((text) => text !== null)].join('\n'),
    external: true,
    sources: EARLIER,
  }
}
