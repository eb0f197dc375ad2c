import type { Action, Permit } from './policy.js'

/** What a request to the web needs of whoever wants it. */
export interface WebCall {
  /** Abort rejects with its reason. */
  readonly signal: AbortSignal
  /** Leave for one request; see `ToolContext.permit`. `mayAsk: false` rejects where a person would be asked. */
  permit(action: Action, options?: { readonly mayAsk?: boolean }): Promise<Permit>
}

/** One result of a search. */
export interface SearchHit {
  readonly title: string
  readonly url: string
  /** What the page says about what was asked for; empty where the service gives nothing. */
  readonly snippet: string
  /** When the page was written, as the service says it. */
  readonly date?: string
}

/** Finds pages. */
export interface SearchProvider {
  /** As `web.search_backend` of config.yaml names it. */
  readonly name: string
  /**
   * Up to `limit` results, 1 to 100, the best first; none when nothing was found, which is an answer. A service gives as many as it can.
   * Rejects with one line that names the service and says what to do.
   */
  search(query: string, options: WebCall & { readonly limit: number }): Promise<readonly SearchHit[]>
}

/** What a page says. */
export interface ExtractedPage {
  /** Where it is, after redirects. */
  readonly url: string
  /** Empty where it has none. */
  readonly title: string
  /** All of it, as Markdown. */
  readonly text: string
  /** What a reader should know of it, in a sentence. */
  readonly note?: string
}

/** Reads pages. */
export interface ExtractProvider {
  /** As `web.extract_backend` of config.yaml names it. */
  readonly name: string
  /**
   * Reads one page, for whose address leave was given. Rejects with one line that says what is wrong, with `web.unreadable` for a page that
   * nobody else could read either.
   */
  extract(url: string, call: WebCall): Promise<ExtractedPage>
}
