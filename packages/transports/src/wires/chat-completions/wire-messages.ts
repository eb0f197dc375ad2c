import {
  type AssistantMessage,
  type EndpointStamp,
  type ImagePart,
  type Message,
  repairConversation,
  type ToolCallPart,
  type ToolMessage,
  type UserPart,
} from '@hermes/contracts/conversation'
import { nameHas } from '../../catalogue/provider.js'
import type { ProviderQuirks } from '../../catalogue.js'
import { argumentText } from '../argument-text.js'
import { sameStamp } from '../grouped-conversation.js'
import { wireToolName } from '../tool-names.js'
import { wireCallId } from '../wire-call-id.js'
import { asList } from './cache-marks.js'
import { type Replay, replayOf } from './replay.js'
import type { WireMessage, WirePart, WireToolCall } from './wire-types.js'

/** Between text parts that become one string: a message that gains a part keeps its bytes and grows at the end. */
const PART_GAP = '\n\n'

/** What the conversion depends on besides the conversation. */
interface WireMessageOptions {
  readonly quirks?: ProviderQuirks
  /** Decides whether system text goes out as `developer`. */
  readonly model?: string
  /** The endpoint asked; earlier reasoning goes back only to where it came from. */
  readonly stamp?: EndpointStamp
}

/**
 * The conversation as chat completions wants it, made valid first. Pure and byte-stable: a longer conversation gives the same messages
 * plus more, only the last one may grow at its end. Text alone goes as one string, parts apart by an empty line; with other content
 * as a list whose neighbouring texts are joined the same way. Images of tool results follow in a user message after all results.
 */
export function toWireMessages(messages: readonly Message[], options: WireMessageOptions = {}): WireMessage[] {
  const wire: WireMessage[] = []
  let images: UserPart[] = []
  const repaired = repairConversation(messages, options.quirks?.repair)
  // Runs over the whole conversation before each request, hence a plain loop.
  for (let index = 0; index < repaired.length; index++) {
    const message = repaired[index]!
    if (images.length > 0 && message.role !== 'tool') {
      if (options.quirks?.repair?.assistantAfterResults) wire.push({ role: 'assistant', content: NOTED })
      if (message.role !== 'user') wire.push({ role: 'user', content: userContent(images) })
      else {
        wire.push({ role: 'user', content: userContent([...images, ...message.content]) })
        images = []
        continue
      }
      images = []
    }
    wire.push(once(message, options))
    if (message.role === 'tool' && !message.content.every(isText)) images.push(...toolImages(message))
  }
  if (images.length > 0) {
    if (options.quirks?.repair?.assistantAfterResults) wire.push({ role: 'assistant', content: NOTED })
    wire.push({ role: 'user', content: userContent(images) })
  }
  return options.quirks?.contentAsList
    ? wire.map((message) => (message.role === 'user' ? asList(message) : message))
    : wire
}

/** A message goes out with every later request of its session and never changes, so it is converted once for an endpoint. */
const converted = new WeakMap<Message, WireMessageOptions & { readonly wire: WireMessage }>()

function once(message: Message, options: WireMessageOptions): WireMessage {
  const { quirks, model, stamp } = options
  const known = converted.get(message)
  if (known && known.quirks === quirks && known.model === model && isSameEndpoint(known.stamp, stamp)) return known.wire
  const wire = toWireMessage(message, options)
  converted.set(message, { ...options, wire })
  return wire
}

function toWireMessage(message: Message, options: WireMessageOptions): WireMessage {
  switch (message.role) {
    case 'system':
      return { role: systemRole(options), content: joinTexts(message.content) }
    case 'user':
      return { role: 'user', content: userContent(message.content) }
    case 'assistant':
      return assistantMessage(message, options)
    case 'tool':
      return { role: 'tool', tool_call_id: callId(message.callId, options), content: toolContent(message) }
    default:
      return message satisfies never
  }
}

function isSameEndpoint(left: EndpointStamp | undefined, right: EndpointStamp | undefined): boolean {
  return left === right || (left !== undefined && right !== undefined && sameStamp(left, right))
}

