import {
  type AssistantMessage,
  type EndpointStamp,
  type Message,
  type ReasoningPart,
  repairConversation,
  type ToolMessage,
  type UserPart,
} from '@hermes/contracts/conversation'
import { argumentText } from '../argument-text.js'
import { sameStamp } from '../grouped-conversation.js'
import { wireToolName } from '../tool-names.js'
import { wireCallId } from '../wire-call-id.js'
import type { WireItem, WirePart, WireReplay, WireThought } from './wire-types.js'

/** Between texts that become one string. */
const PART_GAP = '\n\n'

/** A conversation as this wire has it. */
interface WireInput {
  /** The system text; empty when there is none. */
  readonly instructions: string
  readonly input: readonly WireItem[]
}

/**
 * The conversation as Responses wants it, made valid first. Pure and byte-stable: a longer conversation gives the same items plus more,
 * only the last one may grow at its end. Items carry no ids, since the server keeps none of them. Thoughts go back, untouched and in
 * their place, only to the endpoint in `stamp`, and only with what followed them.
 */
export function toWireInput(messages: readonly Message[], stamp: EndpointStamp): WireInput {
  let instructions = ''
  const input: WireItem[] = []
  const ids = new CallIds()
  for (const message of repairConversation(messages)) {
    switch (message.role) {
      case 'system':
        instructions = joinTexts(message.content)
        break
      case 'user':
        input.push({ type: 'message', role: 'user', content: wireParts(message.content) })
        break
      case 'assistant':
        input.push(...assistantItems(message, stamp, ids))
        break
      case 'tool':
        input.push({ type: 'function_call_output', call_id: ids.current(message.callId), output: output(message) })
        break
      default:
        message satisfies never
    }
  }
  return { instructions, input }
}

function joinTexts(parts: readonly { readonly type: string; readonly text?: string }[]): string {
  return parts
    .map((part) => (part.type === 'text' ? (part.text ?? '') : ''))
    .filter((text) => text !== '')
    .join(PART_GAP)
}

const EMPTY: WirePart = { type: 'input_text', text: '(empty)' }

function wireParts(parts: readonly UserPart[]): WirePart[] {
  const wire = parts.filter((part) => part.type !== 'text' || part.text !== '').map(wirePart)
  return wire.length === 0 ? [EMPTY] : wire
}

function wirePart(part: UserPart): WirePart {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text }
    case 'image':
      return { type: 'input_image', image_url: dataUrl(part), detail: 'auto' }
    case 'file':
      return { type: 'input_file', filename: part.name ?? 'file', file_data: dataUrl(part) }
    case 'audio':
      return { type: 'input_text', text: `(An audio recording (${part.mediaType}) was here; this wire takes none.)` }
    default:
      return part satisfies never
  }
}

function dataUrl({ mediaType, data }: { readonly mediaType: string; readonly data: string }): string {
  return `data:${mediaType};base64,${data}`
}

function output({ content }: ToolMessage): string | WirePart[] {
  return content.every(({ type }) => type === 'text') ? joinTexts(content) || '(no output)' : wireParts(content)
}

function assistantItems(message: AssistantMessage, stamp: EndpointStamp, ids: CallIds): WireItem[] {
  const items: WireItem[] = []
  let phase: string | undefined
  for (const part of message.content) {
    switch (part.type) {
      case 'text':
        if (part.text !== '') items.push(messageItem(part.text, phase))
        phase = undefined
        break
      case 'reasoning': {
        const replay = replayOf(part, stamp)
        if (replay?.type === 'reasoning') items.push(thought(replay))
        if (replay?.type === 'message') phase = replay['phase'] as string
        break
      }
      case 'tool-call': {
        const { id, name } = part
        items.push({
          type: 'function_call',
          call_id: ids.next(id),
          name: wireToolName(name),
          arguments: argumentText(part),
        })
        break
      }
      default:
        part satisfies never
    }
  }
  // A thought alone is refused: what it led to never came.
  while (items.at(-1)?.type === 'reasoning') items.pop()
  return items
}

function messageItem(text: string, phase: string | undefined): WireItem {
  const content = [{ type: 'output_text', text }] as const
  return { type: 'message', role: 'assistant', content, ...(phase === undefined ? {} : { phase }) }
}

function replayOf({ replay }: ReasoningPart, stamp: EndpointStamp): WireReplay | null {
  if (!replay || replay.data === null || !sameStamp(replay.stamp, stamp)) return null
  return replay.data as WireReplay
}

function thought(item: WireReplay): WireThought {
  const { summary, encrypted_content } = item as unknown as WireThought
  return { type: 'reasoning', summary, encrypted_content }
}

/** Pairs calls with their outputs by ids that occur once in a conversation, whatever other servers and older logs call them. */
class CallIds {
  readonly #taken = new Set<string>()
  readonly #current = new Map<string, string>()

  /** The id of a call that begins here. */
  next(id: string): string {
    let wireId = wireCallId(id)
    for (let again = 2; this.#taken.has(wireId); again++) wireId = wireCallId(`${id}_${again}`)
    this.#taken.add(wireId)
    this.#current.set(id, wireId)
    return wireId
  }

  /** The id of the last call that began under this one. */
  current(id: string): string {
    return this.#current.get(id) ?? wireCallId(id)
  }
}
