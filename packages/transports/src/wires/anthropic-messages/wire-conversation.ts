import {
  type AssistantMessage,
  type EndpointStamp,
  type FilePart,
  type ImagePart,
  type Message,
  type ReasoningPart,
  repairConversation,
  type ToolMessage,
  type UserPart,
} from '@hermes/contracts/conversation'
import { sameStamp } from '../same-stamp.js'
import { wireCallId } from '../wire-call-id.js'
import { wireToolName } from '../wire-tool-name.js'
import type {
  WireBlock,
  WireDocument,
  WireImage,
  WireMessage,
  WireText,
  WireThinking,
  WireToolResult,
} from './wire-types.js'

/** A conversation as this wire has it. */
export interface WireConversation {
  readonly system: readonly WireText[]
  readonly messages: readonly WireMessage[]
}

const EMPTY: WireText = { type: 'text', text: '(empty)' }
const START: WireText = { type: 'text', text: '(continue)' }

/**
 * The conversation as Anthropic messages wants it, made valid first. Pure and byte-stable: a longer conversation gives the same
 * messages plus more, only the last one may gain blocks at its end. Results, and what the user says after them, make one message.
 * Thoughts go back, untouched and in their place, only to the endpoint in `stamp`.
 */
export function toWireConversation(messages: readonly Message[], stamp: EndpointStamp): WireConversation {
  const system: WireText[] = []
  const wire: { role: WireMessage['role']; content: WireBlock[] }[] = []
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
        fromUser(orEmpty(message.content.flatMap(userBlocks)))
        break
      case 'assistant':
        if (wire.length === 0) fromUser([START])
        wire.push({ role: 'assistant', content: orEmpty(assistantBlocks(message, stamp)) })
        break
      case 'tool':
        fromUser([toolResult(message)])
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
function texts(parts: readonly { readonly type: string; readonly text?: string }[]): WireText[] {
  return parts.flatMap(({ type, text = '' }) => (type === 'text' && text.trim() !== '' ? [{ type: 'text', text }] : []))
}

function userBlocks(part: UserPart): WireBlock[] {
  switch (part.type) {
    case 'text':
      return texts([part])
    case 'image':
      return [image(part)]
    case 'file':
      return [file(part)]
    case 'audio':
      return [note(`An audio recording (${part.mediaType}) was here; this model takes none.`)]
    default:
      return part satisfies never
  }
}

const IMAGE_TYPES = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])

function image({ mediaType, data }: ImagePart): WireImage | WireText {
  const type = mediaType === 'image/jpg' ? 'image/jpeg' : mediaType
  if (!IMAGE_TYPES.has(type)) return note(`An image (${mediaType}) was here; this model takes none of this type.`)
  return { type: 'image', source: { type: 'base64', media_type: type, data } }
}

function file({ mediaType, data, name }: FilePart): WireDocument | WireText {
  const title = name === undefined ? {} : { title: name }
  if (mediaType === 'application/pdf')
    return { type: 'document', source: { type: 'base64', media_type: mediaType, data }, ...title }
  if (mediaType.startsWith('text/') || mediaType === 'application/json') {
    const text = Buffer.from(data, 'base64').toString('utf8')
    return { type: 'document', source: { type: 'text', media_type: 'text/plain', data: text }, ...title }
  }
  return note(`The file ${name ?? ''} (${mediaType}) was here; this model takes none of this type.`)
}

function note(text: string): WireText {
  return { type: 'text', text: `(${text})` }
}

function assistantBlocks(message: AssistantMessage, stamp: EndpointStamp): WireBlock[] {
  return message.content.flatMap((part): WireBlock[] => {
    switch (part.type) {
      case 'text':
        return texts([part])
      case 'reasoning':
        return thoughts(part, stamp)
      case 'tool-call':
        return [{ type: 'tool_use', id: wireCallId(part.id), name: wireToolName(part.name), input: part.args ?? {} }]
      default:
        return part satisfies never
    }
  })
}

function thoughts({ replay }: ReasoningPart, stamp: EndpointStamp): WireThinking[] {
  if (!replay || replay.data === null || !sameStamp(replay.stamp, stamp)) return []
  return [replay.data as unknown as WireThinking]
}

const NO_OUTPUT: WireText = { type: 'text', text: '(no output)' }

function toolResult({ callId, content, isError }: ToolMessage): WireToolResult {
  const blocks = content.flatMap((part) => (part.type === 'text' ? texts([part]) : [image(part)]))
  return {
    type: 'tool_result',
    tool_use_id: wireCallId(callId),
    content: blocks.length === 0 ? [NO_OUTPUT] : blocks,
    ...(isError ? { is_error: true } : {}),
  }
}
