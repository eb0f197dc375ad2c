import {
  type AssistantMessage,
  type EndpointStamp,
  type FilePart,
  type ImagePart,
  type Message,
  type ReasoningPart,
  repairConversation,
  type ToolMessage,
  type UserMessage,
  type UserPart,
} from '@hermes/contracts/conversation'
import { sameStamp } from '../same-stamp.js'
import { wireCallId } from '../wire-call-id.js'
import { wireToolName } from '../wire-tool-name.js'
import type { WireBlock, WireJson, WireMessage, WireSystem, WireThought } from './wire-types.js'

/** A conversation as this wire has it. */
export interface WireConversation {
  readonly system: WireSystem[]
  readonly messages: WireMessage[]
}

/** What differs between endpoints and models. */
export interface ConversationOptions {
  readonly stamp: EndpointStamp
  /** The model takes a status with the result of a tool. */
  readonly resultStatus?: boolean
  /** The model takes no calls: they and their results are told in words. */
  readonly callsAsText?: boolean
}

type Text = { readonly text: string }
type Image = Extract<WireBlock, { image: object }>
type DocumentFormat = NonNullable<Extract<WireBlock, { document: object }>['document']['format']>

const EMPTY: Text = { text: '(empty)' }
const START: Text = { text: '(continue)' }
const SEE_DOCUMENT: Text = { text: '(see the document)' }
const NO_OUTPUT: Text = { text: '(no output)' }

/**
 * The conversation as Bedrock converse wants it, made valid first. Pure and byte-stable: a longer conversation gives the same messages
 * plus more, only the last one may gain blocks at its end. Results, and what the user says after them, make one message. Thoughts go
 * back, untouched and in their place, only to the endpoint in `stamp`.
 */
export function toWireConversation(messages: readonly Message[], options: ConversationOptions): WireConversation {
  const system: Text[] = []
  const wire: WireMessage[] = []
  const documents = new DocumentNames()
  const fromUser = (blocks: readonly WireBlock[]) => {
    const last = wire.at(-1)
    if (last?.role === 'user') last.content.push(...blocks)
    else wire.push({ role: 'user', content: [...blocks] })
  }
  for (const message of repairConversation(messages, { endWithUser: true })) {
    switch (message.role) {
      case 'system':
        system.push(...texts(message.content))
        break
      case 'user':
        fromUser(userBlocks(message, documents))
        break
      case 'assistant':
        if (wire.length === 0) fromUser([START])
        wire.push({ role: 'assistant', content: orEmpty(assistantBlocks(message, options)) })
        break
      case 'tool':
        fromUser(options.callsAsText ? resultAsText(message) : [toolResult(message, options)])
        break
      default:
        message satisfies never
    }
  }
  return { system, messages: wire }
}

function orEmpty(blocks: WireBlock[]): WireBlock[] {
  return blocks.length === 0 ? [EMPTY] : blocks
}

/** Blocks without a visible character are refused by the server. */
function texts(parts: readonly { readonly type: string; readonly text?: string }[]): Text[] {
  return parts.flatMap(({ type, text = '' }) => (type === 'text' && text.trim() !== '' ? [{ text }] : []))
}

/** A document must have a text beside it, which has to stand before it: what comes later may be said later. */
function userBlocks({ content }: UserMessage, documents: DocumentNames): WireBlock[] {
  const blocks: WireBlock[] = []
  for (const part of content) {
    const next = userBlock(part, documents)
    const isAlone = next.some((block) => 'document' in block) && !blocks.some((block) => 'text' in block)
    blocks.push(...(isAlone ? [SEE_DOCUMENT, ...next] : next))
  }
  return orEmpty(blocks)
}

function userBlock(part: UserPart, documents: DocumentNames): WireBlock[] {
  switch (part.type) {
    case 'text':
      return texts([part])
    case 'image':
      return [image(part)]
    case 'file':
      return [file(part, documents)]
    case 'audio':
      return [note(`An audio recording (${part.mediaType}) was here; this model takes none.`)]
    default:
      return part satisfies never
  }
}

