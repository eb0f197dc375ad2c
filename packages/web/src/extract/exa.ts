import { isJsonObject } from '@hermes/contracts'
import { objectsIn } from '../search/search-vendor.js'
import { type ExtractVendor, textIn } from './extract-vendor.js'

export const exaExtract: ExtractVendor = {
  request: (url) => ({ path: '/contents', body: { urls: [url], text: true } }),
  page: ({ results, statuses }, url) => {
    const [page] = objectsIn(results)
    if (page) return { url: textIn(page['url']) || url, title: textIn(page['title']), text: textIn(page['text']) }
    const error = objectsIn(statuses)[0]?.['error']
    return (isJsonObject(error) && textIn(error['tag'])) || 'it answers no page'
  },
}
