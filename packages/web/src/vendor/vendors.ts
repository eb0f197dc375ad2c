/** A service of the web that takes requests over HTTP. */
export interface Vendor {
  /** As people know it. */
  readonly label: string
  readonly baseUrl: string
  /** Variable with another address, such as that of a server of one's own. */
  readonly urlVariable?: string
  /** Variable with its key; `null` for one that takes none. */
  readonly keyVariable: string | null
  /** What each request carries for a key. */
  headers(key: string): Readonly<Record<string, string>>
  /** What each request carries without a key, where the service documents that it may be asked so. */
  readonly anonymous?: Readonly<Record<string, string>>
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
const apiKey = (key: string) => ({ 'x-api-key': key })

/** The services there are, those with a key first in the order in which they are taken. */
const VENDORS = Object.freeze({
  /** @see https://docs.firecrawl.dev/api-reference/v2-introduction and, without a key, https://docs.firecrawl.dev/rate-limits */
  firecrawl: {
    label: 'Firecrawl',
    baseUrl: 'https://api.firecrawl.dev',
    urlVariable: 'FIRECRAWL_API_URL',
    keyVariable: 'FIRECRAWL_API_KEY',
    headers: bearer,
    anonymous: {},
  },
  /** @see https://docs.parallel.ai/api-reference (checked against parallel-web 1.3.3) */
  parallel: {
    label: 'Parallel',
    baseUrl: 'https://api.parallel.ai',
    keyVariable: 'PARALLEL_API_KEY',
    headers: apiKey,
  },
  /** @see https://docs.tavily.com/documentation/api-reference and /keyless (checked against @tavily/core 0.7.13) */
  tavily: {
    label: 'Tavily',
    baseUrl: 'https://api.tavily.com',
    urlVariable: 'TAVILY_BASE_URL',
    keyVariable: 'TAVILY_API_KEY',
    headers: bearer,
    anonymous: { 'x-tavily-access-mode': 'keyless' },
  },
  /** @see https://docs.exa.ai/reference (checked against exa-js 2.23.0) */
  exa: { label: 'Exa', baseUrl: 'https://api.exa.ai', keyVariable: 'EXA_API_KEY', headers: apiKey },
  /** @see https://docs.perplexity.ai/api-reference/search-post (checked against @perplexity-ai/perplexity_ai 0.38.5) */
  perplexity: {
    label: 'Perplexity',
    baseUrl: 'https://api.perplexity.ai',
    keyVariable: 'PERPLEXITY_API_KEY',
    headers: bearer,
  },
  /** @see https://api-dashboard.search.brave.com/app/documentation/web-search */
  brave: {
    label: 'Brave Search',
    baseUrl: 'https://api.search.brave.com',
    keyVariable: 'BRAVE_SEARCH_API_KEY',
    headers: (key: string) => ({ 'x-subscription-token': key }),
  },
  /** @see https://github.com/keenableai/keenable-sdk */
  keenable: {
    label: 'Keenable',
    baseUrl: 'https://api.keenable.ai',
    keyVariable: 'KEENABLE_API_KEY',
    headers: apiKey,
    anonymous: {},
  },
  /** The same requests as those of Firecrawl, paid by a subscription. */
  nous: {
    label: 'The Nous gateway',
    baseUrl: 'https://firecrawl-gateway.nousresearch.com',
    urlVariable: 'FIRECRAWL_GATEWAY_URL',
    keyVariable: 'TOOL_GATEWAY_USER_TOKEN',
    headers: bearer,
  },
  /** A model that searches. Its key is there for its models as well, so that whoever is for searching alone comes first. @see https://docs.x.ai/docs/guides/tools/search-tools */
  xai: {
    label: 'xAI',
    baseUrl: 'https://api.x.ai/v1',
    urlVariable: 'XAI_BASE_URL',
    keyVariable: 'XAI_API_KEY',
    headers: bearer,
  },
  /** A server of one's own. @see https://docs.searxng.org/dev/search_api.html */
  searxng: {
    label: 'SearXNG',
    baseUrl: '',
    urlVariable: 'SEARXNG_URL',
    keyVariable: null,
    headers: () => ({}),
  },
} as const satisfies Readonly<Record<string, Vendor>>)

/** The vendor of that name; there is one. */
export const serviceOf = (name: string): Vendor => VENDORS[name as keyof typeof VENDORS]
