import { braveSearch } from './brave.js'
import { exaSearch } from './exa.js'
import { firecrawlSearch } from './firecrawl.js'
import { keenableSearch } from './keenable.js'
import { parallelSearch } from './parallel.js'
import { perplexitySearch } from './perplexity.js'
import type { SearchVendor } from './search-vendor.js'
import { searxngSearch } from './searxng.js'
import { tavilySearch } from './tavily.js'
import { xaiSearch } from './xai.js'

/** The services that search, in the order in which they are asked. */
export const SEARCHES: Readonly<Record<string, SearchVendor>> = Object.freeze({
  firecrawl: firecrawlSearch,
  parallel: parallelSearch,
  tavily: tavilySearch,
  exa: exaSearch,
  perplexity: perplexitySearch,
  brave: braveSearch,
  keenable: keenableSearch,
  nous: firecrawlSearch,
  searxng: searxngSearch,
  xai: xaiSearch,
})
