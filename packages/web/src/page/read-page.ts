import { HermesError } from '@hermes/contracts'
import type { ExtractedPage, ExtractProvider, WebCall } from '@hermes/contracts/web'
import type { createPublicFetch } from '@hermes/safety/public-fetch'
import { withoutInlinePictures } from '../extract/extract-vendor.js'
import { decodeText } from './decode-text.js'
import type { PageThread } from './page-thread.js'

/** What is needed to read pages without any service. */
export interface PageReaderOptions {
  /** Gets what an address leads to, each hop with leave of its own. */
  readonly fetch: ReturnType<typeof createPublicFetch>
  readonly thread: PageThread
  /** The text of a PDF; `null` for a file that is none. Rejects with a line for one that takes too much. */
  readonly pdfText: (
    bytes: Uint8Array,
    signal: AbortSignal,
  ) => Promise<{ readonly text: string; readonly what: string } | null>
  /** A browser that shows pages whose text is made by scripts, where there is one by now. */
  readonly render?: (() => RenderPage | null) | undefined
}

/** Opens a page in a browser and gives the document it became, once it is quiet. Where it may go is decided there, for each request. */
export type RenderPage = (url: string, call: WebCall) => Promise<{ readonly url: string; readonly html: string }>

/** A PDF is read up to here; of a page of text less is. */
const MAX_BYTES = 32_000_000
const MAX_TEXT_BYTES = 2_000_000
const TIMEOUT_MS = 30_000

/** Reads pages by itself: with the guarded fetch, without a key and without a service. */
export function createPageReader(options: PageReaderOptions): ExtractProvider {
  return {
    name: 'local',
    async extract(url, call) {
      const response = await options.fetch(url, { ...call, maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS })
      const { status, retryAfter } = response
      if (status < 200 || status > 299) throw refused(url, status, retryAfter)
      return read(response, call, options)
    },
  }
}

type Fetched = Awaited<ReturnType<PageReaderOptions['fetch']>>

async function read(response: Fetched, call: WebCall, options: PageReaderOptions): Promise<ExtractedPage> {
  const { url, mediaType, charset, body } = response
  if (mediaType === 'application/pdf' || startsWith(body, '%PDF-')) return readPdf(response, call, options)
  if (!isText(mediaType) || isBinary(body))
    throw unreadable(`${url} is no page but ${mediaType || 'a file'}; use terminal to download what you need of it`)
  const text = decodeText(body.subarray(0, MAX_TEXT_BYTES), charset)
  const isCut = response.isCut || body.byteLength > MAX_TEXT_BYTES
  const cut = isCut ? { note: `Only the first ${MAX_TEXT_BYTES / 1_000_000} MB of it were read.` } : {}
  if (text.trim() === '') throw unreadable(`${url} has no text`)
  if (!isHtml(mediaType, text)) return { url, title: '', text: text.trim(), ...cut }
  const page = await options.thread.read(text, url, call.signal)
  if (page.needsScripts) return rendered(url, call, options)
  if (page.text === '') throw unreadable(`${url} has no text`)
  return { url, title: page.title, text: withoutInlinePictures(page.text), ...cut }
}

async function readPdf(
  { url, body, isCut }: Fetched,
  { signal }: WebCall,
  options: PageReaderOptions,
): Promise<ExtractedPage> {
  if (isCut) throw unreadable(`${url} is a PDF of more than ${MAX_BYTES / 1_000_000} MB`)
  const found = await options.pdfText(body, signal)
  if (!found) throw unreadable(`${url} is a damaged PDF`)
  const title = decodeURIComponentOr(new URL(url).pathname.split('/').pop() ?? '')
  return { url, title, text: found.text === '' ? `(${found.what})` : found.text, note: `${found.what}.` }
}

async function rendered(url: string, call: WebCall, { render, thread }: PageReaderOptions): Promise<ExtractedPage> {
  const show = render?.()
  if (!show)
    throw new HermesError(`The text of ${url} is made by scripts, and no browser is here to run them.`, {
      code: 'web.needs_browser',
    })
  const shown = await show(url, call).catch((error: unknown) => {
    const isMissing = HermesError.isInstance(error) && error.code === 'browser.not_installed'
    if (!isMissing) throw error
    throw new HermesError(`The text of ${url} is made by scripts. ${error.message}`, { code: 'web.needs_browser' })
  })
  const page = await thread.read(shown.html, shown.url, call.signal)
  if (page.text === '') throw unreadable(`${url} has no text, also once its scripts have run`)
  return { url: shown.url, title: page.title, text: withoutInlinePictures(page.text) }
}

const TEXT =
  /^text\/|[/+](?:json|xml|yaml|javascript|x?html|toml|rtf)\b|^application\/(?:x-(?:sh|tex|yaml)|sql|ecmascript|ld\+json)$/

const isText = (mediaType: string) => mediaType === '' || TEXT.test(mediaType)

const isHtml = (mediaType: string, text: string) =>
  /html/.test(mediaType) || (mediaType === '' && /^\s*<(?:!doctype html|html|head|body)\b/i.test(text))

/** Text in two-byte encodings has zeros too, and begins with their mark. */
const isBinary = (body: Uint8Array) =>
  body.subarray(0, 8_000).includes(0) &&
  !(body[0] === 0xff && body[1] === 0xfe) &&
  !(body[0] === 0xfe && body[1] === 0xff)

const startsWith = (body: Uint8Array, text: string) =>
  Buffer.from(body.subarray(0, text.length)).toString('latin1') === text

function refused(url: string, status: number, retryAfter: string): HermesError {
  const wait = /^\d+$/.test(retryAfter) ? `; it wants ${retryAfter} s of rest` : ''
  const code = status === 404 || status === 410 ? 'web.unreadable' : 'web.failed'
  const why = WHY[status]
  return new HermesError(`${url} answers ${status}${why ? ` (${why})` : ''}${wait}.`, {
    code,
    retryable: status >= 500,
  })
}

const WHY: Readonly<Record<number, string>> = {
  401: 'it wants a login',
  403: 'it lets no program in',
  404: 'there is no such page',
  410: 'the page is gone',
  429: 'it was asked too often',
}

const unreadable = (reason: string) => new HermesError(`${reason}.`, { code: 'web.unreadable' })

function decodeURIComponentOr(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