const IMAGE_FORMATS = {
  'image/jpeg': 'jpeg',
  'image/jpg': 'jpeg',
  'image/png': 'png',
  'image/gif': 'gif',
  'image/webp': 'webp',
} as const

function image({ mediaType, data }: ImagePart): Image | Text {
  const format = lookUp(IMAGE_FORMATS, mediaType)
  if (!format) return note(`An image (${mediaType}) was here; this model takes none of this type.`)
  return { image: { format, source: { bytes: bytes(data) } } }
}

const DOCUMENT_FORMATS = {
  'application/pdf': 'pdf',
  'text/csv': 'csv',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'text/html': 'html',
  'text/markdown': 'md',
  'application/json': 'txt',
} as const satisfies Record<string, DocumentFormat>

function file({ mediaType, data, name }: FilePart, documents: DocumentNames): WireBlock {
  const format = lookUp(DOCUMENT_FORMATS, mediaType) ?? (mediaType.startsWith('text/') ? 'txt' : undefined)
  if (!format) return note(`The file ${name ?? ''} (${mediaType}) was here; this model takes none of this type.`)
  return { document: { format, name: documents.next(name), source: { bytes: bytes(data) } } }
}

const MAX_NAME_CHARS = 100

/** Names of documents: a few kinds of characters only, and each unlike the others of its conversation. */
class DocumentNames {
  #count = 0

  next(name = 'document'): string {
    const plain = name.replace(/[^A-Za-z0-9()[\]-]+/g, ' ').trim()
    return `${plain.slice(0, MAX_NAME_CHARS).trim() || 'document'} (${++this.#count})`
  }
}

function lookUp<Value>(table: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined
}

function bytes(base64: string): Uint8Array {
  return Buffer.from(base64, 'base64')
}

function note(text: string): Text {
  return { text: `(${text})` }
}

function assistantBlocks(message: AssistantMessage, { stamp, callsAsText }: ConversationOptions): WireBlock[] {
  return message.content.flatMap((part): WireBlock[] => {
    switch (part.type) {
      case 'text':
        return texts([part])
      case 'reasoning':
        return thoughts(part, stamp)
      case 'tool-call':
        if (callsAsText) return [note(`The tool ${part.name} was called with ${JSON.stringify(part.args ?? {})}.`)]
        return [
          {
            toolUse: {
              toolUseId: wireCallId(part.id),
              name: wireToolName(part.name),
              input: (part.args ?? {}) as WireJson,
            },
          },
        ]
      default:
        return part satisfies never
    }
  })
}

function thoughts({ replay }: ReasoningPart, stamp: EndpointStamp): WireBlock[] {
  if (!replay || replay.data === null || !sameStamp(replay.stamp, stamp)) return []
  const thought = replay.data as unknown as WireThought
  if ('reasoningText' in thought) return [{ reasoningContent: { reasoningText: { ...thought.reasoningText } } }]
  return [{ reasoningContent: { redactedContent: bytes(thought.redactedContent) } }]
}

function resultAsText({ toolName, content }: ToolMessage): WireBlock[] {
  const text = content.flatMap((part) => (part.type === 'text' ? texts([part]) : [image(part)]))
  return [note(`The tool ${toolName} answered:`), ...(text.length === 0 ? [NO_OUTPUT] : text)]
}

function toolResult({ callId, content, isError }: ToolMessage, { resultStatus }: ConversationOptions): WireBlock {
  const blocks = content.flatMap((part) => (part.type === 'text' ? texts([part]) : [image(part)]))
  return {
    toolResult: {
      toolUseId: wireCallId(callId),
      content: blocks.length === 0 ? [NO_OUTPUT] : blocks,
      ...(isError && resultStatus ? { status: 'error' } : {}),
    },
  }
}
