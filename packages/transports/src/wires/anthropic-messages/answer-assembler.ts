import type { AssistantPart, EndpointStamp, FinishReason, Usage } from '@hermes/contracts/conversation'
import type { ModelEvent, ModelFinish, ModelRequest } from '@hermes/contracts/model'
import type { ProviderQuirks } from '../../catalogue.js'
import { parseToolArguments } from '../../tool-arguments.js'
import { CallIds } from '../call-id.js'
import { pricedApart } from '../service-tier.js'
import { eventsOf, type SortedText, ThinkTags } from '../think-tags.js'
import type { WireAnswer, WireAnswerBlock, WireBlockDelta, WireEvent, WireUsage } from './wire-types.js'

type Block =
  | { readonly type: 'text'; text: string; thoughts: string; readonly sorter: ThinkTags }
  | { readonly type: 'thinking'; text: string; signature: string }
  | { readonly type: 'redacted'; readonly data: string }
  | { readonly type: 'call'; readonly index: number; readonly id: string; readonly name: string; argsText: string }

/** Puts the events of one answer together. Events go in by `push`, whole answers by `pushWhole`; `finish` gives the message. */
export class AnswerAssembler {
  readonly #stamp: EndpointStamp
  readonly #thinkTags: readonly string[]
  readonly #ids: CallIds
  readonly #blocks = new Map<number, Block>()
  #calls = 0
  #stopReason: string | null = null
  #stopped = false
  #usage: WireUsage = {}

  constructor(request: ModelRequest, stamp: EndpointStamp, { thinkTags = [] }: ProviderQuirks = {}) {
    this.#thinkTags = thinkTags
    this.#stamp = stamp
    this.#ids = new CallIds(request.messages)
  }

  /** Whether the server said that its answer is complete. */
  get isFinished(): boolean {
    return this.#stopped || this.#stopReason !== null
  }

  /** Whether nothing more comes. */
  get isOver(): boolean {
    return this.#stopped
  }

  /** Takes in one event and gives what it added. */
  push(event: WireEvent): ModelEvent[] {
    switch (event.type) {
      case 'message_start':
        this.#count(event.message.usage)
        return []
      case 'content_block_start':
        return this.#open(event.index, event.content_block)
      case 'content_block_delta':
        return this.#extend(this.#blocks.get(event.index), event.delta)
      case 'message_delta':
        this.#stopReason = event.delta.stop_reason ?? this.#stopReason
        this.#count(event.usage)
        return []
      case 'message_stop':
        this.#stopped = true
        return []
      case 'content_block_stop':
      case 'ping':
        return []
      default:
        // The provider may add kinds of events at any time.
        event satisfies never
        return []
    }
  }

  /** Takes in an answer that came in one piece. */
  pushWhole(answer: WireAnswer): void {
    answer.content?.forEach((block, index) => {
      this.#open(index, block)
    })
    this.#count(answer.usage)
    this.#stopReason = answer.stop_reason ?? null
    this.#stopped = true
  }

