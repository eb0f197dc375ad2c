// The packages that the services publish take the answers that our own clients are tested against, and ask in the same places.
import Perplexity from '@perplexity-ai/perplexity_ai'
import { tavily } from '@tavily/core'
import * as exa from 'exa-js'
import Firecrawl from 'firecrawl'
import { Keenable } from 'keenable'
import Parallel from 'parallel-web'
import { describe, expect, it, onTestFinished } from 'vitest'
import { allowing, failingReply, type Reply, serve } from '../__fixtures__/serve.js'
import { readBy, searchedBy, URL_READ } from '../__fixtures__/vendor-answers.js'
import { createExtract } from '../extract/extract-vendor.js'
import { EXTRACTS } from '../extract/extract-vendors.js'
import { createSearch } from '../search/search-vendor.js'
import { SEARCHES } from '../search/search-vendors.js'
import { serviceOf } from './vendors.js'

const KEY = 'fc-secret-key'
const HITS = [
  { title: 'Rain & shine', url: 'https://one.example/a?x=1&y=2', snippet: 'It rains "today".', date: '2026-11-01' },
  { title: 'Zweite', url: 'https://two.example/', snippet: 'Übermorgen 日本' },
]
const PAGE = { title: 'Weather', text: 'The wind goes over the roofs of the town, and nobody listens to it.' }

/** What a package gives for a search and for a page, as title and address or text. */
interface Sdk {
  search(query: string, limit: number): Promise<readonly { readonly title: string; readonly url: string }[]>
  read?(url: string): Promise<string>
}

type Named = readonly { readonly title?: string | null; readonly url?: string }[]
const named = (found: Named | undefined) => (found ?? []).map(({ title, url }) => ({ title: title ?? '', url: url! }))

const SDKS: Readonly<Record<string, (baseUrl: string) => Sdk>> = {
  firecrawl: (apiUrl) => {
    const client = new Firecrawl({ apiKey: KEY, apiUrl })
    return {
      search: async (query, limit) => named((await client.search(query, { limit })).web as Named),
      read: async (url) => (await client.scrape(url, { formats: ['markdown'] })).markdown ?? '',
    }
  },
  tavily: (apiBaseURL) => {
    const client = tavily({ apiKey: KEY, apiBaseURL })
    return {
      search: async (query, limit) => named((await client.search(query, { maxResults: limit })).results),
      read: async (url) => (await client.extract([url], { format: 'markdown' })).results[0]?.rawContent ?? '',
    }
  },
  exa: (baseURL) => {
    // Its types are those of its other build.
    const Exa = exa.default as unknown as typeof exa.default.default
    const client = new Exa(KEY, baseURL)
    return {
      search: async (query, limit) => named((await client.search(query, { numResults: limit })).results),
      read: async (url) => (await client.getContents([url], { text: true })).results[0]?.text ?? '',
    }
  },
  parallel: (baseURL) => {
    const client = new Parallel({ apiKey: KEY, baseURL, maxRetries: 0 })
    return {
      search: async (query) => named((await client.search({ objective: query, search_queries: [query] })).results),
      read: async (url) =>
        (await client.extract({ urls: [url], advanced_settings: { full_content: true } })).results[0]?.full_content ??
        '',
    }
  },
  perplexity: (baseURL) => {
    const client = new Perplexity({ apiKey: KEY, baseURL, maxRetries: 0 })
    return {
      search: async (query, limit) => named((await client.search.create({ query, max_results: limit })).results),
    }
  },
  keenable: (baseUrl) => {
    const client = new Keenable({ apiKey: KEY, baseUrl })
    return {
      search: async (query) => named((await client.search(query, { snippetMaxLength: 500 })).results),
      read: async (url) => (await client.fetch(url)).content,
    }
  },
}

async function open(name: string) {
  let reply: Reply = {}
  const server = await serve(() => reply)
  onTestFinished(server.close)
  const connection = {
    vendor: serviceOf(name),
    baseUrl: server.baseUrl,
    key: KEY,
    fetch: server.fetchTo(server.baseUrl),
  }
  return {
    sdk: SDKS[name]!(server.baseUrl),
    connection,
    call: { permit: allowing().permit, signal: AbortSignal.timeout(10_000) },
    answer: (next: Reply) => void (reply = next),
    /** Of the last two requests: where they went and what they brought along as a key. */
    lastTwo: () =>
      server.requests.slice(-2).map(({ method, path, headers }) => ({ method, path, key: keyOf(headers) })),
  }
}

const keyOf = (headers: Readonly<Record<string, unknown>>) =>
  Object.entries(headers).find(([, value]) => String(value).includes(KEY))

const query = 'cats & dogs'

describe.each(Object.keys(SDKS))('the package of %s', (name) => {
  it('searches the same server in the same place with the same key, and finds the same', async () => {
    const { sdk, connection, call, answer, lastTwo } = await open(name)
    answer(searchedBy(name, HITS))
    const found = await sdk.search(query, 2)
    const own = await createSearch(name, SEARCHES[name]!, connection).search(query, { ...call, limit: 2 })
    expect(found).toEqual(own.map(({ title, url }) => ({ title, url })))
    expect(found.map(({ url }) => url)).toEqual(HITS.map(({ url }) => url))
    const [theirs, ours] = lastTwo()
    expect(ours).toEqual(theirs)
    expect(ours!.key).toBeDefined()
  })

  it('reads the same page in the same place', async () => {
    const { sdk, connection, call, answer, lastTwo } = await open(name)
    if (!sdk.read) return expect(Object.keys(EXTRACTS)).not.toContain(name)
    answer(readBy(name).page(PAGE))
    const text = await sdk.read(URL_READ)
    const own = await createExtract(name, EXTRACTS[name]!, connection).extract(URL_READ, call)
    expect([text, own.text]).toEqual([PAGE.text, PAGE.text])
    const [theirs, ours] = lastTwo()
    expect(ours).toEqual(theirs)
  })

  it('takes the refusal of the server for one', async () => {
    const { sdk, answer } = await open(name)
    answer(failingReply({ type: 'status', status: 401 }))
    await expect(sdk.search(query, 2)).rejects.toThrow(Error)
  })
})
