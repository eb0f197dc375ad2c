import type { ReferenceOptions } from '@hermes/agent-core'
import { HermesError } from '@hermes/contracts'
import { type Entry, messageText, project } from '@hermes/contracts/conversation'
import type { EvaluationSettings, Proxies } from '@hermes/safety'
import type { IsolationSupport } from '@hermes/sandbox'
import type { Storage } from '@hermes/storage'

const MAX_SESSION_CHARS = 60_000

/** What references of a home reach. */
interface ReferenceSources {
  readonly windowTokens: NonNullable<ReferenceOptions['windowTokens']>
  readonly storage: () => Promise<Storage>
  readonly proxies: Proxies | null
  readonly network: NonNullable<EvaluationSettings['network']>
}

/** Pages and sessions for the references of a person's message; nothing is loaded before there is one. */
export function referenceOptions({ windowTokens, storage, proxies, network }: ReferenceSources): ReferenceOptions {
  return {
    windowTokens,
    readPage: async (url, { permit, signal }) => {
      const { createPublicFetch } = await import('@hermes/safety/public-fetch')
      const response = await createPublicFetch({ proxies, network })(url, { permit, signal })
      if (response.status < 200 || response.status > 299) throw refused(`the server answered ${response.status}`)
      return pageText(response)
    },
    readSession: async (name, { session }) => readSession(await storage(), name, session.id),
  }
}

/** The text of a PDF or an Office file that a reference names. */
export function documentText(isolationSupport: IsolationSupport): NonNullable<ReferenceOptions['readDocument']> {
  return async ({ real, stat }, { environment, session, signal }) => {
    if (!environment) return null
    const { defaultToolSettings, openDocument } = await import('@hermes/tools')
    const settings = { documentLimits: defaultToolSettings.documentLimits, isolationSupport }
    const document = await openDocument({ environment, signal, state: session.state }, { real, stat, settings })
    if (document?.type === 'oversized')
      throw refused(`it is a ${document.what} that takes more than ${document.limit} to read`)
    return document?.text ?? null
  }
}

async function pageText(response: {
  readonly mediaType: string
  readonly body: Uint8Array
  readonly isCut: boolean
}): Promise<string> {
  const { mediaType, body, isCut } = response
  const isText = /^text\/|[/+](?:json|xml|javascript|x?html)$/.test(mediaType) || mediaType === ''
  if (!isText || body.includes(0)) throw refused(`it is no text but ${mediaType || 'binary data'}`)
  const raw = new TextDecoder().decode(body)
  const text = mediaType.includes('html') ? await htmlText(raw) : raw
  return isCut ? `${text}\n[… the page goes on]` : text
}

/** What stands inside each other in a page. Others end where the next one begins, or look like code in a script. */
const NESTED =
  /<(\/?)(?:div|section|article|main|aside|header|footer|nav|table|ul|ol|dl|blockquote|form|fieldset|figure|h[1-6]|pre|center|details|span|font|strong|em|small|label|button|body|html)\b/gi
/** Pages of people stay below a hundred. The parser takes minutes for a page that is nothing but beginnings, and nothing can stop it. */
const MAX_DEPTH = 1_000

function nestsTooDeep(html: string): boolean {
  let depth = 0
  for (const [, closing] of html.matchAll(NESTED)) {
    depth = closing ? Math.max(0, depth - 1) : depth + 1
    if (depth > MAX_DEPTH) return true
  }
  return false
}

async function htmlText(html: string): Promise<string> {
  if (nestsTooDeep(html)) throw refused('its elements stand too deep inside each other')
  const { convert } = await import('html-to-text')
  const skipped = ['img', 'script', 'style', 'nav', 'noscript', 'svg'].map((selector) => ({ selector, format: 'skip' }))
  const link = { selector: 'a', options: { hideLinkHrefIfSameAsText: true, ignoreHref: false } }
  return convert(html, { wordwrap: false, selectors: [...skipped, link] })
}

/** Another one of the same person. */
async function readSession(storage: Storage, name: string, from: string): Promise<string> {
  const { person = null } = (await storage.sessions.get(from)) ?? {}
  const found = await storage.sessions.resolve(name, { person })
  if (found.type === 'none') throw refused('there is no such session')
  if (found.type === 'ambiguous') throw refused('several sessions have this name; give more of the id')
  const entries = await storage.log.entries(found.session.id)
  const title = found.session.title ?? found.session.id
  return `Session ${title}:\n\n${newest(conversationText(entries), MAX_SESSION_CHARS)}`
}

/** What was said in it, without what tools gave. */
function conversationText(entries: readonly Entry[]): string {
  return project(entries)
    .filter(({ role }) => role === 'user' || role === 'assistant')
    .map((message) => ({ role: message.role, text: messageText(message).trim() }))
    .filter(({ text }) => text !== '')
    .map(({ role, text }) => `[${role === 'user' ? 'The person' : 'Hermes'}] ${text}`)
    .join('\n\n')
}

function newest(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  return `[… ${text.length - maxChars} characters before]\n${text.slice(-maxChars).toWellFormed()}`
}

function refused(reason: string): HermesError {
  return new HermesError(reason, { code: 'runtime.reference_refused' })
}
