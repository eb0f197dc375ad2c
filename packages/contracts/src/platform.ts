import type { JsonObject } from './json.js'

/** What a chat platform counts the length of a message in. */
export type LengthUnit = 'utf16' | 'bytes' | 'code-points'

/** What an adapter can do; what is absent it cannot. */
export interface PlatformAbilities {
  /** The longest message; longer ones are sent in parts. */
  readonly maxLength: { readonly unit: LengthUnit; readonly limit: number }
  /** A message that was sent can be changed: answers grow while they are written. */
  readonly edits?: true
  readonly buttons?: true
  readonly reactions?: true
  readonly typing?: true
  /** Replies name the message they answer. */
  readonly replies?: true
  /** Files can be sent, up to so many bytes each. */
  readonly files?: { readonly maxBytes: number }
}

/** `dm`: one person. `channel`: few write, many read. */
export type ChatType = 'dm' | 'group' | 'channel'

/** A chat, as the platform describes it. Names and topics are text from outside. */
export interface PlatformChat {
  readonly id: string
  readonly type: ChatType
  readonly name?: string
  /** A topic or thread of it, which is a conversation of its own. */
  readonly threadId?: string
}

/** Who wrote or pressed something. The name is text from outside. */
export interface PlatformUser {
  readonly id: string
  readonly name: string
  readonly isBot?: boolean
}

/** A file that came with a message; {@link Platform.download} brings it. */
export interface IncomingAttachment {
  readonly kind: 'image' | 'audio' | 'video' | 'file'
  readonly name?: string
  readonly mediaType?: string
  /** Bytes, where the platform says. */
  readonly size?: number
  /** Somebody spoke it in place of writing. Default: a file like any other. */
  readonly isVoice?: true
  /** What the adapter finds it by. */
  readonly ref: string
}

/** What every event of a platform has. */
interface IncomingBase {
  /** The same for each delivery of the event, and for no other event of this platform. */
  readonly id: string
  readonly chat: PlatformChat
  readonly sender: PlatformUser
  readonly messageId: string
}

/** Somebody wrote something. */
export interface IncomingMessage extends IncomingBase {
  readonly type: 'message'
  readonly text: string
  readonly attachments: readonly IncomingAttachment[]
  /** It names the bot, or answers one of its messages. In a `dm` always. */
  readonly isToBot: boolean
  readonly isForwarded?: boolean
  /** The message it answers. */
  readonly replyTo?: { readonly messageId: string; readonly text: string; readonly isOwn: boolean }
  /** Unix milliseconds. */
  readonly atMs: number
}

/** Somebody changed a message that was heard before. */
export interface IncomingEdit extends IncomingBase {
  readonly type: 'edit'
  readonly text: string
}

/** Somebody pressed a button. */
export interface IncomingPress extends IncomingBase {
  readonly type: 'press'
  /** As in {@link PlatformButton}. */
  readonly data: string
  /** Tells who pressed, and nobody else. Never rejects. */
  acknowledge(text: string): Promise<void>
}

/** The chat has another id from now on. */
export interface ChatMoved extends Pick<IncomingBase, 'id'> {
  readonly type: 'moved'
  readonly fromChatId: string
  readonly toChatId: string
}

/** What a platform tells. */
export type Incoming = IncomingMessage | IncomingEdit | IncomingPress | ChatMoved

/** Where messages go. */
export interface PlatformTarget {
  readonly chatId: string
  readonly threadId?: string
}

/** A choice under a message. */
export interface PlatformButton {
  readonly label: string
  /** At most 64 bytes of UTF-8. */
  readonly data: string
}

/** A message within the platform's limits. */
export interface PlatformMessage {
  readonly target: PlatformTarget
  readonly text: string
  /** `markdown` is shown as the platform can. */
  readonly markup: 'markdown' | 'plain'
  /** The message it answers. */
  readonly replyTo?: string
  /** Rows of them. */
  readonly buttons?: readonly (readonly PlatformButton[])[]
  /** What it is about, where the platform has subjects. */
  readonly subject?: string
}

