// Words from one session of a person to another: they wait in its inbox, and two that answer each other come to an end.
import { type Clock, HermesError } from '@hermes/contracts'
import type { Inbox, SessionInfo } from '@hermes/contracts/store'
import { type SmallFacts, storedChats } from './chat-store.js'

/** Small facts begin so that say which conversation of a chat another session wrote to; its session follows. */
export const SESSION_MAIL = 'session.mail:'
const PAIR = 'session.mail.pair:'
/** Between two sessions, both ways, within a window of time. */
const MOST = 6
const WINDOW_MS = 3_600_000

/** Sessions as they are found. @see `StoredSessions` of `@hermes/storage` */
interface FoundSessions {
  get(id: string): Promise<SessionInfo | null>
  resolve(
    text: string,
    filter: { readonly person: string | null },
  ): Promise<{ readonly type: 'found'; readonly session: SessionInfo } | { readonly type: 'ambiguous' | 'none' }>
}

/** Options of {@link sendToSession}. */
interface SessionMailOptions {
  /** Platforms that a gateway of the home speaks on. */
  readonly platforms: readonly string[]
  readonly sessions: FoundSessions
  readonly inbox: Inbox
  readonly meta: SmallFacts
  readonly clock: Clock
}

/** One word from a session to another. */
interface SessionMail {
  /** The same for what is sent again. */
  readonly key: string
  readonly from: string
  /** Id, title, or the beginning of an id. */
  readonly to: string
  readonly text: string
  readonly isExternal: boolean
}

/**
 * Puts words into the inbox of another session of the same person; `wakes`: a gateway that runs has it read them now.
 * @throws HermesError `session.unknown`, also for one of another person; `session.enough` once two have written to each other six times within an hour
 */
export async function sendToSession(
  { platforms, sessions, inbox, meta, clock }: SessionMailOptions,
  { key, from, to, text, isExternal }: SessionMail,
): Promise<{ readonly sessionId: string; readonly wakes: boolean }> {
  const own = await sessions.get(from)
  const found = await sessions.resolve(to.trim(), { person: own?.person ?? null })
  if (found.type !== 'found' || found.session.id === from)
    throw new HermesError(`There is no other session "${to}" of this person. session_search finds their ids.`, {
      code: 'session.unknown',
    })
  const sessionId = found.session.id
  await count(meta, [from, sessionId], clock.now())
  const name = own?.title ? `“${own.title}” (${from})` : from
  const words = `Another session of the same person, ${name}, writes to you. sessions_send answers it, if it asks for that:\n${text}`
  const body = { text: words, ...(isExternal ? { origin: 'external' } : {}) }
  await inbox.send({ key, sessionId, kind: 'session.message', body })
  const chats = (await Promise.all(platforms.map((platform) => storedChats(meta, platform)))).flat()
  const wakes = chats.some((chat) => chat.sessionId === sessionId)
  if (wakes) await meta.set(SESSION_MAIL + sessionId, key)
  return { sessionId, wakes }
}

/** Models that thank each other would go on for ever. Of two processes that count at once one counts again. */
async function count(meta: SmallFacts, pair: readonly string[], nowMs: number): Promise<void> {
  const key = PAIR + [...pair].sort().join(' ')
  for (;;) {
    const was = await meta.get(key)
    const known = was === null ? null : (JSON.parse(was) as { readonly sent: number; readonly sinceMs: number })
    const { sent, sinceMs } = known && nowMs - known.sinceMs < WINDOW_MS ? known : { sent: 0, sinceMs: nowMs }
    if (sent >= MOST)
      throw new HermesError(
        `These two sessions wrote to each other ${MOST} times within the hour, which is enough. Tell the person what is left to be settled.`,
        { code: 'session.enough' },
      )
    if (await meta.swap([{ key, was, is: JSON.stringify({ sent: sent + 1, sinceMs }) }])) return
  }
}
