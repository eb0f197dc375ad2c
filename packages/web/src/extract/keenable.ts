import { type ExtractVendor, textIn } from './extract-vendor.js'

export const keenableExtract: ExtractVendor = {
  request: (url) => ({ path: '/v1/fetch', method: 'GET', query: { url } }),
  page: (page, url) => ({
    url: textIn(page['url']) || url,
    title: textIn(page['title']),
    text: textIn(page['content']),
  }),
}