  /** The complete answer. */
  async finish(): Promise<ModelFinish> {
    const content: AssistantPart[] = []
    for (const block of this.#blocks.values()) {
      if (block.type === 'text') take(block, block.sorter.end())
      content.push(...(await toParts(block, this.#stamp)))
    }
    const finishReason = toFinishReason(this.#stopReason, this.#calls > 0)
    const message = { role: 'assistant', content, finishReason } as const
    const usage = toUsage(this.#usage)
    return { type: 'finish', message, usage, stamp: this.#stamp, ...pricedApart(this.#usage.speed) }
  }

  #open(index: number, start: WireAnswerBlock): ModelEvent[] {
    switch (start.type) {
      case 'text':
        return this.#begin(
          index,
          { type: 'text', text: '', thoughts: '', sorter: new ThinkTags(this.#thinkTags) },
          { type: 'text_delta', text: start.text },
        )
      case 'thinking': {
        const block: Block = { type: 'thinking', text: '', signature: start.signature ?? '' }
        return this.#begin(index, block, { type: 'thinking_delta', thinking: start.thinking })
      }
      case 'redacted_thinking':
        this.#blocks.set(index, { type: 'redacted', data: start.data ?? '' })
        return []
      case 'tool_use':
        return this.#openCall(index, start)
      default:
        return []
    }
  }

  #begin(index: number, block: Block, first: WireBlockDelta): ModelEvent[] {
    this.#blocks.set(index, block)
    return this.#extend(block, first)
  }

  #openCall(at: number, start: WireAnswerBlock): ModelEvent[] {
    const index = this.#calls++
    const input = start.id ?? ''
    const id = this.#ids.next(input)
    const name = start.name ?? ''
    // A stream starts with an empty input and sends it in pieces; some servers send all of it here.
    const argsText = isEmpty(start.input) ? '' : JSON.stringify(start.input)
    this.#blocks.set(at, { type: 'call', index, id, name, argsText })
    return [{ type: 'tool-call-delta', index, id, name, ...(argsText === '' ? {} : { argsText }) }]
  }

  #extend(block: Block | undefined, delta: WireBlockDelta): ModelEvent[] {
    const { text = '', thinking = '', partial_json = '' } = delta
    if (block?.type === 'text' && text !== '') return take(block, block.sorter.push(text))
    if (block?.type === 'thinking') {
      block.text += thinking
      block.signature += delta.signature ?? ''
      return thinking === '' ? [] : [{ type: 'reasoning-delta', text: thinking }]
    }
    if (block?.type === 'call' && partial_json !== '') {
      block.argsText += partial_json
      return [{ type: 'tool-call-delta', index: block.index, argsText: partial_json }]
    }
    return []
  }

  /** Later counts replace earlier ones: they are cumulative, and may leave out what has not changed. */
  #count(usage: WireUsage | null | undefined): void {
    const known = Object.entries(usage ?? {}).filter(([, value]) => value !== null)
    this.#usage = { ...this.#usage, ...Object.fromEntries(known) }
  }
}

function isEmpty(input: unknown): boolean {
  return typeof input !== 'object' || input === null || Object.keys(input).length === 0
}

function take(block: Extract<Block, { type: 'text' }>, sorted: SortedText): ModelEvent[] {
  block.thoughts += sorted.reasoning
  block.text += sorted.text
  return eventsOf(sorted)
}

async function toParts(block: Block, stamp: EndpointStamp): Promise<readonly AssistantPart[]> {
  if (block.type !== 'text') return [(await toPart(block, stamp)) ?? []].flat()
  const { thoughts, text } = block
  return [
    ...(thoughts === '' ? [] : [{ type: 'reasoning', text: thoughts } as const]),
    ...(text === '' ? [] : [{ type: 'text', text } as const]),
  ]
}

async function toPart(block: Exclude<Block, { type: 'text' }>, stamp: EndpointStamp): Promise<AssistantPart | null> {
  switch (block.type) {
    case 'thinking': {
      const { text, signature } = block
      // A thought that was cut off before its signature is refused when it comes back.
      if (signature === '') return text === '' ? null : { type: 'reasoning', text }
      return { type: 'reasoning', text, replay: { stamp, data: { type: 'thinking', thinking: text, signature } } }
    }
    case 'redacted':
      return { type: 'reasoning', text: '', replay: { stamp, data: { type: 'redacted_thinking', data: block.data } } }
    case 'call': {
      const { id, name, argsText } = block
      const { args } = await parseToolArguments(argsText)
      return { type: 'tool-call', id, name, args, rawArgs: argsText }
    }
    default:
      return block satisfies never
  }
}

function toFinishReason(reason: string | null, hasCalls: boolean): FinishReason {
  switch (reason) {
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'length'
    case 'refusal':
      return 'content-filter'
    case 'end_turn':
    case 'stop_sequence':
    case 'tool_use':
      return hasCalls ? 'tool-calls' : 'stop'
    default:
      return hasCalls ? 'tool-calls' : 'unknown'
  }
}

function toUsage(usage: WireUsage): Usage {
  const cacheReadTokens = usage.cache_read_input_tokens ?? 0
  const cacheWriteTokens = usage.cache_creation_input_tokens ?? 0
  return {
    inputTokens: (usage.input_tokens ?? 0) + cacheReadTokens + cacheWriteTokens,
    outputTokens: usage.output_tokens ?? 0,
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens: usage.output_tokens_details?.thinking_tokens ?? 0,
    costUsd: 'unknown',
  }
}
