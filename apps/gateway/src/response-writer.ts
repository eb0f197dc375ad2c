// Answers in the form of the Responses API, as one body and as a stream of events.
import type { NoticeText } from '@hermes/agent-core'
import type { JsonObject } from '@hermes/contracts'
import type { ApiError } from './api-error.js'
import type { Ending, Envelope, ReplyWriter } from './completion.js'
import type { CommandReport, ToolProgress } from './reply.js'
import { itemId } from './response-id.js'
import type { ResponsesRequest } from './responses-request.js'
import type { KeptApproval } from './waiting.js'

type Item = Readonly<Record<string, unknown>> & { readonly id: string; readonly type: string }

/** What all parts of one response share. */
interface ResponseEnvelope extends Envelope {
  readonly previous: string | null
  readonly echo: ResponsesRequest['echo']
}

/** The response as one body. */
export function responseBody(envelope: ResponseEnvelope, ending: Ending): object {
  const { text, thoughts, waiting } = ending
  const words = [text, waiting].filter((part) => part !== '').join('\n\n')
  return finished(envelope, ending, [
    ...(thoughts === '' ? [] : [reasoningItem(itemId(envelope, 'rs', 0), thoughts)]),
    ...spokenItems(envelope, { text: words, calls: ending.calls }),
  ])
}

/** A response of before, of which the words and the calls of the client's tools are known. */
export function pastBody(envelope: ResponseEnvelope, spoken: Pick<Ending, 'text' | 'calls'>): object {
  return shell(envelope, { status: 'completed', output: spokenItems(envelope, spoken) })
}

function spokenItems(envelope: ResponseEnvelope, { text, calls }: Pick<Ending, 'text' | 'calls'>): readonly Item[] {
  return [
    ...(text === '' && calls.length > 0 ? [] : [messageItem(itemId(envelope, 'msg', 0), text, 'completed')]),
    ...calls.map((call, index) => callItem(itemId(envelope, 'fc', index), call, 'completed')),
  ]
}

/** Writes the events of a streamed response. */
export class ResponseWriter implements ReplyWriter {
  readonly #envelope: ResponseEnvelope
  readonly #output: Item[] = []
  #sequence = 0
  /** The item that grows, and what it says so far. */
  #open: { readonly kind: 'reasoning' | 'message'; readonly id: string; text: string } | null = null

  constructor(envelope: ResponseEnvelope) {
    this.#envelope = envelope
  }

  begin(): string {
    const response = shell(this.#envelope, { status: 'in_progress', output: [] })
    return this.#event('response.created', { response }) + this.#event('response.in_progress', { response })
  }

  text(delta: string): string {
    const begun = this.#begin('message')
    const { id } = this.#grow(delta)
    return begun + this.#event('response.output_text.delta', { ...this.#at(id), content_index: 0, delta, logprobs: [] })
  }

  thought(delta: string): string {
    const begun = this.#begin('reasoning')
    const { id } = this.#grow(delta)
    return begun + this.#event('response.reasoning_summary_text.delta', { ...this.#at(id), summary_index: 0, delta })
  }

  tool(tool: ToolProgress): string {
    return this.#event('hermes.tool.progress', { tool })
  }

  notice(notice: NoticeText): string {
    return this.#event('hermes.notice', { notice })
  }

  command(command: CommandReport): string {
    return this.#event('hermes.command', { command })
  }

  approval(approval: KeptApproval): string {
    return this.#event('hermes.approval', { approval })
  }

  end(ending: Ending): string {
    const closed = this.#close()
    const calls = ending.calls.map((call) => {
      const id = itemId(this.#envelope, 'fc', this.#output.length)
      const done = callItem(id, call, 'completed')
      const lines = [
        this.#event('response.output_item.added', {
          output_index: this.#output.length,
          item: callItem(id, { ...call, arguments: '' }, 'in_progress'),
        }),
        this.#event('response.function_call_arguments.delta', { ...this.#at(id), delta: call.arguments }),
        this.#event('response.function_call_arguments.done', {
          ...this.#at(id),
          name: call.name,
          arguments: call.arguments,
        }),
        this.#event('response.output_item.done', { output_index: this.#output.length, item: done }),
      ]
      this.#output.push(done)
      return lines.join('')
    })
    const response = finished(this.#envelope, ending, this.#output)
    const name = isCut(ending) ? 'response.incomplete' : 'response.completed'
    return closed + calls.join('') + this.#event(name, { response })
  }

  fail({ code, message }: ApiError): string {
    const closed = this.#close()
    const response = shell(this.#envelope, { status: 'failed', output: this.#output, error: { code, message } })
    return closed + this.#event('response.failed', { response })
  }

  #begin(kind: 'reasoning' | 'message'): string {
    if (this.#open?.kind === kind) return ''
    const closed = this.#close()
    const id = itemId(this.#envelope, kind === 'message' ? 'msg' : 'rs', this.#output.length)
    this.#open = { kind, id, text: '' }
    const item = kind === 'message' ? messageItem(id, null, 'in_progress') : reasoningItem(id, null)
    return (
      closed +
      this.#event('response.output_item.added', { output_index: this.#output.length, item }) +
      this.#event(PART[kind].added, { ...this.#at(id), [PART[kind].index]: 0, part: PART[kind].of('') })
    )
  }

  #grow(delta: string): { readonly id: string } {
    const open = this.#open!
    open.text += delta
    return open
  }

  #close(): string {
    if (!this.#open) return ''
    const { kind, id, text } = this.#open
    this.#open = null
    const part = PART[kind]
    const item = kind === 'message' ? messageItem(id, text, 'completed') : reasoningItem(id, text)
    const at = { ...this.#at(id), [part.index]: 0 }
    const lines =
      this.#event(part.textDone, { ...at, text, ...(kind === 'message' ? { logprobs: [] } : {}) }) +
      this.#event(part.done, { ...at, part: part.of(text) }) +
      this.#event('response.output_item.done', { output_index: this.#output.length, item })
    this.#output.push(item)
    return lines
  }

  #at(id: string) {
    return { item_id: id, output_index: this.#output.length }
  }

  #event(type: string, fields: object): string {
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: this.#sequence++, ...fields })}\n\n`
  }
}

