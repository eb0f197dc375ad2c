import { type ExtractVendor, textIn } from '../extract/extract-vendor.js'
import { objectsIn, type SearchVendor, toHit } from '../search/search-vendor.js'

export const tavilySearch: SearchVendor = {
  most: 20,
  request: (query, limit) => ({ path: '/search', body: { query, max_results: limit } }),
  hits: ({ results }) =>
    objectsIn(results).map((item) => toHit(item, { snippet: item['content'], date: item['published_date'] })),
}

export const tavilyExtract: ExtractVendor = {
  request: (url) => ({ path: '/extract', body: { urls: [url], format: 'markdown' } }),
  page: ({ results, failed_results: failed }, url) => {
    const [page] = objectsIn(results)
    if (!page) return textIn(objectsIn(failed)[0]?.['error']) || 'it answers no page'
    return { url: textIn(page['url']) || url, title: textIn(page['title']), text: textIn(page['raw_content']) }
  },
}
