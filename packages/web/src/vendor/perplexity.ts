import { objectsIn, type SearchVendor, toHit } from '../search/search-vendor.js'

export const perplexitySearch: SearchVendor = {
  most: 20,
  request: (query, limit) => ({ path: '/search', body: { query, max_results: limit } }),
  hits: ({ results }) =>
    objectsIn(results).map((item) => toHit(item, { snippet: item['snippet'], date: item['date'] })),
}