const PART = {
  message: {
    added: 'response.content_part.added',
    textDone: 'response.output_text.done',
    done: 'response.content_part.done',
    index: 'content_index',
    of: (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] }),
  },
  reasoning: {
    added: 'response.reasoning_summary_part.added',
    textDone: 'response.reasoning_summary_text.done',
    done: 'response.reasoning_summary_part.done',
    index: 'summary_index',
    of: (text: string) => ({ type: 'summary_text', text }),
  },
} as const

function messageItem(id: string, text: string | null, status: 'in_progress' | 'completed'): Item {
  return { id, type: 'message', status, role: 'assistant', content: text === null ? [] : [PART.message.of(text)] }
}

function reasoningItem(id: string, text: string | null): Item {
  return { id, type: 'reasoning', summary: text === null ? [] : [PART.reasoning.of(text)] }
}

function callItem(id: string, call: Ending['calls'][number], status: 'in_progress' | 'completed'): Item {
  return { id, type: 'function_call', status, call_id: call.id, name: call.name, arguments: call.arguments }
}

const isCut = ({ finishReason }: Ending): boolean => finishReason === 'length' || finishReason === 'content_filter'

function finished(envelope: ResponseEnvelope, ending: Ending, output: readonly Item[]): object {
  const { usage, finishReason, hermes } = ending
  return {
    ...shell(envelope, { status: isCut(ending) ? 'incomplete' : 'completed', output }),
    incomplete_details: isCut(ending)
      ? { reason: finishReason === 'length' ? 'max_output_tokens' : 'content_filter' }
      : null,
    usage: {
      input_tokens: usage.inputTokens,
      input_tokens_details: { cached_tokens: usage.cacheReadTokens },
      output_tokens: usage.outputTokens,
      output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
      total_tokens: usage.inputTokens + usage.outputTokens,
    },
    hermes,
  }
}

/** Every field that readers of this form may look for. */
function shell(
  { id, created, model, previous, echo }: ResponseEnvelope,
  {
    error = null,
    ...state
  }: { readonly status: string; readonly output: readonly Item[]; readonly error?: JsonObject | null },
): object {
  return {
    id,
    object: 'response',
    created_at: created,
    model,
    ...state,
    error,
    incomplete_details: null,
    previous_response_id: previous,
    ...echo,
    background: false,
    parallel_tool_calls: true,
    store: true,
    top_p: null,
    truncation: 'disabled',
    usage: null,
  }
}
