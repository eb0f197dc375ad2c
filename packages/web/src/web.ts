import { type Clock, errorLine, HermesError } from '@hermes/contracts'
import type { ExtractedPage, ExtractProvider, SearchHit, SearchProvider, WebCall } from '@hermes/contracts/web'
import { checkUrl } from '@hermes/safety'
import { createAnswers } from './cache/answers.js'
import { type Candidate, type Choice, chooseExtract, chooseSearch } from './choose.js'
import { createExtract } from './extract/extract-vendor.js'
import { EXTRACTS } from './extract/extract-vendors.js'
import { createPageThread } from './page/page-thread.js'
import { createPageReader, type PageReaderOptions } from './page/read-page.js'
import { createSearch } from './search/search-vendor.js'
import { SEARCHES } from './search/search-vendors.js'
import type { WebSettings } from './settings.js'
import type { Connection } from './vendor/open-service.js'
import { serviceOf } from './vendor/vendors.js'
import { createXSearch, type XSearch, type XSearchOptions } from './x-search/x-search.js'

/** What the web needs of a home. */
export interface WebOptions extends Pick<PageReaderOptions, 'pdfText' | 'render'> {
  readonly settings: WebSettings
  /** `.env` and the environment, for keys and addresses. */
  readonly variables: Readonly<Record<string, string | undefined>>
  /** A `fetch` to the origin of an address and nowhere else. */
  readonly fetchTo: (address: string) => typeof globalThis.fetch
  /** Gets what an address leads to; asked for with the first page. */
  readonly fetchPage: PageReaderOptions['fetch']
  /** What extensions search and read with, by name. Default: nothing. */
  readonly own?: () => OwnProviders
  /** Whether the policy lets anything be fetched at all. Default: yes. */
  readonly mayFetch?: () => Promise<boolean>
  /** `x_search` of config.yaml, and who signed in at xAI. */
  readonly xSearch: Pick<XSearchOptions, 'settings' | 'login'>
  readonly clock: Clock
  /** For one request to a service. Default 30,000. */
  readonly timeoutMs?: number
}

/** Providers of extensions. */
export interface OwnProviders {
  readonly search: Readonly<Record<string, () => SearchProvider>>
  readonly extract: Readonly<Record<string, () => ExtractProvider>>
}

/** What a search came to. */
export interface SearchAnswer {
  readonly hits: readonly SearchHit[]
  /** Name of the service. */
  readonly servedBy: string
  /** It was asked without a key, and nobody chose it. */
  readonly isAnonymous: boolean
  /** Results that the service gives at most; `null` where that is as many as may be asked for, or not known. */
  readonly most: number | null
}

/** A page, and who read it. */
export interface ReadPage extends ExtractedPage {
  readonly servedBy: string
}

/** Search and pages for a home. */
export interface Web {
  /** Rejects with one line on what every service that was asked said: `web.not_configured`, `web.failed`. */
  search(query: string, options: WebCall & { readonly limit: number }): Promise<SearchAnswer>
  /** The same for a page, with `policy.denied` where it may not be read. */
  extract(url: string, call: WebCall): Promise<ReadPage>
  /** Posts on X. */
  readonly x: XSearch
  /** Characters of a page that are shown unless more or less is asked for. */
  readonly charLimit: number
  /** Who would search and who would read, in order, or what is missing. */
  choice(): { readonly search: Choice; readonly extract: Choice }
  /** Whether anything may be fetched at all. */
  mayFetch(): Promise<boolean>
  /** Never rejects. */
  close(): Promise<void>
}

/** Results are asked for in such numbers, so that equal searches are one. */
const SIZES = [10, 20, 50, 100]
const MOST_RESULTS = 100
/** A service that failed is asked last for so long. */
const COOLDOWN_MS = 60_000

/** Search and pages. Nothing is loaded or asked before the first call. */
export function createWeb(options: WebOptions): Web {
  return new HomeWeb(options)
}

class HomeWeb implements Web {
  readonly charLimit: number
  readonly x: XSearch
  readonly #options: WebOptions
  readonly #thread = createPageThread()
  readonly #local: ExtractProvider
  readonly #searches
  readonly #pages
  readonly #restingUntilMs = new Map<string, number>()

  constructor(options: WebOptions) {
    const { settings, variables, clock, fetchTo, fetchPage: fetch, pdfText, render } = options
    this.#options = options
    this.x = createXSearch({ ...options.xSearch, variables, fetchTo, clock })
    this.charLimit = settings.extract_char_limit
    this.#local = createPageReader({ fetch, thread: this.#thread, pdfText, render })
    const kept = {
      keptMs: settings.cache_enabled ? settings.cache_ttl_minutes * 60_000 : 0,
      exemptHosts: settings.cache_exempt_hosts,
      clock,
    }
    this.#searches = createAnswers<SearchAnswer>(kept)
    this.#pages = createAnswers<ReadPage>(kept)
  }

