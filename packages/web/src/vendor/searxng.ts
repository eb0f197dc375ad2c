import { HermesError } from '@hermes/contracts'
import { objectsIn, type SearchVendor, toHit } from '../search/search-vendor.js'

export const searxngSearch: SearchVendor = {
  most: 100,
  request: (query) => ({ path: '/search', method: 'GET', query: { q: query, format: 'json' } }),
  hits: ({ results, unresponsive_engines: silent }) => {
    const hits = objectsIn(results).map((item) =>
      toHit(item, { snippet: item['content'], date: item['publishedDate'] }),
    )
    const names = Array.isArray(silent) ? silent.map((engine) => [engine].flat().join(' ')) : []
    if (hits.length === 0 && names.length > 0)
      throw new HermesError(`SearXNG found nothing because its engines failed: ${names.slice(0, 5).join(', ')}.`, {
        code: 'web.no_answer',
        retryable: true,
      })
    return hits
  },
}
