import { isJsonObject, type JsonObject, type JsonValue } from '@hermes/contracts'
import type { SearchHit, SearchProvider } from '@hermes/contracts/web'
import { askService, type Connection, type ServiceRequest } from '../vendor/open-service.js'

/** How a service is searched. */
export interface SearchVendor {
  /** Results of one request. */
  readonly most: number
  request(query: string, limit: number, isAnonymous: boolean): ServiceRequest
  /** What it found; throws a line where the answer is no result. */
  hits(answer: JsonObject): readonly SearchHit[]
}

/** A search provider over HTTP. Addresses that are none, and those that came before, are left out. */
export function createSearch(name: string, vendor: SearchVendor, connection: Connection): SearchProvider {
  return {
    name,
    async search(query, { limit, ...call }) {
      const most = Math.min(limit, vendor.most)
      const answer = await askService(connection, vendor.request(query, most, connection.key === null), call)
      const found = new Map<string, SearchHit>()
      for (const hit of vendor.hits(answer)) if (isAddress(hit.url) && !found.has(hit.url)) found.set(hit.url, hit)
      return [...found.values()].slice(0, limit)
    },
  }
}

const isAddress = (url: string) => /^https?:\/\//i.test(url) && URL.canParse(url)

/** The objects of a list in an answer; none where it is no list. */
export function objectsIn(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

/** A hit of what a service calls its parts. Markup in them goes. */
export function toHit(
  item: JsonObject,
  { snippet, date }: { readonly snippet: JsonValue | undefined; readonly date?: JsonValue | undefined },
): SearchHit {
  const written = textOf(date)
  return {
    title: plain(textOf(item['title'])),
    url: textOf(item['url']),
    snippet: plain(Array.isArray(snippet) ? snippet.map(textOf).join(' … ') : textOf(snippet)),
    ...(written === '' ? {} : { date: written }),
  }
}

const textOf = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '')

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'", '#39': "'" }

const plain = (text: string) =>
  text
    .replace(/<\/?(?:strong|em|b|i|mark|span)\b[^<>]*>/gi, '')
    .replace(/&(amp|lt|gt|quot|#x27|#39);/g, (_, name: string) => NAMED[name]!)
    .replace(/\s+/g, ' ')
    .trim()
