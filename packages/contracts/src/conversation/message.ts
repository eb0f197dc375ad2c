import type { JsonObject, JsonValue } from '../json.js'
import type { Provenance } from './text-source.js'

/**
 * Who put a part into the conversation. Absent means `user`.
 * Everything but `user` is hidden from display; `external` marks text from outside, whose source says whether it is the taint that policy reads.
 */
export type Origin = 'user' | 'memory' | 'steer' | 'reminder' | 'external'

/** Which endpoint made an opaque blob; it may be replayed only to the same one. */
export interface EndpointStamp {
  readonly provider: string
  readonly endpoint: string
  readonly model: string
  /** The account that was chosen for it, where only that account can read it. */
  readonly account?: string
}

/** Text, exactly as it was said. */
export interface TextPart extends Provenance {
  readonly type: 'text'
  readonly text: string
  readonly origin?: Origin
  /** Text from outside that the person handed over by themselves: it is shown and found like their own words. */
  readonly withFencedInput?: true
}

/** Binary content, base64 without a data-URL prefix. */
interface BinaryPart extends Provenance {
  /** IANA media type, for example `image/png`. */
  readonly mediaType: string
  /** Base64. */
  readonly data: string
  readonly name?: string
  readonly origin?: Origin
}

/** An image, for models that see. */
export interface ImagePart extends BinaryPart {
  readonly type: 'image'
  /** SHA-256, in hex, of the address by which a client named it, and by which it names it again. */
  readonly addressHash?: string
}

/** A recording, as a person sent it. */
export interface AudioPart extends BinaryPart {
  readonly type: 'audio'
}

/** A file of any other kind, such as a PDF. */
export interface FilePart extends BinaryPart {
  readonly type: 'file'
}

/** What a model thought before it answered. `replay` is kept byte for byte and goes back only to the endpoint in its stamp. */
export interface ReasoningPart {
  readonly type: 'reasoning'
  readonly text: string
  readonly replay?: { readonly stamp: EndpointStamp; readonly data: JsonValue }
}

/** One call a model asked for. */
export interface ToolCallPart {
  readonly type: 'tool-call'
  readonly id: string
  readonly name: string
  /** Parsed arguments; `null` when the raw text could not be parsed. Such a call is replayed as `{}`. */
  readonly args: JsonObject | null
  /** The argument text exactly as the model sent it. */
  readonly rawArgs: string
}

/** What a message of a person is made of. */
export type UserPart = TextPart | ImagePart | AudioPart | FilePart
/** What an answer of a model is made of, in the order it came. */
export type AssistantPart = TextPart | ReasoningPart | ToolCallPart
/** What the model is shown of a result. */
export type ToolResultPart = TextPart | ImagePart

/** Why a model stopped. */
export type FinishReason = 'stop' | 'tool-calls' | 'length' | 'content-filter' | 'unknown'

/** What a model is told before anybody speaks; the first message, where there is one. */
export interface SystemMessage {
  readonly role: 'system'
  readonly content: readonly TextPart[]
}

/** What a person said, and what was put beside it on their behalf; see {@link Origin}. */
export interface UserMessage {
  readonly role: 'user'
  readonly content: readonly UserPart[]
  /** Who wrote it, where several people share a chat. */
  readonly author?: string
  /** The chat platform's id of the message, for replies and edits. */
  readonly platformMessageId?: string
}

/** One answer of a model. Each of its calls is answered by a {@link ToolMessage} before the next answer. */
export interface AssistantMessage {
  readonly role: 'assistant'
  readonly content: readonly AssistantPart[]
  readonly finishReason?: FinishReason
}

/** The answer to exactly one call. */
export interface ToolMessage {
  readonly role: 'tool'
  readonly callId: string
  readonly toolName: string
  readonly content: readonly ToolResultPart[]
  readonly isError?: boolean
  /** The result as data, for scripts and for state that is folded from results; the model sees `content`. */
  readonly data?: JsonValue
}

/** One message of a conversation, told apart by `role`. */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage

/** The visible text of a message: its text parts of a person, and of a tool those from outside too; reasoning and calls are left out. */
export function messageText(message: Message): string {
  // What a tool brought from outside is its result, and as much to be seen as any other.
  const isShown = (origin: Origin = 'user') => origin === 'user' || (origin === 'external' && message.role === 'tool')
  let text = ''
  for (const part of message.content) if (part.type === 'text' && isShown(part.origin)) text += part.text
  return text
}

/** The calls of an assistant message, in the order the model gave them. */
export function toolCalls(message: Message): readonly ToolCallPart[] {
  if (message.role !== 'assistant') return []
  return message.content.filter((part): part is ToolCallPart => part.type === 'tool-call')
}

/** A user message of one text part. */
export function userText(text: string, origin?: Origin): UserMessage {
  return { role: 'user', content: [origin === undefined ? { type: 'text', text } : { type: 'text', text, origin }] }
}
