import { objectsIn } from '../search/search-vendor.js'
import { type ExtractVendor, textIn } from './extract-vendor.js'

export const parallelExtract: ExtractVendor = {
  request: (url) => ({ path: '/v1/extract', body: { urls: [url], advanced_settings: { full_content: true } } }),
  page: ({ results, errors }, url) => {
    const [page] = objectsIn(results)
    if (page)
      return { url: textIn(page['url']) || url, title: textIn(page['title']), text: textIn(page['full_content']) }
    const [error] = objectsIn(errors)
    return textIn(error?.['content']) || textIn(error?.['error_type']) || 'it answers no page'
  },
}
