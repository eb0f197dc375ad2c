import { findSession } from '@hermes/commands'
import type { SearchHit, SearchOptions, Storage } from '@hermes/storage'
import { EXIT, UsageError } from '../errors.js'
import type { Io } from '../io.js'
import { withStorage } from '../open-cli.js'
import { createStyle, printable, type Style, wrap } from '../render/style.js'

/** Flags of `hermes sessions search`. */
interface SearchFlags {
  readonly limit: number
  readonly role?: readonly string[]
  readonly source?: readonly string[]
  readonly session?: string
  readonly tag?: string
  readonly after?: string
  readonly before?: string
  readonly sort: 'newest' | 'relevance'
  readonly context?: boolean
  readonly json?: boolean
}

/** `hermes sessions search WORDS`: messages that hold them, newest first, the words marked. Exit code 1 when there are none. */
export async function searchSessions(io: Io, query: string, flags: SearchFlags): Promise<number> {
  if (!Number.isInteger(flags.limit) || flags.limit < 1 || flags.limit > 100)
    throw new UsageError('--limit takes a whole number from 1 to 100.')
  return withStorage(io, async (storage) => {
    const hits = await storage.search.find(query, await toOptions(storage, flags))
    for (const hit of hits) {
      if (flags.json) io.stdout.write(`${JSON.stringify(hit)}\n`)
      else show(io, hit, flags.context ?? false)
    }
    const isEmpty = hits.length + (await showSummaries(io, storage, { query, flags, hits })) === 0
    if ((await storage.search.backlog()) > 0)
      io.stderr.write('Older messages are still being indexed; search again later.\n')
    if (isEmpty) io.stderr.write(`Nothing was found for "${query}".\n`)
    return isEmpty ? EXIT.failed : EXIT.ok
  })
}

/** Sessions that are about the words although none of the messages shown is theirs. Tells how many. */
async function showSummaries(
  io: Io,
  storage: Storage,
  { query, flags, hits }: { readonly query: string; readonly flags: SearchFlags; readonly hits: readonly SearchHit[] },
): Promise<number> {
  const { role, source, session, tag, after, before } = flags
  const isNarrowed = [role, source, session, tag, after, before].some((filter) => filter !== undefined)
  const limit = flags.limit - hits.length
  if (isNarrowed || limit < 1) return 0
  const excludeSessions = hits.map(({ sessionId }) => sessionId)
  const style = createStyle(io.stdout)
  const found = await storage.summaries.search(query, { limit, excludeSessions })
  for (const { sessionId, text, keywords, atMs } of found) {
    if (flags.json) io.stdout.write(`${JSON.stringify({ sessionId, summary: text, keywords, atMs })}\n`)
    else {
      const shown = wrap(printable(text).replace(/\s+/g, ' ').trim(), width(io)).replace(/^/gm, '  ')
      io.stdout.write(`${style.bold(sessionId)}${style.dim('  summary')}\n${shown}\n\n`)
    }
  }
  return found.length
}

async function toOptions(storage: Storage, flags: SearchFlags): Promise<SearchOptions> {
  const { limit, role, source, tag, sort } = flags
  const [afterMs, beforeMs] = [toMs('--after', flags.after), toMs('--before', flags.before)]
  return {
    limit,
    order: sort,
    ...(role ? { role } : {}),
    ...(source ? { source } : {}),
    ...(tag === undefined ? {} : { tag }),
    ...(flags.session === undefined ? {} : { sessionId: (await findSession(storage, flags.session)).id }),
    ...(afterMs === undefined ? {} : { afterMs }),
    ...(beforeMs === undefined ? {} : { beforeMs }),
  }
}

function toMs(flag: string, date: string | undefined): number | undefined {
  if (date === undefined) return undefined
  const ms = Date.parse(date)
  if (Number.isNaN(ms)) throw new UsageError(`${flag} takes a date such as 2026-03-01, or 2026-03-01T12:30.`)
  return ms
}

function show(io: Io, hit: SearchHit, withContext: boolean): void {
  const style = createStyle(io.stdout)
  const when = new Date(hit.atMs).toISOString().slice(0, 16).replace('T', ' ')
  const title = hit.title ? `  ${printable(hit.title)}` : ''
  const beside = (message: SearchHit['before']) => {
    if (!withContext || message === null || message.text === '') return
    const text = printable(`${message.role}: ${message.text}`).replace(/\s+/g, ' ').trim()
    io.stdout.write(`${wrap(text, width(io)).replace(/^.*$/gm, (line) => style.dim(`  ${line}`))}\n`)
  }
  io.stdout.write(`${style.bold(hit.sessionId)}${style.dim(`  ${when}  ${hit.role} #${hit.seq}`)}${title}\n`)
  beside(hit.before)
  io.stdout.write(`${highlight(hit.snippet, width(io), style)}\n`)
  beside(hit.after)
  io.stdout.write('\n')
}

function width(io: Io): number {
  return Math.max(20, io.stdout.columns() - 2)
}

/** The words found stand between marks; colours come after the lines are broken. */
function highlight(snippet: string, columns: number, style: Style): string {
  const lines = wrap(printable(snippet).replace(/\s+/g, ' ').trim(), columns)
  const marked = lines.replace(/>>>(.*?)<<</gs, (_, words: string) =>
    words
      .split('\n')
      .map((word) => style.yellow(word))
      .join('\n'),
  )
  return marked.replace(/^/gm, '  ')
}