/** A file that is sent. */
export interface PlatformFile {
  readonly kind: IncomingAttachment['kind']
  readonly name: string
  readonly mediaType: string
  readonly bytes: Uint8Array
}

/** The body of a message of the outbox: what a chat is to be told, of any length. */
export interface OutgoingBody extends JsonObject {
  readonly text: string
}

/** How an adapter is doing. */
export type PlatformState =
  /** `failures`: tries in a row that came to nothing. Default 0. */
  | { readonly type: 'connecting'; readonly failures?: number }
  /** `account`: whom it speaks as. */
  | { readonly type: 'connected'; readonly account: string }
  /** It tries again by itself. */
  | { readonly type: 'waiting'; readonly error: string; readonly retryAtMs: number; readonly failures: number }
  /** It does not try again: the configuration has to change first. */
  | { readonly type: 'failed'; readonly error: string }
  /** A person has it rest. No adapter says so: the gateway does. */
  | { readonly type: 'paused' }
  | { readonly type: 'closed' }

/** What an adapter works with while it is connected. */
export interface PlatformListener {
  /**
   * Takes an event. The platform is told that it was received only once this has resolved; until then, and after a rejection, the event comes
   * again.
   */
  hear(event: Incoming): Promise<void>
  /** Told of each change. Must not throw. */
  onState(state: PlatformState): void
}

/**
 * One chat platform, with one account. What fails rejects with a `HermesError`: `platform.unauthorized`, `platform.conflict` (another program
 * hears for this account), `platform.rate_limited` (`details.retryAfterMs`), `platform.markup_refused`, `platform.rejected` (never will be
 * taken), `platform.unreachable` (surely not taken; try again), `platform.unknown_outcome` (perhaps taken).
 */
export interface Platform {
  /** `telegram`, `email` … */
  readonly name: string
  readonly abilities: PlatformAbilities
  readonly state: PlatformState
  /** When the platform was last known to deliver: it brought an event, or said that there is none. Unix milliseconds; `null` for never. */
  readonly heardAtMs: number | null
  /** Begins to hear and goes on until {@link Platform.close}; trouble is told by `onState`. Called once. */
  connect(listener: PlatformListener): void
  /** Sends one message and gives its id. */
  send(message: PlatformMessage): Promise<string>
  /** Sends one file within the platform's limits and gives the id of its message. */
  sendFile?(target: PlatformTarget, file: PlatformFile): Promise<string>
  /** Changes a message that was sent. What is so already is no error. */
  edit?(messageId: string, message: PlatformMessage): Promise<void>
  /**
   * Shows in a chat the beginning of an answer that is being written, until the whole of it is sent as a message, which takes its place; by itself
   * it is gone after a while. Changes of one draft have one `draftId`, a whole number above 0. Resolves with `false` where that chat has no drafts.
   */
  draft?(draftId: number, message: PlatformMessage): Promise<boolean>
  /** Shows that an answer is being written, for some seconds. */
  showTyping?(target: PlatformTarget): Promise<void>
  /** Puts a sign on a message, in place of an earlier one; `null` takes it away. */
  react?(target: PlatformTarget, messageId: string, emoji: string | null): Promise<void>
  /** Brings an attachment. Rejects with `platform.too_large` beyond `maxBytes`. */
  download(
    attachment: IncomingAttachment,
    options: { readonly maxBytes: number; readonly signal: AbortSignal },
  ): Promise<Uint8Array>
  /** Asks the platform who it speaks as: a proof that it answers. */
  probe(): Promise<string>
  /** Takes a delivery by webhook; absent where the adapter asks by itself. */
  receive?(request: Request): Promise<Response>
  /** Ends hearing, waits for what is being heard, and frees everything. Twice is harmless. */
  close(): Promise<void>
}
