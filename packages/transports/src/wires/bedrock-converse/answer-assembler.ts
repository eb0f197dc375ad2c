import type { AssistantPart, EndpointStamp, FinishReason, Usage } from '@hermes/contracts/conversation'
import type { ModelEvent, ModelFinish, ModelRequest } from '@hermes/contracts/model'
import { parseToolArguments } from '../../tool-arguments.js'
import { CallIds } from '../call-id.js'
import type { WireAnswer, WireBytes, WireEvent, WireReasoning, WireUsage } from './wire-types.js'

type Block =
  | { readonly type: 'text'; text: string }
  | { readonly type: 'thinking'; text: string; signature: string }
  | { readonly type: 'redacted'; readonly pieces: Buffer[] }
  | { readonly type: 'call'; readonly index: number; readonly id: string; readonly name: string; argsText: string }

/** Puts the events of one answer together. Events go in by `push`, whole answers by `pushWhole`; `finish` gives the message. */
export class AnswerAssembler {
  readonly #stamp: EndpointStamp
  readonly #ids: CallIds
  readonly #blocks = new Map<number, Block>()
  #calls = 0
  #stopReason: string | null = null
  #usage: Partial<WireUsage> = {}

  constructor(request: ModelRequest, stamp: EndpointStamp) {
    this.#stamp = stamp
    this.#ids = new CallIds(request.messages)
  }

  /** Whether the server said that its answer is complete. */
  get isFinished(): boolean {
    return this.#stopReason !== null
  }

  /** Whether the model said something that the server could make nothing of, and no call came of it. */
  get isMalformed(): boolean {
    return this.#calls === 0 && /^malformed_/.test(this.#stopReason ?? '')
  }

  /** Takes in one event and gives what it added. */
  push(event: WireEvent): ModelEvent[] {
    const { contentBlockStart, contentBlockDelta, messageStop, metadata } = event
    if (messageStop) this.#stopReason = messageStop.stopReason ?? 'end_turn'
    if (metadata?.usage) this.#usage = metadata.usage
    if (contentBlockStart?.start?.toolUse)
      return this.#openCall(contentBlockStart.contentBlockIndex ?? 0, contentBlockStart.start.toolUse)
    const { contentBlockIndex = 0, delta } = contentBlockDelta ?? {}
    if (delta?.text) return this.#addText(contentBlockIndex, delta.text)
    if (delta?.reasoningContent) return this.#addThought(contentBlockIndex, delta.reasoningContent)
    if (delta?.toolUse?.input) return this.#addArguments(contentBlockIndex, delta.toolUse.input)
    return []
  }

  /** Takes in an answer that came in one piece. */
  pushWhole({ output, stopReason, usage }: WireAnswer): void {
    output?.message?.content?.forEach(({ text, toolUse, reasoningContent }, index) => {
      if (text) this.#addText(index, text)
      if (reasoningContent) {
        const { reasoningText, redactedContent } = reasoningContent
        this.#addThought(index, { ...reasoningText, redactedContent })
      }
      if (toolUse) {
        this.#openCall(index, toolUse)
        this.#addArguments(index, JSON.stringify(toolUse.input ?? {}))
      }
    })
    this.#usage = usage ?? {}
    this.#stopReason = stopReason ?? 'end_turn'
  }

  /** The complete answer. */
  async finish(): Promise<ModelFinish> {
    const content: AssistantPart[] = []
    for (const block of this.#blocks.values()) {
      const part = await toPart(block, this.#stamp)
      if (part) content.push(part)
    }
    const finishReason = toFinishReason(this.#stopReason, this.#calls > 0)
    const message = { role: 'assistant', content, finishReason } as const
    return { type: 'finish', message, usage: toUsage(this.#usage), stamp: this.#stamp }
  }

  /** Only calls have an event for their start; other blocks begin with their first piece. */
  #addText(index: number, text: string): ModelEvent[] {
    const block = this.#blocks.get(index)
    if (block === undefined) this.#blocks.set(index, { type: 'text', text })
    else if (block.type === 'text') block.text += text
    else return []
    return [{ type: 'text-delta', text }]
  }

  #addThought(index: number, { text = '', signature = '', redactedContent }: WireReasoning): ModelEvent[] {
    if (redactedContent !== undefined) {
      const block = this.#blocks.get(index)
      if (block === undefined) this.#blocks.set(index, { type: 'redacted', pieces: [toBuffer(redactedContent)] })
      else if (block.type === 'redacted') block.pieces.push(toBuffer(redactedContent))
      return []
    }
    const block = this.#blocks.get(index) ?? { type: 'thinking', text: '', signature: '' }
    if (block.type !== 'thinking') return []
    this.#blocks.set(index, block)
    block.text += text
    block.signature += signature
    return text === '' ? [] : [{ type: 'reasoning-delta', text }]
  }

  #openCall(at: number, start: { readonly toolUseId?: string | undefined; readonly name?: string | undefined }) {
    const index = this.#calls++
    const { toolUseId: input = '', name = '' } = start
    const id = this.#ids.next(input)
    this.#blocks.set(at, { type: 'call', index, id, name, argsText: '' })
    return [{ type: 'tool-call-delta', index, id, name } as const]
  }

  #addArguments(index: number, argsText: string): ModelEvent[] {
    const block = this.#blocks.get(index)
    if (block?.type !== 'call') return []
    block.argsText += argsText
    return [{ type: 'tool-call-delta', index: block.index, argsText }]
  }
}

function toBuffer(bytes: WireBytes): Buffer {
  return typeof bytes === 'string' ? Buffer.from(bytes, 'base64') : Buffer.from(bytes)
}

async function toPart(block: Block, stamp: EndpointStamp): Promise<AssistantPart | null> {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text }
    case 'thinking': {
      const { text, signature } = block
      // A thought without a signature was cut off before it, or comes from a model that does not want it back.
      if (signature === '') return text === '' ? null : { type: 'reasoning', text }
      return { type: 'reasoning', text, replay: { stamp, data: { reasoningText: { text, signature } } } }
    }
    case 'redacted': {
      const redactedContent = Buffer.concat(block.pieces).toString('base64')
      return { type: 'reasoning', text: '', replay: { stamp, data: { redactedContent } } }
    }
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
    case 'content_filtered':
    case 'guardrail_intervened':
      return 'content-filter'
    case 'end_turn':
    case 'stop_sequence':
    case 'tool_use':
      return hasCalls ? 'tool-calls' : 'stop'
    default:
      return hasCalls ? 'tool-calls' : 'unknown'
  }
}

/** Input is counted without what was read from the cache or written to it. */
function toUsage(usage: Partial<WireUsage>): Usage {
  const cacheReadTokens = usage.cacheReadInputTokens ?? 0
  const cacheWriteTokens = usage.cacheWriteInputTokens ?? 0
  return {
    inputTokens: (usage.inputTokens ?? 0) + cacheReadTokens + cacheWriteTokens,
    outputTokens: usage.outputTokens ?? 0,
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens: 0,
    costUsd: 'unknown',
  }
}
