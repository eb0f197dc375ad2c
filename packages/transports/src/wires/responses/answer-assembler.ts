import type { JsonValue } from '@hermes/contracts'
import type { AssistantPart, EndpointStamp, FinishReason, Usage } from '@hermes/contracts/conversation'
import type { ModelEvent, ModelFinish, ModelRequest } from '@hermes/contracts/model'
import { parseToolArguments } from '../../tool-arguments.js'
import { CallIds } from '../call-id.js'
import { pricedApart } from '../service-tier.js'
import type { WireEvent, WireOutputItem, WireResponse, WireUsage } from './wire-types.js'

type Slot =
  | { readonly type: 'message'; text: string; phase: string | null }
  | { readonly type: 'thought'; text: string; piece: string; item: WireOutputItem | null }
  | { readonly type: 'call'; readonly index: number; readonly id: string; name: string; argsText: string }
  | { readonly type: 'other' }

/** Between the parts of a summary. */
const GAP = '\n\n'

/** Puts the events of one answer together. Events go in by `push`, whole answers by `end`; `finish` gives the message. */
export class AnswerAssembler {
  readonly #stamp: EndpointStamp
  readonly #ids: CallIds
  readonly #slots = new Map<number | string, Slot>()
  #calls = 0
  #end: WireResponse | null = null

  constructor(request: ModelRequest, stamp: EndpointStamp) {
    this.#stamp = stamp
    this.#ids = new CallIds(request.messages)
  }

  /** Whether the server said that its answer is complete, be it good or not. */
  get isFinished(): boolean {
    return this.#end !== null
  }

  /** What the server gave in place of an answer; `null` while it gave none. */
  get failure(): unknown {
    const end = this.#end
    if (!end || (!end.error && end.status !== 'failed' && end.status !== 'cancelled')) return null
    return end.error ?? { code: 'server_error', message: `The answer ended with the status ${end.status}.` }
  }

  /** Takes in one event and gives what it added. */
  push(event: WireEvent): ModelEvent[] {
    const key = event.output_index ?? event.item_id ?? 0
    const delta = event.delta ?? ''
    switch (event.type) {
      case 'response.output_item.added':
        return event.item ? this.#open(key, event.item).events : []
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        return this.#say(this.#open(key, { type: 'message' }).slot, delta)
      case 'response.reasoning_summary_text.delta':
        return this.#think(this.#open(key, { type: 'reasoning' }).slot, delta, `summary ${event.summary_index ?? 0}`)
      case 'response.reasoning_text.delta':
        return this.#think(this.#open(key, { type: 'reasoning' }).slot, delta, `text ${event.content_index ?? 0}`)
      case 'response.function_call_arguments.delta':
        return this.#extendCall(this.#slots.get(key), delta)
      case 'response.output_item.done':
        return event.item ? this.#complete(key, event.item) : []
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        return this.end(event.response ?? {})
      case 'error':
        return this.end({ status: 'failed', error: { code: event.code ?? null, message: event.message ?? null } })
      default:
        // Heads, parts and ends of what other events carry whole, and kinds that the provider adds at any time.
        return []
    }
  }

  /** Takes in the last word of the server, and with it the answer where that did not come in pieces. */
  end(response: WireResponse): ModelEvent[] {
    const whole = this.#slots.size === 0 ? (response.output ?? []) : []
    const events = whole.flatMap((item, index) => this.#complete(index, item))
    this.#end = response
    return events
  }

  /** The complete answer. */
  async finish(): Promise<ModelFinish> {
    const content: AssistantPart[] = []
    for (const slot of this.#slots.values()) content.push(...(await toParts(slot, this.#stamp)))
    const finishReason = toFinishReason(this.#end, this.#calls > 0)
    const message = { role: 'assistant', content, finishReason } as const
    const usage = toUsage(this.#end?.usage)
    return { type: 'finish', message, usage, stamp: this.#stamp, ...pricedApart(this.#end?.service_tier) }
  }

  /** The slot of an item, and what its opening adds; some servers send pieces of items that they never announced. */
  #open(key: number | string, item: WireOutputItem): { readonly slot: Slot; readonly events: ModelEvent[] } {
    const known = this.#slots.get(key)
    if (known) return { slot: known, events: [] }
    const slot = this.#slotOf(item)
    this.#slots.set(key, slot)
    if (slot.type !== 'call') return { slot, events: [] }
    const { index, id, name } = slot
    return { slot, events: [{ type: 'tool-call-delta', index, id, name }] }
  }

  #slotOf(item: WireOutputItem): Slot {
    switch (item.type) {
      case 'message':
        return { type: 'message', text: '', phase: null }
      case 'reasoning':
        return { type: 'thought', text: '', piece: '', item: null }
      case 'function_call':
        return this.#callSlot(item)
      default:
        return { type: 'other' }
    }
  }

  #callSlot(item: WireOutputItem): Slot {
    const index = this.#calls++
    const input = item.call_id ?? ''
    const id = this.#ids.next(input)
    return { type: 'call', index, id, name: item.name ?? '', argsText: '' }
  }

  #say(slot: Slot, text: string): ModelEvent[] {
    if (slot.type !== 'message' || text === '') return []
    slot.text += text
    return [{ type: 'text-delta', text }]
  }

  #think(slot: Slot, delta: string, piece: string): ModelEvent[] {
    if (slot.type !== 'thought' || delta === '') return []
    const text = slot.text !== '' && slot.piece !== piece ? `${GAP}${delta}` : delta
    slot.piece = piece
    slot.text += text
    return [{ type: 'reasoning-delta', text }]
  }

