import { isJsonObject } from '@hermes/contracts'
import { type ExtractVendor, textIn } from './extract-vendor.js'

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
