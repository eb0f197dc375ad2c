import { type ExtractVendor, textIn } from '../extract/extract-vendor.js'
import { objectsIn, type SearchVendor, toHit } from '../search/search-vendor.js'

export const keenableSearch: SearchVendor = {
  most: 50,
  request: (query, limit, isAnonymous) => ({
    path: isAnonymous ? '/v1/search/public' : '/v1/search',
    body: { query, mode: 'pro', max_results: limit, snippet_max_length: 500 },
    // Without it nobody is served who has no key.
    headers: { 'x-keenable-title': 'Hermes' },
  }),
  hits: ({ results }) =>
    objectsIn(results).map((item) =>
      toHit(item, { snippet: item['snippet'] ?? item['description'], date: item['published_at'] }),
    ),
}

export const keenableExtract: ExtractVendor = {
  request: (url) => ({ path: '/v1/fetch', method: 'GET', query: { url } }),
  page: (page, url) => ({
    url: textIn(page['url']) || url,
    title: textIn(page['title']),
    text: textIn(page['content']),
  }),
}
