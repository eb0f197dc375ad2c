import { isJsonObject } from '@hermes/contracts'
import { type ExtractVendor, textIn } from '../extract/extract-vendor.js'
import { objectsIn, type SearchVendor, toHit } from '../search/search-vendor.js'

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

export const firecrawlExtract: ExtractVendor = {
  request: (url) => ({ path: '/v2/scrape', body: { url, formats: ['markdown'] } }),
  page: ({ data }, url) => {
    if (!isJsonObject(data)) return 'it answers no page'
    const { metadata } = data
    const about = isJsonObject(metadata) ? metadata : {}
    const { statusCode: status } = about
    if (typeof status === 'number' && status >= 400) return `the page answers ${status}`
    return {
      url: textIn(about['url']) || textIn(about['sourceURL']) || url,
      title: textIn([about['title']].flat()[0]),
      text: textIn(data['markdown']),
    }
  },
}
