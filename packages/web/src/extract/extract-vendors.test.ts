import type { JsonObject } from '@hermes/contracts'
import type { ExtractedPage } from '@hermes/contracts/web'
import { describe, expect, it } from 'vitest'
import { allowing, failingReply, type Reply, serve } from '../__fixtures__/serve.js'
import { testExtractProvider } from '../testing/index.js'
import { serviceOf } from '../vendor/vendors.js'
import { createExtract } from './extract-vendor.js'
import { EXTRACTS } from './extract-vendors.js'

const URL_READ = 'https://pages.example/one'
type Shown = Pick<ExtractedPage, 'title' | 'text'>

/** What each service answers for a page, and for one that it cannot read. */
const ANSWERS: Readonly<Record<string, { page: (page: Shown) => JsonObject; none: JsonObject }>> = {
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

async function subject(name: string) {
  const answers = ANSWERS[name === 'nous' ? 'firecrawl' : name]!
  let reply: Reply = answers.none
  const server = await serve(() => reply)
  const fetch = server.fetchTo(server.baseUrl)
  const connection = { vendor: serviceOf(name), baseUrl: server.baseUrl, key: 'secret-key', fetch }
  return {
    provider: createExtract(name, EXTRACTS[name]!, connection),
    permit: allowing().permit,
    show: (page: Shown) => {
      reply = answers.page(page)
      return URL_READ
    },
    fail: (failure: Parameters<typeof failingReply>[0]) => {
      reply = failingReply(failure)
      return URL_READ
    },
    release: server.close,
  }
}

describe.each(Object.keys(EXTRACTS))('pages read by %s', (name) => {
  testExtractProvider(() => subject(name))

  it('says why a page could not be read', async () => {
    const { provider, permit, release } = await subject(name)
    const run = provider.extract(URL_READ, { permit, signal: AbortSignal.timeout(5_000) })
    await expect(run).rejects.toMatchObject({ code: 'web.unreadable', message: expect.stringContaining(URL_READ) })
    release()
  })
})