  #extendCall(slot: Slot | undefined, argsText: string): ModelEvent[] {
    if (slot?.type !== 'call' || argsText === '') return []
    slot.argsText += argsText
    return [{ type: 'tool-call-delta', index: slot.index, argsText }]
  }

  /** An item as a whole: what its pieces did not bring is added. */
  #complete(key: number | string, item: WireOutputItem): ModelEvent[] {
    const { slot, events } = this.#open(key, item)
    switch (slot.type) {
      case 'message':
        slot.phase = item.phase ?? null
        return this.#say(slot, rest(slot.text, textsOf(item.content).join('')))
      case 'thought': {
        slot.item = item
        if (slot.text !== '') return []
        return this.#think(slot, [...textsOf(item.summary), ...textsOf(item.content)].join(GAP), '')
      }
      case 'call':
        return [...events, ...this.#extendCall(slot, rest(slot.argsText, item.arguments ?? ''))]
      case 'other':
        return []
      default:
        return slot satisfies never
    }
  }
}

function textsOf(parts: WireOutputItem['content']): string[] {
  return (parts ?? []).map(({ text, refusal }) => text ?? refusal ?? '').filter((text) => text !== '')
}

function rest(soFar: string, whole: string): string {
  return whole.startsWith(soFar) ? whole.slice(soFar.length) : ''
}

async function toParts(slot: Slot, stamp: EndpointStamp): Promise<AssistantPart[]> {
  switch (slot.type) {
    case 'message': {
      const { text, phase } = slot
      if (text === '') return []
      // What kind of message it was goes back with it, else the model takes what it said on the way for its answer.
      const data = { type: 'message', phase }
      const kind: AssistantPart[] = phase === null ? [] : [{ type: 'reasoning', text: '', replay: { stamp, data } }]
      return [...kind, { type: 'text', text }]
    }
    case 'thought': {
      const { text, item } = slot
      // The server keeps nothing, so a thought that is not sealed is known to nobody when it comes back.
      if (typeof item?.encrypted_content !== 'string') return text === '' ? [] : [{ type: 'reasoning', text }]
      const data = { ...item, summary: item.summary ?? [] } as unknown as JsonValue
      return [{ type: 'reasoning', text, replay: { stamp, data } }]
    }
    case 'call': {
      const { id, name, argsText } = slot
      const { args } = await parseToolArguments(argsText)
      return [{ type: 'tool-call', id, name, args, rawArgs: argsText }]
    }
    case 'other':
      return []
    default:
      return slot satisfies never
  }
}

function toFinishReason(end: WireResponse | null, hasCalls: boolean): FinishReason {
  switch (end?.incomplete_details?.reason ?? end?.status) {
    case 'max_output_tokens':
      return 'length'
    case 'content_filter':
      return 'content-filter'
    case 'completed':
      return hasCalls ? 'tool-calls' : 'stop'
    default:
      return hasCalls ? 'tool-calls' : 'unknown'
  }
}

function toUsage(usage: WireUsage | null | undefined): Usage {
  return {
    inputTokens: usage?.input_tokens ?? 0,
    outputTokens: usage?.output_tokens ?? 0,
    cacheReadTokens: usage?.input_tokens_details?.cached_tokens ?? 0,
    cacheWriteTokens: usage?.input_tokens_details?.cache_write_tokens ?? 0,
    reasoningTokens: usage?.output_tokens_details?.reasoning_tokens ?? 0,
    costUsd: usage?.cost ?? 'unknown',
  }
}
