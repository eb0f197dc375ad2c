import { HermesError, type JsonObject } from '@hermes/contracts'
import type { ExtractedPage, ExtractProvider } from '@hermes/contracts/web'
import { askService, type Connection, type ServiceRequest } from '../vendor/open-service.js'

/** How a service reads a page. */
export interface ExtractVendor {
  request(url: string): ServiceRequest
  /** The page, or why there is none. */
  page(answer: JsonObject, url: string): ExtractedPage | string
}

/** A provider of pages over HTTP. */
export function createExtract(name: string, vendor: ExtractVendor, connection: Connection): ExtractProvider {
  return {
    name,
    async extract(url, call) {
      const page = vendor.page(await askService(connection, vendor.request(url), call), url)
      const { label } = connection.vendor
      if (typeof page === 'string')
        throw new HermesError(`${label} could not read ${url}: ${page}.`, { code: 'web.unreadable' })
      if (page.text.trim() === '')
        throw new HermesError(`${label} found no text at ${url}.`, { code: 'web.unreadable' })
      return { ...page, text: withoutInlinePictures(page.text) }
    },
  }
}

/** How far before its address the description of a picture may begin. */
const MAX_DESCRIPTION = 500

/** Pictures that stand in the text itself become their description. */
export function withoutInlinePictures(text: string): string {
  const [first = '', ...rest] = text.split('](data:')
  const pieces = [first]
  for (const piece of rest) {
    const before = pieces.at(-1)!
    const [begin, end] = [before.slice(-MAX_DESCRIPTION).lastIndexOf('!['), piece.indexOf(')')]
    const at = before.length - Math.min(before.length, MAX_DESCRIPTION) + begin
    if (begin === -1 || end === -1) pieces.push(`](data:${piece}`)
    else pieces.splice(-1, 1, before.slice(0, at) + before.slice(at + 2), piece.slice(end + 1))
  }
  return pieces.join('').replace(/data:image\/[\w.+-]+;base64,[\w+/=]{100,}/g, '')
}

/** A text of an answer; empty where it is none. */
export const textIn = (value: unknown): string => (typeof value === 'string' ? value : '')
