import type { JsonObject } from '@hermes/contracts'
import type { SearchHit } from '@hermes/contracts/web'
import { describe, expect, it } from 'vitest'
import { allowing, failingReply, type Reply, type Seen, serve } from '../__fixtures__/serve.js'
import { testSearchProvider } from '../testing/index.js'
import { serviceOf } from '../vendor/vendors.js'
import { createSearch } from './search-vendor.js'
import { SEARCHES } from './search-vendors.js'

const html = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')

/** What each service answers, in its own words. */
const ANSWERS: Readonly<Record<string, (hits: readonly SearchHit[]) => object>> = {
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

const answersOf = (name: string, hits: readonly SearchHit[]) =>
  ANSWERS[name === 'nous' ? 'firecrawl' : name]!(hits) as JsonObject

async function subject(name: string, key: string | null = 'secret-key') {
  let reply: (seen: Seen) => Reply = () => answersOf(name, [])
  const server = await serve((seen) => reply(seen))
  const { permit, actions } = allowing()
  const connection = { vendor: serviceOf(name), baseUrl: server.baseUrl, key, fetch: server.fetchTo(server.baseUrl) }
  return {
    provider: createSearch(name, SEARCHES[name]!, connection),
    permit,
    actions,
    requests: server.requests,
    find: (hits: readonly SearchHit[]) => void (reply = () => answersOf(name, hits)),
    fail: (failure: Parameters<typeof failingReply>[0]) => void (reply = () => failingReply(failure)),
    reply: (answer: JsonObject) => void (reply = () => answer),
    release: server.close,
  }
}

describe.each(Object.keys(SEARCHES))('search by %s', (name) => {
  testSearchProvider(() => subject(name))

  it('asks once, against a permit for that request, and carries the key in a header', async () => {
    const { provider, permit, actions, requests, release } = await subject(name)
    await provider.search('cats & dogs', { limit: 5, permit, signal: AbortSignal.timeout(5_000) })
    release()
    expect(requests).toHaveLength(1)
    expect(actions).toMatchObject([{ type: 'fetch', method: requests[0]!.method, chosen: 'looks' }])
    expect(JSON.stringify([requests[0]!.path, requests[0]!.body])).not.toContain('secret-key')
    if (name !== 'searxng') expect(JSON.stringify(requests[0]!.headers)).toContain('secret-key')
    expect(decodeURIComponent(JSON.stringify([requests[0]!.path.replaceAll('+', ' '), requests[0]!.body]))).toContain(
      'cats & dogs',
    )
  })
})

describe('search', () => {
  it('is asked without a key as each service documents it', async () => {
    const requested = async (name: string) => {
      const { provider, permit, requests, release } = await subject(name, null)
      await provider.search('x', { limit: 5, permit, signal: AbortSignal.timeout(5_000) })
      release()
      return requests[0]!
    }
    expect((await requested('tavily')).headers).toMatchObject({ 'x-tavily-access-mode': 'keyless' })
    expect(await requested('keenable')).toMatchObject({
      path: '/v1/search/public',
      headers: { 'x-keenable-title': 'Hermes' },
    })
    expect((await requested('firecrawl')).headers).not.toHaveProperty('authorization')
  })

  it('of SearXNG fails where it is empty because engines failed', async () => {
    const { provider, permit, reply, release } = await subject('searxng')
    reply({
      results: [],
      unresponsive_engines: [
        ['brave', 'timeout'],
        ['duckduckgo', 'CAPTCHA'],
      ],
    })
    const run = provider.search('x', { limit: 5, permit, signal: AbortSignal.timeout(5_000) })
    await expect(run).rejects.toThrow('its engines failed: brave timeout, duckduckgo CAPTCHA')
    release()
  })
})
