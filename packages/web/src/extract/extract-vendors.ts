import { exaExtract } from '../vendor/exa.js'
import { firecrawlExtract } from '../vendor/firecrawl.js'
import { keenableExtract } from '../vendor/keenable.js'
import { parallelExtract } from '../vendor/parallel.js'
import { tavilyExtract } from '../vendor/tavily.js'
import type { ExtractVendor } from './extract-vendor.js'

/** The services that read pages, in the order in which they are asked. */
export const EXTRACTS: Readonly<Record<string, ExtractVendor>> = Object.freeze({
  firecrawl: firecrawlExtract,
  parallel: parallelExtract,
  tavily: tavilyExtract,
  exa: exaExtract,
  keenable: keenableExtract,
  nous: firecrawlExtract,
})
