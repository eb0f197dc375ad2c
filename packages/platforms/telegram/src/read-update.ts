import type {
  ChatType,
  Incoming,
  IncomingAttachment,
  IncomingMessage,
  PlatformChat,
  PlatformUser,
} from '@hermes/contracts/platform'
import type { Chat, Message, Update, User } from 'grammy/types'

/** The bot, as far as it is needed to tell who is spoken to. */
export interface BotIdentity {
  readonly id: number
  readonly username: string
}

type Press = Extract<Incoming, { readonly type: 'press' }>

/** What an update says; `null` for what is nothing to anybody. `acknowledge` answers a pressed button. */
export function readUpdate(
  update: Update,
  {
    bot,
    acknowledge,
  }: { readonly bot: BotIdentity; readonly acknowledge: (queryId: string, text: string) => Promise<void> },
): Incoming | null {
  const id = `telegram:${bot.id}:${update.update_id}`
  const message = update.message ?? update.channel_post
  if (message) return readMessage(message, { id, bot })
  const edited = update.edited_message ?? update.edited_channel_post
  if (edited) return readEdit(edited, { id, bot })
  const query = update.callback_query
  if (!query?.data || !query.message) return null
  const press: Press = {
    type: 'press',
    id,
    chat: chatOf(query.message),
    sender: userOf(query.from),
    messageId: String(query.message.message_id),
    data: query.data,
    acknowledge: (text) => acknowledge(query.id, text),
  }
  return press
}

function readMessage(
  message: Message,
  { id, bot }: { readonly id: string; readonly bot: BotIdentity },
): Incoming | null {
  if (message.migrate_to_chat_id !== undefined)
    return { type: 'moved', id, fromChatId: String(message.chat.id), toChatId: String(message.migrate_to_chat_id) }
  const text = message.text ?? message.caption ?? ''
  const attachments = attachmentsOf(message)
  // Members who come and go, pinned messages and their kin.
  if (text === '' && attachments.length === 0) return null
  const chat = chatOf(message)
  const sender = message.from
    ? userOf(message.from)
    : {
        id: String(message.sender_chat?.id ?? message.chat.id),
        name: titleOf(message.sender_chat ?? message.chat) ?? '',
      }
  const { reply_to_message: answered } = message
  const isOwn = answered?.from?.id === bot.id
  const isReply = answered !== undefined && answered.message_id !== message.message_thread_id
  const incoming: IncomingMessage = {
    type: 'message',
    id,
    chat,
    sender,
    messageId: String(message.message_id),
    text: withoutName(text, bot),
    attachments,
    isToBot: chat.type === 'dm' || (isReply && isOwn) || names(text, bot),
    ...(message.forward_origin ? { isForwarded: true } : {}),
    ...(isReply
      ? { replyTo: { messageId: String(answered.message_id), text: answered.text ?? answered.caption ?? '', isOwn } }
      : {}),
    atMs: message.date * 1000,
  }
  return incoming
}

function readEdit(message: Message, { id, bot }: { readonly id: string; readonly bot: BotIdentity }): Incoming | null {
  const sender = message.from ? userOf(message.from) : { id: String(message.chat.id), name: '' }
  // As the message was read: one that only gets a preview of its link says the same.
  const text = withoutName(message.text ?? message.caption ?? '', bot)
  return { type: 'edit', id, chat: chatOf(message), sender, messageId: String(message.message_id), text }
}

const TYPES: Readonly<Record<Chat['type'], ChatType>> = {
  private: 'dm',
  group: 'group',
  supergroup: 'group',
  channel: 'channel',
}

function chatOf(message: {
  readonly chat: Chat
  readonly message_thread_id?: number
  readonly is_topic_message?: boolean
}): PlatformChat {
  const { chat, message_thread_id, is_topic_message } = message
  const name = titleOf(chat)
  return {
    id: String(chat.id),
    type: TYPES[chat.type],
    ...(name === undefined ? {} : { name }),
    // Replies in groups without topics have a thread id too.
    ...(is_topic_message && message_thread_id !== undefined ? { threadId: String(message_thread_id) } : {}),
  }
}

function titleOf(chat: Chat): string | undefined {
  return chat.title ?? chat.first_name
}

function userOf({ id, first_name, last_name, is_bot }: User): PlatformUser {
  const name = [first_name, last_name].filter(Boolean).join(' ')
  return { id: String(id), name, ...(is_bot ? { isBot: true } : {}) }
}

function names(text: string, { username }: BotIdentity): boolean {
  return new RegExp(`@${username}\\b`, 'i').test(text)
}

/** `/help@bot` is `/help`, and a mention at the beginning is no part of what is said. */
function withoutName(text: string, { username }: BotIdentity): string {
  return text
    .replace(new RegExp(`^(/\\w+)?@${username}\\b[\\s,:]*`, 'i'), (_, command = '') => (command ? `${command} ` : ''))
    .trim()
}

function attachmentsOf(message: Message): readonly IncomingAttachment[] {
  const { photo, voice, audio, video, video_note, document, sticker, animation } = message
  const largest = photo?.at(-1)
  return [
    ...(largest ? [attachment('image', { ...largest, mime_type: 'image/jpeg' })] : []),
    ...(voice ? [{ ...attachment('audio', { mime_type: 'audio/ogg', ...voice }), isVoice: true } as const] : []),
    ...(audio ? [attachment('audio', audio)] : []),
    ...[video, video_note].flatMap((one) => (one ? [attachment('video', one)] : [])),
    // An animation comes as a document too.
    ...(document && !animation
      ? [attachment(document.mime_type?.startsWith('image/') ? 'image' : 'file', document)]
      : []),
    ...(animation ? [attachment('video', animation)] : []),
    ...(sticker && !sticker.is_animated && !sticker.is_video
      ? [attachment('image', { ...sticker, mime_type: 'image/webp' })]
      : []),
  ]
}

function attachment(
  kind: IncomingAttachment['kind'],
  file: {
    readonly file_id: string
    readonly file_size?: number
    readonly mime_type?: string
    readonly file_name?: string
  },
): IncomingAttachment {
  const { file_id: ref, file_size: size, mime_type: mediaType, file_name: name } = file
  return {
    kind,
    ref,
    ...(size === undefined ? {} : { size }),
    ...(mediaType === undefined ? {} : { mediaType }),
    ...(name === undefined ? {} : { name }),
  }
}
