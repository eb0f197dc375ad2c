import type { EndpointStamp, FilePart, ImagePart, Message } from '@hermes/contracts/conversation'
import { type GroupedConversation, groupConversation } from '../grouped-conversation.js'
import { wireToolName } from '../tool-names.js'
import { wireCallId } from '../wire-call-id.js'
import type { WireBlock, WireDocument, WireImage, WireText, WireThinking, WireToolResult } from './wire-types.js'

/** The conversation as Anthropic messages wants it; see {@link groupConversation}. */
export function toWireConversation(
  messages: readonly Message[],
  stamp: EndpointStamp,
): GroupedConversation<WireBlock, WireText> {
  return groupConversation<WireBlock, WireText>(messages, stamp, {
    text: (text) => ({ type: 'text', text }),
    image,
    file,
    call: ({ id, name, args }) => ({
      type: 'tool_use',
      id: wireCallId(id),
      name: wireToolName(name),
      input: (args ?? {}) as object,
    }),
    thought: (kept) => kept as WireThinking,
    result: ({ callId, isError }, blocks) => [
      {
        type: 'tool_result',
        tool_use_id: wireCallId(callId),
        content: blocks as WireToolResult['content'],
        ...(isError ? { is_error: true } : {}),
      },
    ],
  })
}

const IMAGE_TYPES = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])

function image({ mediaType, data }: ImagePart): WireImage | null {
  const type = mediaType === 'image/jpg' ? 'image/jpeg' : mediaType
  return IMAGE_TYPES.has(type) ? { type: 'image', source: { type: 'base64', media_type: type, data } } : null
}

/** Whether a file of this type has a form here. */
export function takesDocument(mediaType: string): boolean {
  return mediaType === 'application/pdf' || mediaType.startsWith('text/') || mediaType === 'application/json'
}

function file({ mediaType, data, name }: FilePart): WireDocument | null {
  if (!takesDocument(mediaType)) return null
  const title = name === undefined ? {} : { title: name }
  if (mediaType === 'application/pdf')
    return { type: 'document', source: { type: 'base64', media_type: mediaType, data }, ...title }
  const text = Buffer.from(data, 'base64').toString('utf8')
  return { type: 'document', source: { type: 'text', media_type: 'text/plain', data: text }, ...title }
}
