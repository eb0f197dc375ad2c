import type { JsonObject, JsonValue } from '@hermes/contracts'
import type { AssistantPart, EndpointStamp, FinishReason, ToolCallPart, Usage } from '@hermes/contracts/conversation'
import type { ModelEvent, ModelFinish, ModelRequest } from '@hermes/contracts/model'
import type { ProviderQuirks } from '../../catalogue.js'
import { parseToolArguments } from '../../tool-arguments.js'
import { CallIds } from '../call-id.js'
import { pricedApart } from '../service-tier.js'
import { eventsOf, type SortedText, ThinkTags } from '../think-tags.js'
import { pushDetail, toReplayData } from './replay.js'
import type { WireCallDelta, WireChunk, WireDelta, WireUsage } from './wire-types.js'

interface CallSlot {
  readonly index: number
  /** What the server calls it, for matching later pieces. */
  readonly wireIndex: number | null
  readonly wireId: string
  /** What Hermes calls it: the server's id, unless that is missing or taken. */
  readonly id: string
  name: string
  argsText: string
  extra?: JsonValue
}

/** Puts the pieces of one answer together. Pieces go in by `push`, whole completions too; `finish` gives the message. */
export class AnswerAssembler {
  readonly #stamp: EndpointStamp
  readonly #ids: CallIds
  readonly #slots: CallSlot[] = []
  readonly #details: JsonObject[] = []
  readonly #sorter: ThinkTags
  #text = ''
  #reasoning = ''
  #finishReason: string | null = null
  #usage: WireUsage | null = null
  #tier: string | null = null

  constructor(request: ModelRequest, stamp: EndpointStamp, { thinkTags = [] }: ProviderQuirks = {}) {
    this.#sorter = new ThinkTags(thinkTags)
    this.#stamp = stamp
    this.#ids = new CallIds(request.messages)
  }

  /** Whether the server said that its answer is complete. */
  get isFinished(): boolean {
    return this.#finishReason !== null
  }

  /** Takes in one chunk and gives what it added. */
  push(chunk: WireChunk): ModelEvent[] {
    if (chunk.usage) this.#usage = chunk.usage
    if (chunk.service_tier) this.#tier = chunk.service_tier
    const choice = chunk.choices?.[0]
    if (!choice) return []
    if (choice.finish_reason) this.#finishReason = choice.finish_reason
    const delta = choice.delta ?? choice.message
    return delta ? this.#pushDelta(delta) : []
  }

