import { objectsIn } from '../search/search-vendor.js'
import { type ExtractVendor, textIn } from './extract-vendor.js'

export const tavilyExtract: ExtractVendor = {
  request: (url) => ({ path: '/extract', body: { urls: [url], format: 'markdown' } }),
  page: ({ results, failed_results: failed }, url) => {
    const [page] = objectsIn(results)
    if (!page) return textIn(objectsIn(failed)[0]?.['error']) || 'it answers no page'
    return { url: textIn(page['url']) || url, title: textIn(page['title']), text: textIn(page['raw_content']) }
  },
}
