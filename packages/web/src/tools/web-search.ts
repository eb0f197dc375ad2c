import { defineTool, type ToolContext, type ToolResult } from '@hermes/contracts/tool'
import type { SearchHit } from '@hermes/contracts/web'
import type { SearchAnswer, Web } from '../web.js'

/** What the tools of the web need of a home. */
export interface WebToolServices {
  readonly web: Web
}

const LIMIT = { default: 5, max: 100 }
const MAX_SNIPPET_CHARS = 400

const parameters = {
  type: 'object',
  properties: {
    query: { type: 'string' },
    limit: { type: 'integer', minimum: 1, maximum: LIMIT.max, default: LIMIT.default },
  },
  required: ['query'],
} as const

/** Searches the web. */
export const createWebSearchTool = ({ web }: WebToolServices) =>
  defineTool<{ readonly query: string; readonly limit?: number }>({
    name: 'web_search',
    toolset: 'web',
    description: 'Search the web: titles, addresses and snippets, best first. Read a page with web_extract.',
    parameters,
    effect: 'read',
    concurrency: 'parallel',
    external: true,
    sources: ({ query }) => [{ type: 'web', name: `the web search for ${query}` }],
    icon: '🔎',
    available: () => web.mayFetch(),
    summarize: ({ query }) => `search the web for ${query}`,
    async execute({ query, limit = LIMIT.default }, context) {
      const words = query.replace(/\s+/g, ' ').trim()
      if (words === '') return { text: 'query is blank. Say what to look for.', isError: true }
      const { signal } = context
      const answer = await web.search(words, { signal, permit: (action) => context.permit(action), limit })
      return result(answer, limit, context)
    },
  })

function result(
  { hits, servedBy, isAnonymous, most }: SearchAnswer,
  limit: number,
  { state }: ToolContext,
): ToolResult {
  const results = hits.map(({ title, url, snippet, date }, index) => ({
    rank: index + 1,
    title,
    url,
    snippet: cut(snippet),
    ...(date === undefined ? {} : { date }),
  }))
  const notice = state.scratch('web.anonymous', () => ({ isKnown: false }))
  const lines = hits.map(hitLines)
  if (hits.length === 0) lines.push('Nothing was found. Other words may find something.')
  const isCapped = most !== null && limit > most
  if (isCapped) lines.push(`(${servedBy} gives ${most} results at most, and ${limit} were wanted.)`)
  if (isAnonymous && !notice.isKnown)
    lines.push(
      `(No search service is configured here, so ${servedBy} was asked without a key; tell the user once. A key in .env is more reliable, web.keyless_fallback: false ends it.)`,
    )
  notice.isKnown ||= isAnonymous
  return { data: { results, served_by: servedBy, ...(isCapped ? { limited_to: most } : {}) }, text: lines.join('\n') }
}

function hitLines({ title, url, snippet, date }: SearchHit, index: number): string {
  const about = [date?.slice(0, 10), cut(snippet)].filter((part) => part).join(': ')
  return `${index + 1}. ${title || url}\n   ${url}${about === '' ? '' : `\n   ${about}`}`
}

function cut(snippet: string): string {
  return snippet.length <= MAX_SNIPPET_CHARS ? snippet : `${snippet.slice(0, MAX_SNIPPET_CHARS).toWellFormed()}…`
}