  choice(): ReturnType<Web['choice']> {
    const { settings, variables } = this.#options
    const own = this.#own()
    return {
      search: chooseSearch({ settings, variables, names: Object.keys(SEARCHES), own: Object.keys(own.search) }),
      extract: chooseExtract({ settings, variables, names: Object.keys(EXTRACTS), own: Object.keys(own.extract) }),
    }
  }

  async mayFetch(): Promise<boolean> {
    return (await this.#options.mayFetch?.()) ?? true
  }

  async search(query: string, { limit, ...call }: Parameters<Web['search']>[1]): Promise<SearchAnswer> {
    const size = SIZES.find((one) => one >= limit) ?? limit
    const answer = await this.#searches.get(`${size} ${query}`, call, (shared) => this.#search(query, size, shared))
    return { ...answer, hits: answer.hits.slice(0, limit) }
  }

  #search(query: string, limit: number, call: WebCall): Promise<SearchAnswer> {
    const choice = this.choice().search
    return this.#inTurn(choice, call, async (candidate) => {
      const provider =
        candidate === null
          ? this.#own().search[choice.own!]!()
          : createSearch(candidate.name, SEARCHES[candidate.name]!, this.#connect(candidate))
      const hits = await provider.search(query, { ...call, limit })
      const most = candidate === null ? null : SEARCHES[candidate.name]!.most
      const isAnonymous = candidate?.key === null && !choice.isExplicit
      return { hits, servedBy: provider.name, isAnonymous, most: most === null || most >= MOST_RESULTS ? null : most }
    })
  }

  extract(url: string, call: WebCall): Promise<ReadPage> {
    return this.#pages.get(url.replace(/#.*$/s, ''), call, (shared) => this.#extract(url, shared))
  }

  async #extract(url: string, call: WebCall): Promise<ReadPage> {
    const choice = this.choice().extract
    // No service outside is told of addresses inside.
    const isPublic = checkUrl(url).ok
    if (choice.isExplicit && isPublic) return this.#extractBy(choice, url, call)
    try {
      return { ...(await this.#local.extract(url, call)), servedBy: this.#local.name }
    } catch (error) {
      call.signal.throwIfAborted()
      const isFinal = !HermesError.isInstance(error) || /^policy\.|^web\.unreadable$/.test(error.code)
      if (isFinal || !isPublic || choice.candidates.length === 0) throw error
      return this.#extractBy(choice, url, call, errorLine(error))
    }
  }

  #extractBy(choice: Choice, url: string, call: WebCall, before?: string): Promise<ReadPage> {
    const leave = (to: string) => call.permit({ type: 'fetch', url: to, method: 'GET' })
    return this.#inTurn(
      choice,
      call,
      async (candidate) => {
        await leave(url)
        const provider =
          candidate === null
            ? this.#own().extract[choice.own!]!()
            : createExtract(candidate.name, EXTRACTS[candidate.name]!, this.#connect(candidate))
        const page = await provider.extract(url, call)
        // Where it was led to counts as well.
        if (page.url !== url && URL.canParse(page.url)) await leave(page.url)
        return { ...page, servedBy: provider.name }
      },
      before,
    )
  }

  /** The first answer; `before` is what failed already. */
  async #inTurn<Value>(
    { candidates, own, isExplicit, problem }: Choice,
    { signal }: WebCall,
    ask: (candidate: Candidate | null) => Promise<Value>,
    before?: string,
  ): Promise<Value> {
    if (problem !== null) throw new HermesError(problem, { code: 'web.not_configured' })
    if (own !== undefined) return ask(null)
    const failures = before === undefined ? [] : [before]
    const isResting = ({ name }: Candidate) => (this.#restingUntilMs.get(name) ?? 0) > this.#options.clock.now()
    const rested = candidates.filter((candidate) => !isResting(candidate))
    for (const candidate of [...rested, ...candidates.filter(isResting)]) {
      try {
        return await ask(candidate)
      } catch (error) {
        signal.throwIfAborted()
        if (!HermesError.isInstance(error) || error.code.startsWith('policy.')) throw error
        failures.push(errorLine(error))
        if (error.code !== 'web.unreadable')
          this.#restingUntilMs.set(candidate.name, this.#options.clock.now() + COOLDOWN_MS)
      }
    }
    const strict = isExplicit ? ' It is chosen in config.yaml, so no other service was asked.' : ''
    throw new HermesError(`${failures.join(' ')}${strict}`, { code: 'web.failed' })
  }

  #own(): OwnProviders {
    return this.#options.own?.() ?? { search: {}, extract: {} }
  }

  #connect({ name, key, baseUrl }: Candidate): Connection {
    const { fetchTo, timeoutMs } = this.#options
    const waits = timeoutMs === undefined ? {} : { timeoutMs }
    return { vendor: serviceOf(name), baseUrl, key, fetch: fetchTo(baseUrl), ...waits }
  }

  close(): Promise<void> {
    return this.#thread.close()
  }
}
