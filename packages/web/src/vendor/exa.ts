import { isJsonObject } from '@hermes/contracts'
import { type ExtractVendor, textIn } from '../extract/extract-vendor.js'
import { objectsIn, type SearchVendor, toHit } from '../search/search-vendor.js'

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

export const exaExtract: ExtractVendor = {
  request: (url) => ({ path: '/contents', body: { urls: [url], text: true } }),
  page: ({ results, statuses }, url) => {
    const [page] = objectsIn(results)
    if (page) return { url: textIn(page['url']) || url, title: textIn(page['title']), text: textIn(page['text']) }
    const error = objectsIn(statuses)[0]?.['error']
    return (isJsonObject(error) && textIn(error['tag'])) || 'it answers no page'
  },
}
