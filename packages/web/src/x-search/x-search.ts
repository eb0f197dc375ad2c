import { type Clock, HermesError, type JsonObject } from '@hermes/contracts'
import type { WebCall } from '@hermes/contracts/web'
import { askService } from '../vendor/open-service.js'
import { serviceOf } from '../vendor/vendors.js'
import { citationsIn, outputTexts } from '../vendor/xai.js'

/** `x_search` of config.yaml. */
export interface XSearchSettings {
  readonly model: string
  /** `null` leaves it to the model. */
  readonly reasoning_effort: string | null
  readonly timeout_seconds: number
  /** After one that failed and may do better. */
  readonly retries: number
}

/** What is looked for, as xAI takes it. @see https://docs.x.ai/developers/tools/x-search */
export interface XQuery {
  readonly query: string
  readonly allowed_x_handles?: readonly string[]
  readonly excluded_x_handles?: readonly string[]
  /** `YYYY-MM-DD`, as is the next. */
  readonly from_date?: string
  readonly to_date?: string
  readonly enable_image_understanding?: boolean
  readonly enable_video_understanding?: boolean
}

/** What was found. */
export interface XAnswer {
  /** With its citations as links. */
  readonly text: string
  /** Posts and pages that the answer names first, then those that were only looked at. */
  readonly citations: readonly { readonly url: string; readonly title: string; readonly isNamed: boolean }[]
}

/** Looks through posts on X, by xAI. */
export interface XSearch {
  /** Whether there is a key or a login for it. */
  isConfigured(): boolean
  /**
   * Rejects with one line: `web.bad_query` before anything is asked, `web.not_configured`, `web.refused`, `web.limited`, `web.no_answer`,
   * `web.failed`.
   */
  search(query: XQuery, call: WebCall): Promise<XAnswer>
}

/** What {@link createXSearch} needs. */
export interface XSearchOptions {
  readonly settings: XSearchSettings
  readonly variables: Readonly<Record<string, string | undefined>>
  readonly fetchTo: (address: string) => typeof globalThis.fetch
  /** A token of who signed in at xAI, which counts before a key; `null` where nobody has. */
  readonly login: { isThere(): boolean; token(signal: AbortSignal): Promise<string | null> } | null
  readonly clock: Clock
}

const MOST_HANDLES = 10
const FIRST_PAUSE_MS = 1_000

/** Nothing is asked before the first search. */
export function createXSearch(options: XSearchOptions): XSearch {
  const { settings, variables, fetchTo, login, clock } = options
  const vendor = serviceOf('xai')
  const key = () => (variables['XAI_API_KEY'] ?? '').trim()
  const baseUrl = ((variables['XAI_BASE_URL'] ?? '').trim() || vendor.baseUrl).replace(/\/+$/, '')
  const secret = async (signal: AbortSignal) => {
    const found = (await login?.token(signal)) ?? key()
    if (found !== '') return found
    throw new HermesError(
      'x_search needs XAI_API_KEY in .env, or a login: hermes auth add xai-oauth. Neither is usable now.',
      { code: 'web.not_configured' },
    )
  }
  return {
    isConfigured: () => login?.isThere() === true || key() !== '',
    async search(query, call) {
      const body = bodyOf(normalised(query, clock.now()), settings)
      const connection = { vendor, baseUrl, fetch: fetchTo(baseUrl), timeoutMs: settings.timeout_seconds * 1_000 }
      for (let tries = 0; ; tries++) {
        try {
          const keyed = { ...connection, key: await secret(call.signal) }
          return answerOf(await askService(keyed, { path: '/responses', body }, call))
        } catch (error) {
          call.signal.throwIfAborted()
          const mayDoBetter = HermesError.isInstance(error) && error.retryable
          if (!mayDoBetter || tries >= settings.retries) throw error
          await clock.sleep(FIRST_PAUSE_MS * 2 ** tries, call.signal)
        }
      }
    },
  }
}

/** Handles without their sign and dates that are some. @throws HermesError `web.bad_query` for what would be refused anyway. */
function normalised(query: XQuery, nowMs: number): XQuery {
  const { allowed_x_handles: allowed, excluded_x_handles: excluded, from_date: from, to_date: to, ...rest } = query
  const [wanted, unwanted] = [handlesIn(allowed), handlesIn(excluded)]
  if (wanted.length > 0 && unwanted.length > 0)
    throw bad('allowed_x_handles and excluded_x_handles exclude each other; use one of them')
  for (const date of [from, to])
    if (date !== undefined && !isDate(date)) throw bad(`${date} is no date like 2026-01-31`)
  if (from !== undefined && to !== undefined && from > to) throw bad('from_date is after to_date')
  if (from !== undefined && Date.parse(from) > nowMs) throw bad('from_date has not come yet')
  return {
    ...rest,
    ...(wanted.length > 0 ? { allowed_x_handles: wanted } : {}),
    ...(unwanted.length > 0 ? { excluded_x_handles: unwanted } : {}),
    ...(from === undefined ? {} : { from_date: from }),
    ...(to === undefined ? {} : { to_date: to }),
  }
}

function handlesIn(written: readonly string[] = []): readonly string[] {
  const handles = [...new Set(written.map((handle) => handle.trim().replace(/^@/, '')))].filter((one) => one !== '')
  const odd = handles.find((handle) => !/^\w{1,15}$/.test(handle))
  if (odd !== undefined) throw bad(`${odd} is no handle of X`)
  if (handles.length > MOST_HANDLES) throw bad(`xAI takes ${MOST_HANDLES} handles at most`)
  return handles
}

const isDate = (text: string) => /^\d{4}-\d{2}-\d{2}$/.test(text) && new Date(text).toJSON()?.startsWith(text) === true

const bad = (reason: string) => new HermesError(`The search on X was not made: ${reason}.`, { code: 'web.bad_query' })

function bodyOf({ query, ...filters }: XQuery, { model, reasoning_effort: effort }: XSearchSettings): JsonObject {
  return {
    model,
    store: false,
    input: [{ role: 'user', content: query }],
    tools: [{ type: 'x_search', ...filters } as unknown as JsonObject],
    ...(effort === null ? {} : { reasoning: { effort } }),
  }
}

/** @throws HermesError `web.failed` for an answer without words. */
function answerOf(answer: JsonObject): XAnswer {
  const text = outputTexts(answer)
    .map((part) => String(part['text'] ?? ''))
    .join('\n')
    .trim()
  if (text === '') throw new HermesError('xAI answered without a word.', { code: 'web.failed', retryable: true })
  const { citations: seen } = answer
  const found = new Map<string, XAnswer['citations'][number]>()
  for (const { url, title } of citationsIn(answer))
    if (!found.has(url)) found.set(url, { url, title: /^\d*$/.test(title) ? '' : title, isNamed: true })
  for (const url of Array.isArray(seen) ? seen : [])
    if (typeof url === 'string' && !found.has(url)) found.set(url, { url, title: '', isNamed: false })
  return { text, citations: [...found.values()] }
}
