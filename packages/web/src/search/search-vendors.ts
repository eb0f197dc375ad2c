import { braveSearch } from '../vendor/brave.js'
import { exaSearch } from '../vendor/exa.js'
import { firecrawlSearch } from '../vendor/firecrawl.js'
import { keenableSearch } from '../vendor/keenable.js'
import { parallelSearch } from '../vendor/parallel.js'
import { perplexitySearch } from '../vendor/perplexity.js'
import { searxngSearch } from '../vendor/searxng.js'
import { tavilySearch } from '../vendor/tavily.js'
import { xaiSearch } from '../vendor/xai.js'
import type { SearchVendor } from './search-vendor.js'

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
