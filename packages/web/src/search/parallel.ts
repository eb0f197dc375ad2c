import { objectsIn, type SearchVendor, toHit } from './search-vendor.js'

export const parallelSearch: SearchVendor = {
  most: 40,
  request: (query, limit) => ({
    path: '/v1/search',
    body: { objective: query, search_queries: [query], mode: 'basic', advanced_settings: { max_results: limit } },
  }),
  hits: ({ results }) =>
    objectsIn(results).map((item) => toHit(item, { snippet: item['excerpts'], date: item['publish_date'] })),
}
