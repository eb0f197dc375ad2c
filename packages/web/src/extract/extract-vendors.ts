import { exaExtract } from './exa.js'
import type { ExtractVendor } from './extract-vendor.js'
import { firecrawlExtract } from './firecrawl.js'
import { keenableExtract } from './keenable.js'
import { parallelExtract } from './parallel.js'
import { tavilyExtract } from './tavily.js'

/** The services that read pages, in the order in which they are asked. */
export const EXTRACTS: Readonly<Record<string, ExtractVendor>> = Object.freeze({
  firecrawl: firecrawlExtract,
  parallel: parallelExtract,
  tavily: tavilyExtract,
  exa: exaExtract,
  keenable: keenableExtract,
  nous: firecrawlExtract,
})
