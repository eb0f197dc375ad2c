import { objectsIn, type SearchVendor, toHit } from './search-vendor.js'

export const tavilySearch: SearchVendor = {
  most: 20,
  request: (query, limit) => ({ path: '/search', body: { query, max_results: limit } }),
  hits: ({ results }) =>
    objectsIn(results).map((item) => toHit(item, { snippet: item['content'], date: item['published_date'] })),
}
