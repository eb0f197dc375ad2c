// What an adapter of an extension tells: who may talk, and in which session, is decided by it, so it is looked at before anybody believes it.
import { HermesError } from '@hermes/contracts'
import type { ChatType, Incoming, IncomingAttachment } from '@hermes/contracts/platform'

const MOST_ID_CHARS = 1_000
const CHATS: readonly ChatType[] = ['dm', 'group', 'channel']
const KINDS: readonly IncomingAttachment['kind'][] = ['image', 'audio', 'video', 'file']
const AN_ID = `a text of 1 to ${MOST_ID_CHARS} characters`

/** Whatever it is. */
type Loose = Readonly<Record<string, unknown>>

/** @throws HermesError `platform.bad_event` for what is no event of a platform, in one line for who writes the adapter */
export function requireEvent(event: Incoming, platform: string): void {
  const wrong = wrongWith(loose(event))
  if (wrong === null) return
  const message = `What ${platform} heard was not taken: ${wrong}.`
  throw new HermesError(message, { code: 'platform.bad_event', details: { platform } })
}

function wrongWith(event: Loose): string | null {
  if (!isId(event['id'])) return `its id has to be ${AN_ID}`
  if (event['type'] === 'moved') return wrongIds(event, ['fromChatId', 'toChatId'])
  const [chat, sender] = [loose(event['chat']), loose(event['sender'])]
  if (!isId(event['messageId'])) return `its messageId has to be ${AN_ID}`
  if (!isId(chat['id'])) return `its chat.id has to be ${AN_ID}`
  if (!CHATS.includes(chat['type'] as ChatType)) return `its chat.type has to be ${CHATS.join(', ')}`
  if (chat['threadId'] !== undefined && !isId(chat['threadId'])) return `its chat.threadId has to be ${AN_ID}`
  if (chat['name'] !== undefined && typeof chat['name'] !== 'string') return 'its chat.name has to be a text'
  if (!isId(sender['id'])) return `its sender.id has to be ${AN_ID}`
  if (typeof sender['name'] !== 'string') return 'its sender.name has to be a text'
  switch (event['type']) {
    case 'message':
      return wrongMessage(event)
    case 'edit':
      return typeof event['text'] === 'string' ? null : 'its text has to be a text'
    case 'press':
      if (typeof event['acknowledge'] !== 'function') return 'its acknowledge has to be a function'
      return typeof event['data'] === 'string' ? null : 'its data has to be a text'
    default:
      return 'its type has to be message, edit, press, moved'
  }
}

function wrongMessage({ text, attachments, isToBot, atMs }: Loose): string | null {
  if (typeof text !== 'string') return 'its text has to be a text'
  if (typeof isToBot !== 'boolean') return 'its isToBot has to be true or false'
  if (!Number.isFinite(atMs)) return 'its atMs has to be a number of Unix milliseconds'
  if (!Array.isArray(attachments)) return 'its attachments have to be a list'
  const isFile = (one: Loose) => KINDS.includes(one['kind'] as never) && typeof one['ref'] === 'string'
  return attachments.map(loose).every(isFile)
    ? null
    : `each of its attachments has to have a kind (${KINDS.join(', ')}) and a ref`
}

function wrongIds(event: Loose, names: readonly string[]): string | null {
  const wrong = names.find((name) => !isId(event[name]))
  return wrong === undefined ? null : `its ${wrong} has to be ${AN_ID}`
}

const isId = (value: unknown) => typeof value === 'string' && value !== '' && value.length <= MOST_ID_CHARS

const loose = (value: unknown): Loose => (typeof value === 'object' && value !== null ? (value as Loose) : {})
