import type { JsonObject } from '@hermes/contracts'
import type { ExtractedPage, SearchHit } from '@hermes/contracts/web'

const html = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')

/** What each service answers to a search, in its own words. */
const SEARCHED: Readonly<Record<string, (hits: readonly SearchHit[]) => object>> = {
  firecrawl: (hits) => ({
    success: true,
    data: {
      web: hits.map(({ title, url, snippet }, index) => ({ title, url, description: snippet, position: index + 1 })),
    },
  }),
  parallel: (hits) => ({
    search_id: 's',
    session_id: 's',
    results: hits.map(({ title, url, snippet, date }) => ({
      title,
      url,
      excerpts: [snippet, 'more'],
      publish_date: date ?? null,
    })),
    warnings: null,
  }),
  tavily: (hits) => ({
    query: 'q',
    response_time: 1,
    images: [],
    results: hits.map(({ title, url, snippet, date }) => ({
      title,
      url,
      content: snippet,
      score: 0.5,
      raw_content: null,
      published_date: date ?? null,
    })),
  }),
  exa: (hits) => ({
    requestId: 'r',
    results: hits.map(({ title, url, snippet, date }) => ({
      id: url,
      title,
      url,
      highlights: [snippet],
      publishedDate: date ?? null,
    })),
  }),
  perplexity: (hits) => ({
    id: 'i',
    results: hits.map(({ title, url, snippet, date }) => ({
      title,
      url,
      snippet,
      date: date ?? null,
      last_updated: null,
    })),
  }),
  brave: (hits) => ({
    type: 'search',
    web: {
      type: 'search',
      results: hits.map(({ title, url, snippet, date }) => ({
        title: html(title),
        url,
        description: `<strong>${html(snippet)}</strong>`,
        ...(date ? { page_age: date } : {}),
      })),
    },
  }),
  keenable: (hits) => ({
    query: 'q',
    mode: 'pro',
    results: hits.map(({ title, url, snippet, date }) => ({ title, url, snippet, published_at: date ?? null })),
  }),
  searxng: (hits) => ({
    query: 'q',
    results: hits.map(({ title, url, snippet, date }) => ({
      title,
      url,
      content: snippet,
      publishedDate: date ?? null,
    })),
    unresponsive_engines: [],
  }),
  xai: (hits) => {
    const lines = hits.map(
      ({ title, url, snippet }, index) => `${index + 1}. **${title}**: ${snippet} [[${index + 1}]](${url})`,
    )
    let at = 0
    const annotations = hits.map(({ title, url }, index) => {
      const start = at + lines[index]!.indexOf('[[')
      at += lines[index]!.length + 1
      return { type: 'url_citation', url, title, start_index: start, end_index: at - 1 }
    })
    return {
      id: 'r',
      object: 'response',
      output: [
        { type: 'web_search_call', status: 'completed' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: lines.join('\n'), annotations }] },
      ],
    }
  },
}

export const URL_READ = 'https://pages.example/one'
/** A page as it is read. */
export type Shown = Pick<ExtractedPage, 'title' | 'text'>

/** What each service answers for a page, and for one that it cannot read. */
const READ: Readonly<Record<string, { page: (page: Shown) => JsonObject; none: JsonObject }>> = {
  firecrawl: {
    page: ({ title, text }) => ({
      success: true,
      data: { markdown: text, metadata: { title, sourceURL: URL_READ, statusCode: 200 } },
    }),
    none: { success: true, data: { markdown: 'Not Found', metadata: { sourceURL: URL_READ, statusCode: 404 } } },
  },
  parallel: {
    page: ({ title, text }) => ({
      extract_id: 'e',
      results: [{ url: URL_READ, title, excerpts: [], full_content: text }],
      errors: [],
    }),
    none: {
      results: [],
      errors: [{ url: URL_READ, error_type: 'fetch_failed', content: null, http_status_code: 404 }],
    },
  },
  tavily: {
    page: ({ title, text }) => ({ results: [{ url: URL_READ, title, raw_content: text }], failed_results: [] }),
    none: { results: [], failed_results: [{ url: URL_READ, error: 'Failed to fetch url' }] },
  },
  exa: {
    page: ({ title, text }) => ({ results: [{ id: URL_READ, url: URL_READ, title, text }], statuses: [] }),
    none: { results: [], statuses: [{ id: URL_READ, status: 'error', error: { tag: 'CRAWL_NOT_FOUND' } }] },
  },
  keenable: {
    page: ({ title, text }) => ({ url: URL_READ, title, content: text }),
    none: { url: URL_READ, title: '', content: '' },
  },
}

const wordsOf = (name: string) => (name === 'nous' ? 'firecrawl' : name)

/** What a service answers to a search. */
export const searchedBy = (name: string, hits: readonly SearchHit[]): JsonObject =>
  SEARCHED[wordsOf(name)]!(hits) as JsonObject

/** What a service answers for a page. */
export const readBy = (name: string) => READ[wordsOf(name)]!
