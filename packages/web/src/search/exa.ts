import { objectsIn, type SearchVendor, toHit } from './search-vendor.js'

export const exaSearch: SearchVendor = {
  most: 100,
  request: (query, limit) => ({
    path: '/search',
    body: { query, numResults: limit, contents: { highlights: true } },
  }),
  hits: ({ results }) =>
    objectsIn(results).map((item) =>
      toHit(item, { snippet: item['highlights'] ?? item['text'], date: item['publishedDate'] }),
    ),
}
