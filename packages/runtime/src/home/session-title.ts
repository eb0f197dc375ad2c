import { type Entry, messageText, userText } from '@hermes/contracts/conversation'
import type { ModelClient } from '@hermes/contracts/model'
import { askModel } from '@hermes/models'
import type { Storage } from '@hermes/storage'

/** What naming a session takes. */
interface TitleOptions {
  readonly storage: Pick<Storage, 'sessions' | 'log'>
  readonly sessionId: string
  /** Opened only when a title is wanted. */
  readonly client: () => Promise<ModelClient>
  /** Default: that of the conversation. */
  readonly language: string | undefined
  readonly maxTokens: number | undefined
  readonly signal: AbortSignal
}

const MAX_EXCERPT_CHARS = 600
const MAX_TITLE_CHARS = 80
const DEFAULT_MAX_TOKENS = 400

/**
 * Gives a session that has none a title of a few words from its first exchange. Resolves with it, or with `null` when it has one
 * already, when there is no exchange yet, or when the model said nothing fit. Rejects as the model or the store does.
 */
export async function nameSession(options: TitleOptions): Promise<string | null> {
  const { storage, sessionId, client, language, maxTokens = DEFAULT_MAX_TOKENS, signal } = options
  const isNamed = async () => ((await storage.sessions.get(sessionId))?.title ?? null) !== null
  if (await isNamed()) return null
  const exchange = firstExchange(await storage.log.entries(sessionId))
  if (!exchange) return null
  const messages = [{ role: 'system', content: [{ type: 'text', text: task(language) }] }, userText(exchange)] as const
  const request = { messages, tools: [], maxOutputTokens: maxTokens }
  const { message } = await askModel(await client(), request, { purpose: 'title', sessionId, signal })
  const title = toTitle(messageText(message))
  // A person may have named it meanwhile.
  if (title === null || (await isNamed())) return null
  const free = await storage.sessions.nextTitle(title)
  await storage.sessions.update(sessionId, { title: free })
  return free
}

function task(language: string | undefined): string {
  const tongue = language ? `in ${language}` : 'in the language of the conversation'
  return `Name the conversation below in three to seven words, ${tongue}, so that it is found again in a list. Answer with the name alone: no quotes, no full stop.`
}

/** What was asked first and what came of it. */
function firstExchange(entries: readonly Entry[]): string | null {
  const textOf = (role: 'user' | 'assistant') =>
    entries.flatMap((entry) =>
      entry.type === 'message' && entry.message.role === role ? [messageText(entry.message)] : [],
    )
  const requested = textOf('user').find((text) => text.trim() !== '')
  const answered = textOf('assistant').findLast((text) => text.trim() !== '')
  if (requested === undefined || answered === undefined) return null
  return `Person: ${requested.slice(0, MAX_EXCERPT_CHARS)}\n\nAssistant: ${answered.slice(0, MAX_EXCERPT_CHARS)}`
}

/** Quotes, marks and full stops that models like to put around a name. */
const AROUND = /^["'«»“”„*#`\s]+|["'«»“”„*`\s.]+$/g

/** The first line without what does not belong to a name; `null` when nothing is left. */
function toTitle(text: string): string | null {
  const line = (text.trim().split('\n')[0] ?? '').replace(AROUND, '')
  const bare = line
    .replace(/^(?:title|name)\s*:/i, '')
    .replace(AROUND, '')
    .replace(/\s+/g, ' ')
  return bare === '' ? null : [...bare].slice(0, MAX_TITLE_CHARS).join('').trim()
}
