import { type ExtractVendor, textIn } from '../extract/extract-vendor.js'
import { objectsIn, type SearchVendor, toHit } from '../search/search-vendor.js'

export const parallelSearch: SearchVendor = {
  most: 40,
  request: (query, limit) => ({
    path: '/v1/search',
    body: { objective: query, search_queries: [query], mode: 'basic', advanced_settings: { max_results: limit } },
  }),
  hits: ({ results }) =>
    objectsIn(results).map((item) => toHit(item, { snippet: item['excerpts'], date: item['publish_date'] })),
}

export const parallelExtract: ExtractVendor = {
  request: (url) => ({ path: '/v1/extract', body: { urls: [url], advanced_settings: { full_content: true } } }),
  page: ({ results, errors }, url) => {
    const [page] = objectsIn(results)
    if (page)
      return { url: textIn(page['url']) || url, title: textIn(page['title']), text: textIn(page['full_content']) }
    const [error] = objectsIn(errors)
    return textIn(error?.['content']) || textIn(error?.['error_type']) || 'it answers no page'
  },
}
