import type { EndpointStamp, FilePart, ImagePart, Message } from '@hermes/contracts/conversation'
import { groupConversation } from '../grouped-conversation.js'
import { wireToolName } from '../tool-names.js'
import { wireCallId } from '../wire-call-id.js'
import type { WireBlock, WireJson, WireMessage, WireSystem, WireThought } from './wire-types.js'

/** A conversation as this wire has it. */
interface WireConversation {
  readonly system: WireSystem[]
  readonly messages: WireMessage[]
}

/** What differs between endpoints and models. */
interface ConversationOptions {
  readonly stamp: EndpointStamp
  /** The model takes a status with the result of a tool. */
  readonly resultStatus?: boolean
  /** The model takes no calls: they and their results are told in words. */
  readonly callsAsText?: boolean
}

type Text = { readonly text: string }
type Image = Extract<WireBlock, { image: object }>
type ResultBlocks = NonNullable<Extract<WireBlock, { toolResult: object }>['toolResult']['content']>
type DocumentFormat = NonNullable<Extract<WireBlock, { document: object }>['document']['format']>

const SEE_DOCUMENT: Text = { text: '(see the document)' }

/** The conversation as Bedrock converse wants it; see {@link groupConversation}. */
export function toWireConversation(messages: readonly Message[], options: ConversationOptions): WireConversation {
  const { stamp, resultStatus, callsAsText } = options
  const documents = new DocumentNames()
  return groupConversation<WireBlock, WireBlock & Text>(messages, stamp, {
    text: (text) => ({ text }) as WireBlock & Text,
    image,
    file: (part) => file(part, documents),
    thought: (kept) => thought(kept as WireThought),
    call: ({ id, name, args }) =>
      callsAsText
        ? { text: `(The tool ${name} was called with ${JSON.stringify(args ?? {})}.)` }
        : { toolUse: { toolUseId: wireCallId(id), name: wireToolName(name), input: (args ?? {}) as WireJson } },
    result: ({ callId, toolName, isError }, blocks) => {
      if (callsAsText) return [{ text: `(The tool ${toolName} answered:)` }, ...blocks]
      const status = isError && resultStatus ? ({ status: 'error' } as const) : {}
      return [{ toolResult: { toolUseId: wireCallId(callId), content: blocks as ResultBlocks, ...status } }]
    },
    userBlocks: withTextFirst,
  })
}

/** A document must have a text beside it, which has to stand before it: what comes later may be said later. */
function withTextFirst(blocks: readonly WireBlock[]): readonly WireBlock[] {
  const document = blocks.findIndex((block) => 'document' in block)
  if (document === -1 || blocks.slice(0, document).some((block) => 'text' in block)) return blocks
  return blocks.toSpliced(document, 0, SEE_DOCUMENT as WireBlock)
}

const IMAGE_FORMATS = {
  'image/jpeg': 'jpeg',
  'image/jpg': 'jpeg',
  'image/png': 'png',
  'image/gif': 'gif',
  'image/webp': 'webp',
} as const

function image({ mediaType, data }: ImagePart): Image | null {
  const format = lookUp(IMAGE_FORMATS, mediaType)
  return format ? { image: { format, source: { bytes: bytes(data) } } } : null
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

function documentFormat(mediaType: string): DocumentFormat | undefined {
  return lookUp(DOCUMENT_FORMATS, mediaType) ?? (mediaType.startsWith('text/') ? 'txt' : undefined)
}

/** Whether a file of this type has a form here. */
export function takesDocument(mediaType: string): boolean {
  return documentFormat(mediaType) !== undefined
}

function file({ mediaType, data, name }: FilePart, documents: DocumentNames): WireBlock | null {
  const format = documentFormat(mediaType)
  if (!format) return null
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

function thought(kept: WireThought): WireBlock {
  if ('reasoningText' in kept) return { reasoningContent: { reasoningText: { ...kept.reasoningText } } }
  return { reasoningContent: { redactedContent: bytes(kept.redactedContent) } }
}
