import { isJsonObject } from '@hermes/contracts'
import { objectsIn, type SearchVendor, toHit } from '../search/search-vendor.js'

export const braveSearch: SearchVendor = {
  most: 20,
  request: (query, limit) => ({
    path: '/res/v1/web/search',
    method: 'GET',
    query: { q: query, count: String(limit), text_decorations: 'false' },
  }),
  hits: ({ web }) =>
    objectsIn(isJsonObject(web) ? web['results'] : []).map((item) =>
      toHit(item, { snippet: item['description'], date: item['page_age'] ?? item['age'] }),
    ),
}
