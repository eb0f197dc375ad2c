import { isJsonObject } from '@hermes/contracts'
import { objectsIn, type SearchVendor, toHit } from './search-vendor.js'

/** Of its cloud, of a server of one's own, and of the Nous gateway, which hands requests on. */
export const firecrawlSearch: SearchVendor = {
  most: 100,
  request: (query, limit) => ({ path: '/v2/search', body: { query, limit } }),
  hits: ({ data }) => {
    // Servers of the first version give a list.
    const found = isJsonObject(data) ? data['web'] : data
    return objectsIn(found).map((item) => toHit(item, { snippet: item['description'] }))
  },
}
