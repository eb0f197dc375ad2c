import { errorLine, HermesError, type JsonObject } from '@hermes/contracts'
import { defineTool, type ToolContext, type ToolResult } from '@hermes/contracts/tool'
import type { ReadPage, Web } from '../web.js'
import type { WebToolServices } from './web-search.js'
import { windowOf } from './window.js'

const MAX_URLS = 5
const CHARS = { min: 2_000, max: 500_000 }

const parameters = {
  type: 'object',
  properties: {
    urls: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: MAX_URLS },
    char_limit: { type: 'integer', minimum: CHARS.min, maximum: CHARS.max },
    start: { type: 'integer', minimum: 0, description: 'Read on there' },
  },
  required: ['urls'],
} as const

interface Args {
  readonly urls: readonly string[]
  readonly char_limit?: number
  readonly start?: number
}

/** Reads pages. */
export const createWebExtractTool = ({ web }: WebToolServices) =>
  defineTool<Args>({
    name: 'web_extract',
    toolset: 'web',
    description: 'Read web pages and PDFs as Markdown. Of a long one the middle is left out.',
    parameters,
    effect: 'read',
    concurrency: 'parallel',
    external: true,
    sources: ({ urls }) => urls.map((url) => ({ type: 'web', name: hostOf(addressOf(url)) })),
    icon: '📄',
    maxResultChars: MAX_URLS * CHARS.max + 10_000,
    available: () => web.mayFetch(),
    summarize: ({ urls }) => `read ${urls.join(', ')}`,
    async execute({ urls, char_limit: limit = web.charLimit, start = 0 }, context) {
      const wanted = [...new Set(urls.map(addressOf))]
      const pages = await Promise.all(wanted.map((url) => readOne(web, url, { start, context })))
      const shown = pages.map((page) => show(page, { start, limit }))
      const isError = pages.every(({ type }) => type === 'failed')
      return {
        data: { results: shown.map(({ data }) => data) },
        text: shown.map(({ text }) => text).join('\n\n---\n\n'),
        isError,
      } satisfies ToolResult
    },
  })

type Outcome =
  | { readonly type: 'read'; readonly url: string; readonly page: ReadPage }
  | { readonly type: 'failed'; readonly url: string; readonly reason: string }

const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).hostname : 'the web')

/** People leave out what browsers add. */
const addressOf = (url: string) => (/^[a-z][\w+.-]*:/i.test(url.trim()) ? url.trim() : `https://${url.trim()}`)

/** Texts of a session that may be read on: what is not kept for others is kept for it. */
const MOST_PAGES = 20

async function readOne(
  web: Web,
  url: string,
  { start, context }: { readonly start: number; readonly context: ToolContext },
): Promise<Outcome> {
  const { signal, state } = context
  const seen = state.scratch('web.pages', () => new Map<string, ReadPage>())
  const known = start > 0 ? seen.get(url) : undefined
  if (known) return { type: 'read', url, page: known }
  if (!URL.canParse(url)) return { type: 'failed', url, reason: `${url} is no address.` }
  try {
    const page = await web.extract(url, { signal, permit: (action, options) => context.permit(action, options) })
    seen.delete(url)
    seen.set(url, page)
    if (seen.size > MOST_PAGES) seen.delete(seen.keys().next().value!)
    return { type: 'read', url, page }
  } catch (error) {
    signal.throwIfAborted()
    // What is no failure of the page, such as a question that waits for its answer, is not for the model.
    if (!HermesError.isInstance(error)) throw error
    return { type: 'failed', url, reason: errorLine(error) }
  }
}

function show(
  outcome: Outcome,
  { start, limit }: { readonly start: number; readonly limit: number },
): { readonly text: string; readonly data: JsonObject } {
  if (outcome.type === 'failed')
    return { text: `${outcome.url}\n${outcome.reason}`, data: { url: outcome.url, error: outcome.reason } }
  const { url, title, note, servedBy } = outcome.page
  const { text, totalChars, nextStart } = windowOf(outcome.page.text, { start, limit })
  const content = text === '' ? `There are ${totalChars} characters: nothing begins at ${start}.` : text
  const moved = url === outcome.url ? '' : ` (asked for as ${outcome.url})`
  return {
    text: [`# ${title || url}`, `${url}${moved}`, ...(note ? [note] : []), '', content].join('\n'),
    data: {
      url,
      title,
      content,
      chars: totalChars,
      served_by: servedBy,
      ...(nextStart === null ? {} : { next_start: nextStart }),
      ...(note ? { note } : {}),
    },
  }
}
