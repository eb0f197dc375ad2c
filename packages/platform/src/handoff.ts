// One session goes on in another place: the chat's row names it from then on, and the other side says so.
import { randomUUID } from 'node:crypto'
import { HermesError } from '@hermes/contracts'
import type { OutboxWriter, SessionInfo } from '@hermes/contracts/store'
import { type Chat, renewedChat, type SmallFacts, storeChat, storedChats, targetOf } from './chat-store.js'
import { HOME_CHAT } from './chat-target.js'
import type { Outgoing } from './outbox-sender.js'

const TITLE_CHARS = 80

/** What moving a session takes. */
interface HandoffOptions {
  /** Platforms that a gateway of the home speaks on. */
  readonly platforms: readonly string[]
  readonly meta: SmallFacts
  readonly outbox: OutboxWriter
  readonly sessions: { get(id: string): Promise<SessionInfo | null> }
  readonly nowMs: () => number
}

/** A session, and where it was when somebody moves it. */
interface Moving {
  readonly sessionId: string
  /** As commands name it: `cli`, `telegram` … */
  readonly from: string
}

/**
 * The session goes on in the home channel of a platform; where it was in another chat, that chat begins anew. Resolves with what to say where it was.
 * @throws HermesError `platform.no_handoff` where it cannot.
 */
export async function handOff(options: HandoffOptions, platform: string, { sessionId, from }: Moving): Promise<string> {
  const { platforms, meta, sessions, nowMs } = options
  if (!platforms.includes(platform)) throw refused(`No gateway of this home speaks on ${platform}. ${offered(options)}`)
  const session = await sessions.get(sessionId)
  if (!session) throw refused('There is nothing to hand over yet; say something first.')
  const home = await meta.get(HOME_CHAT + platform)
  if (home === null) throw refused(`${platform} has no home channel: type /sethome in the chat that it should go to.`)
  const chat = (await storedChats(meta, platform)).find(
    (one) => targetOf(one) === home && one.person === session.person,
  )
  if (!chat) throw refused(`The home channel of ${platform} is not a chat of your own: type /sethome in one.`)
  if (chat.sessionId === sessionId) throw refused(`It is in the home channel of ${platform} already.`)
  if (chat.isOpen)
    throw refused(`In the home channel of ${platform} a message is being answered. Try again when it is.`)
  const former = await chatsIn(options, sessionId)
  const { generation } = chat
  // Of a pause that was before it nothing is to begin anew.
  await storeChat(meta, {
    ...{ ...chat, sessionId, generation: generation + 1, isOpen: false, begun: 0 },
    ...{ heardAtMs: nowMs(), keepsFolder: true },
  })
  const name = nameOf(session)
  for (const one of former) await leave(options, one, one.platform === from ? null : `${name} goes on in ${platform}.`)
  await notify(
    options,
    chat,
    `${name} goes on here; it comes from ${placeOf(from)}. Write to go on with it; /handoff gives it back.`,
  )
  return `It goes on in the home channel of ${platform}; its next message there is answered by a gateway that runs. ${backWith(sessionId)}`
}

/**
 * The session leaves the chats that it is in, which begin anew. Resolves with what to say where that was asked.
 * @throws HermesError `platform.no_handoff` where it is in none.
 */
export async function takeBack(options: HandoffOptions, { sessionId, from }: Moving): Promise<string> {
  const session = await options.sessions.get(sessionId)
  const former = await chatsIn(options, sessionId)
  if (former.length === 0 || !session) throw refused(`It is in no chat. ${offered(options)}`)
  for (const chat of former) {
    const isHere = chat.platform === from
    await leave(
      options,
      chat,
      isHere ? null : `${nameOf(session)} goes on in ${placeOf(from)}. Here a new conversation begins.`,
    )
  }
  const isOnChat = former.some(({ platform }) => platform === from)
  return isOnChat
    ? `Here a new conversation begins. ${backWith(sessionId)}`
    : 'It goes on here alone; its chat was told.'
}

async function chatsIn({ platforms, meta }: HandoffOptions, sessionId: string): Promise<readonly Chat[]> {
  const all = await Promise.all(platforms.map((platform) => storedChats(meta, platform)))
  return all.flat().filter((chat) => chat.sessionId === sessionId)
}

async function leave(options: HandoffOptions, chat: Chat, line: string | null): Promise<void> {
  const { heardAtMs: _, ...renewed } = renewedChat(chat)
  await storeChat(options.meta, { ...renewed, isOpen: false, begun: 0 })
  if (line !== null) await notify(options, chat, line)
}

async function notify({ outbox }: HandoffOptions, chat: Chat, line: string): Promise<void> {
  const body: Outgoing = { text: line, markup: 'plain' }
  const { platform } = chat
  await outbox.add([{ key: `handoff:${randomUUID()}`, platform, target: targetOf(chat), body: { ...body } as never }])
}

function nameOf({ title, preview }: SessionInfo): string {
  const name = (title ?? preview).replaceAll(/\s+/g, ' ').trim()
  return name === '' ? 'A conversation' : `“${name.slice(0, TITLE_CHARS).toWellFormed()}”`
}

function placeOf(from: string): string {
  return from === 'cli' ? 'the terminal' : from === 'acp' ? 'the editor' : from
}

function backWith(sessionId: string): string {
  return `In a terminal: hermes --resume ${sessionId}`
}

function offered({ platforms }: HandoffOptions): string {
  return platforms.length === 0
    ? 'No chat platform is set up: hermes gateway setup'
    : `Write ${platforms.map((name) => `/handoff ${name}`).join(' or ')}.`
}

function refused(message: string): HermesError {
  return new HermesError(message, { code: 'platform.no_handoff' })
}