function systemRole({ quirks, model = '' }: WireMessageOptions): 'system' | 'developer' {
  return nameHas(model, quirks?.developerRoleModels) ? 'developer' : 'system'
}

function joinTexts(parts: readonly { readonly type: string; readonly text?: string }[]): string {
  return parts
    .map((part) => (part.type === 'text' ? (part.text ?? '') : ''))
    .filter((text) => text.trim() !== '')
    .join(PART_GAP)
}

function isText({ type }: { readonly type: string }): boolean {
  return type === 'text'
}

function userContent(parts: readonly UserPart[]): string | WirePart[] {
  if (parts.every(isText)) return joinTexts(parts)
  const wire: WirePart[] = []
  for (const part of parts) {
    if (part.type === 'text' && part.text.trim() === '') continue
    const last = wire.at(-1)
    if (part.type === 'text' && last?.type === 'text')
      wire[wire.length - 1] = { type: 'text', text: `${last.text}${PART_GAP}${part.text}` }
    else wire.push(wirePart(part))
  }
  return wire
}

function wirePart(part: UserPart): WirePart {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text }
    case 'image':
      return { type: 'image_url', image_url: { url: dataUrl(part) } }
    case 'audio':
      return { type: 'input_audio', input_audio: { data: part.data, format: audioFormat(part.mediaType) } }
    case 'file':
      return { type: 'file', file: { filename: part.name ?? 'file', file_data: dataUrl(part) } }
    default:
      return part satisfies never
  }
}

function dataUrl({ mediaType, data }: { readonly mediaType: string; readonly data: string }): string {
  return `data:${mediaType};base64,${data}`
}

function audioFormat(mediaType: string): string {
  return mediaType === 'audio/mpeg' ? 'mp3' : mediaType.replace(/^audio\/(?:x-)?/, '')
}

function assistantMessage(message: AssistantMessage, options: WireMessageOptions): WireMessage {
  const { stamp } = options
  const replay = stamp ? replayOf(message, stamp) : NO_REPLAY
  let text = ''
  const calls: WireToolCall[] = []
  for (const part of message.content) {
    if (part.type === 'text') text += part.text
    else if (part.type === 'tool-call') calls.push(wireCall(part, replay, options))
  }
  return {
    role: 'assistant',
    content: text.trim() === '' ? null : text,
    ...reasoningFields(replay, calls.length > 0, options),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
}

const NO_REPLAY: ReturnType<typeof replayOf> = { text: '', details: [], callExtras: {} }

function wireCall(part: ToolCallPart, { callExtras }: Replay, options: WireMessageOptions): WireToolCall {
  const extra = options.quirks?.replayCallExtras ? callExtras[part.id] : undefined
  return {
    id: callId(part.id, options),
    type: 'function',
    function: { name: wireToolName(part.name), arguments: argumentText(part) },
    ...(extra === undefined ? {} : { extra_content: extra }),
  }
}

function callId(id: string, { quirks }: WireMessageOptions): string {
  return quirks?.callIds || id === '' ? wireCallId(id, quirks?.callIds) : id
}

function reasoningFields(
  replay: ReturnType<typeof replayOf>,
  hasCalls: boolean,
  { quirks }: WireMessageOptions,
): object {
  const field = quirks?.replayReasoningAs
  if (!field) return {}
  if (field === 'reasoning_details') {
    if (replay.details.length > 0) return { reasoning_details: replay.details }
    return replay.text === '' ? {} : { reasoning: replay.text }
  }
  const isRequired = quirks.reasoningRequired === true && hasCalls
  return replay.text === '' && !isRequired ? {} : { [field]: replay.text }
}

const EMPTY = '(empty)'
const NOTED = '(noted)'
const IMAGE_FOLLOWS = '(the result is an image; it follows)'

function toolContent(message: ToolMessage): string {
  const hasImage = message.content.some(({ type }) => type === 'image')
  return joinTexts(message.content) || (hasImage ? IMAGE_FOLLOWS : EMPTY)
}

function toolImages(message: ToolMessage): readonly UserPart[] {
  const images = message.content.filter((part): part is ImagePart => part.type === 'image')
  return [{ type: 'text', text: `Images from the result of ${message.toolName} (${message.callId}):` }, ...images]
}