  /** The complete answer. */
  async finish(): Promise<ModelFinish> {
    this.#take(this.#sorter.end())
    const { reasoning, text } =
      this.#reasoning === '' ? this.#sorter.splitOrphan(this.#text) : { reasoning: this.#reasoning, text: this.#text }
    const content: AssistantPart[] = []
    const callExtras = Object.fromEntries(
      this.#slots.flatMap(({ id, extra }) => (extra === undefined ? [] : [[id, extra] as const])),
    )
    const data = toReplayData({ details: this.#details, callExtras })
    if (reasoning !== '' || data !== null)
      content.push({ type: 'reasoning', text: reasoning, replay: { stamp: this.#stamp, data } })
    if (text !== '') content.push({ type: 'text', text })
    for (const slot of this.#slots) content.push(await toPart(slot))
    const finishReason = toFinishReason(this.#finishReason, this.#slots.length > 0)
    const message = { role: 'assistant', content, finishReason } as const
    const usage = toUsage(this.#usage)
    return { type: 'finish', message, usage, stamp: this.#stamp, ...pricedApart(this.#tier) }
  }

  #pushDelta(delta: WireDelta): ModelEvent[] {
    const events: ModelEvent[] = []
    for (const detail of delta.reasoning_details ?? []) pushDetail(this.#details, detail)
    const reasoning = delta.reasoning_content || delta.reasoning
    if (typeof reasoning === 'string') events.push(...this.#take({ reasoning, text: '' }))
    const text = textOf(delta.content) || delta.refusal
    if (text) events.push(...this.#take(this.#sorter.push(text)))
    const legacy = delta.function_call ? [{ index: 0, function: delta.function_call }] : []
    for (const call of [...(delta.tool_calls ?? []), ...legacy]) {
      const event = this.#pushCall(call)
      if (event) events.push(event)
    }
    return events
  }

  #take(sorted: SortedText): ModelEvent[] {
    this.#reasoning += sorted.reasoning
    this.#text += sorted.text
    return eventsOf(sorted)
  }

  #pushCall(delta: WireCallDelta): ModelEvent | null {
    const existing = this.#findSlot(delta)
    const slot = existing ?? this.#openSlot(delta)
    const piece = delta.function?.name ?? ''
    // Some servers repeat the whole name with every piece; none sends more of it once arguments have begun.
    const name = slot.argsText === '' && piece !== slot.name ? piece : ''
    const argsText = argumentPiece(delta.function?.arguments)
    slot.name += name
    slot.argsText += argsText
    if (delta.extra_content !== undefined) slot.extra = delta.extra_content
    if (existing && name === '' && argsText === '') return null
    return {
      type: 'tool-call-delta',
      index: slot.index,
      ...(existing ? {} : { id: slot.id }),
      ...(name === '' ? {} : { name }),
      ...(argsText === '' ? {} : { argsText }),
    }
  }

  #findSlot(delta: WireCallDelta): CallSlot | undefined {
    const id = delta.id ?? ''
    const name = delta.function?.name ?? ''
    if (typeof delta.index === 'number') {
      const slot = this.#slots.findLast(({ wireIndex }) => wireIndex === delta.index)
      // The same index with another id and a name is another call: some servers number every call 0.
      const another = slot !== undefined && id !== '' && slot.wireId !== '' && id !== slot.wireId && name !== ''
      return another ? undefined : slot
    }
    if (id !== '') return this.#slots.find(({ wireId }) => wireId === id)
    return name === '' ? this.#slots.at(-1) : undefined
  }

  #openSlot(delta: WireCallDelta): CallSlot {
    const index = this.#slots.length
    const wireId = delta.id ?? ''
    const id = this.#ids.next(wireId)
    const slot: CallSlot = { index, wireIndex: delta.index ?? null, wireId, id, name: '', argsText: '' }
    this.#slots.push(slot)
    return slot
  }
}

async function toPart({ id, name, argsText }: CallSlot): Promise<ToolCallPart> {
  const { args } = await parseToolArguments(argsText)
  return { type: 'tool-call', id, name, args, rawArgs: argsText }
}

function textOf(content: WireDelta['content']): string {
  if (typeof content === 'string') return content
  return content?.map((part) => part.text ?? '').join('') ?? ''
}

function argumentPiece(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}

function toFinishReason(reason: string | null, hasCalls: boolean): FinishReason {
  switch (reason) {
    case 'tool_calls':
    case 'function_call':
    case 'tool_use':
      return hasCalls ? 'tool-calls' : 'stop'
    case 'stop':
    case 'eos':
    case 'end_turn':
      return hasCalls ? 'tool-calls' : 'stop'
    case 'length':
    case 'max_tokens':
      return 'length'
    case 'content_filter':
      return 'content-filter'
    default:
      return hasCalls ? 'tool-calls' : 'unknown'
  }
}

function toUsage(usage: WireUsage | null): Usage {
  return {
    inputTokens: usage?.prompt_tokens ?? 0,
    outputTokens: usage?.completion_tokens ?? 0,
    cacheReadTokens: usage?.prompt_tokens_details?.cached_tokens ?? 0,
    cacheWriteTokens: usage?.prompt_tokens_details?.cache_write_tokens ?? 0,
    reasoningTokens: usage?.completion_tokens_details?.reasoning_tokens ?? 0,
    costUsd: usage?.cost ?? 'unknown',
  }
}
