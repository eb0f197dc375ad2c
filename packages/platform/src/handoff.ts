// One session goes on in another place: the chat's row names it from then on, and the other side says so.
import { randomUUID } from 'node:crypto'
import { HermesError } from '@hermes/contracts'
import type { NewOutboxMessage, SessionInfo } from '@hermes/contracts/store'
import { type Chat, chatChange, renewedChat, type SmallFacts, storedChats, targetOf } from './chat-store.js'
import { HOME_CHAT } from './chat-target.js'
import type { Outgoing } from './outbox-sender.js'

const TITLE_CHARS = 80

/** What moving a session takes. */
interface HandoffOptions {
  /** Platforms that a gateway of the home speaks on. */
  readonly platforms: readonly string[]
  readonly meta: SmallFacts
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
  const next = {
    ...{ ...chat, sessionId, generation: generation + 1, isOpen: false, begun: 0 },
    ...({ heardAtMs: nowMs(), keepsFolder: true } as const),
  }
  const name = nameOf(session)
  const words = `${name} goes on here; it comes from ${placeOf(from)}. Write to go on with it; /handoff gives it back.`
  const left = former.map((one) => leave(one, one.platform === from ? null : `${name} goes on in ${platform}.`))
  await move(options, [{ change: chatChange(chat, next), send: [message(chat, words)] }, ...left])
  return `It goes on in the home channel of ${platform}; its next message there is answered by a gateway that runs. ${backWith(sessionId)}`
}

/**
 * A session of the same person goes on in a chat that was opened before; where it was in another chat, that one begins anew. Resolves with what
 * to say in the chat.
 */
export async function continueHere(
  { meta, sessions, nowMs }: Omit<HandoffOptions, 'platforms'>,
  chatKey: string,
  sessionId: string,
): Promise<string> {
  const session = await sessions.get(sessionId)
  const platform = chatKey.split(':')[2]!
  const all = await storedChats(meta, platform)
  const chat = all.find(({ key }) => key === chatKey)
  // Those of others are as if there were none.
  if (!session || !chat || session.person !== chat.person) return `You have no session ${sessionId}.`
  if (chat.sessionId === sessionId) return 'That session goes on here already.'
  const former = all.filter((one) => one.sessionId === sessionId)
  if (chat.isOpen || former.some(({ isOpen }) => isOpen)) return 'A message is being answered. Try again when it is.'
  const { generation } = chat
  const next = {
    ...chat,
    sessionId,
    generation: generation + 1,
    begun: 0,
    heardAtMs: nowMs(),
    keepsFolder: true,
  } as const
  const name = nameOf(session)
  const line = `${name} goes on in another topic. Here a new conversation begins.`
  await move({ platforms: [], meta, sessions, nowMs }, [
    { change: chatChange(chat, next), send: [] },
    ...former.map((one) => leave(one, line)),
  ])
  return `${name} goes on here.`
}

/**
 * The session leaves the chats that it is in, which begin anew. Resolves with what to say where that was asked.
 * @throws HermesError `platform.no_handoff` where it is in none.
 */
export async function takeBack(options: HandoffOptions, { sessionId, from }: Moving): Promise<string> {
  const session = await options.sessions.get(sessionId)
  const former = await chatsIn(options, sessionId)
  if (former.length === 0 || !session) throw refused(`It is in no chat. ${offered(options)}`)
  const line = `${nameOf(session)} goes on in ${placeOf(from)}. Here a new conversation begins.`
  await move(
    options,
    former.map((chat) => leave(chat, chat.platform === from ? null : line)),
  )
  const isOnChat = former.some(({ platform }) => platform === from)
  return isOnChat
    ? `Here a new conversation begins. ${backWith(sessionId)}`
    : 'It goes on here alone; its chat was told.'
}

async function chatsIn({ platforms, meta }: HandoffOptions, sessionId: string): Promise<readonly Chat[]> {
  const all = await Promise.all(platforms.map((platform) => storedChats(meta, platform)))
  return all.flat().filter((chat) => chat.sessionId === sessionId)
}

/** What becomes of a chat, and what it is told of that. */
interface Step {
  readonly change: ReturnType<typeof chatChange>
  readonly send: readonly NewOutboxMessage[]
}

/** All chats at once: a session is in one of them whenever the process ends, and each was told. */
async function move({ meta }: HandoffOptions, steps: readonly Step[]): Promise<void> {
  const changes = steps.map(({ change }) => change)
  const isMoved = await meta.swap(changes, { send: steps.flatMap(({ send }) => send) })
  if (!isMoved) throw refused('Something was said in one of these chats just now. Try again.')
}

function leave(chat: Chat, line: string | null): Step {
  const { heardAtMs: _, ...renewed } = renewedChat(chat)
  const change = chatChange(chat, { ...renewed, isOpen: false, begun: 0 })
  return { change, send: line === null ? [] : [message(chat, line)] }
}

function message(chat: Chat, line: string): NewOutboxMessage {
  const body: Outgoing = { text: line, markup: 'plain' }
  const { platform } = chat
  return { key: `handoff:${randomUUID()}`, platform, target: targetOf(chat), body: { ...body } as never }
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
