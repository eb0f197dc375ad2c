import { createHash } from 'node:crypto'
import { checkResponsesRequest } from './responses-body.js'
import { type AnswerContext, argumentText, countTokens, deltas, type ServedWire } from './served-wire.js'

const CREATED_SECONDS = 1_700_000_000

/** The OpenAI Responses protocol. Thoughts are sealed for one model, and refused when they come back to another. */
export const responses: ServedWire = {
  api: 'responses',
  check: (body) => checkResponsesRequest(body, isSealed),
  stream: streamEvents,
  whole: responseBody,
  refusal: (_status, message) => ({ error: { message, type: 'scripted_error', param: null, code: null } }),
  errorEvent: (type, message, sent) =>
    new EventWriter(sent.split('"sequence_number":').length - 1).write({
      type: 'error',
      code: type,
      message,
      param: null,
    }),
  garbled: 'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":\n\n',
}

function seal(model: string, thought: string): string {
  const text = Buffer.from(thought, 'utf8').toString('base64')
  return `gAAAA.${text}.${createHash('sha256').update(`${model}\n${thought}`).digest('base64url')}`
}

function isSealed(model: string, sealed: string): boolean {
  const [, text = ''] = sealed.split('.')
  return seal(model, Buffer.from(text, 'base64').toString('utf8')) === sealed
}

/** Frames events as the protocol has it and numbers them. */
class EventWriter {
  #sequence: number

  constructor(sequence = 0) {
    this.#sequence = sequence
  }

  write(data: { readonly type: string; readonly [key: string]: unknown }): string {
    return `event: ${data.type}\ndata: ${JSON.stringify({ ...data, sequence_number: this.#sequence++ })}\n\n`
  }
}

/** One output item: at its start in a stream, what comes between, and whole. */
interface Item {
  readonly start: object
  readonly whole: object
  /** Events before the deltas, the deltas, and events after them; all get the ids of the item. */
  readonly opening?: object
  readonly deltas: readonly object[]
  readonly closing: readonly object[]
}

function itemsOf(context: AnswerContext): Item[] {
  const { step, number } = context
  const items: Item[] = []
  if (step.reasoning !== undefined) items.push(thoughtItem(context, step.reasoning))
  if (step.text !== undefined) items.push(messageItem(context, step.text))
  step.toolCalls?.forEach((call, index) => {
    const id = `fc_${number}_${index}`
    const head = { id, type: 'function_call', call_id: call.id ?? `call_${number}_${index}`, name: call.name }
    const text = argumentText(call)
    items.push({
      start: { ...head, status: 'in_progress', arguments: '' },
      whole: { ...head, status: 'completed', arguments: text },
      deltas: deltas(text, step).map((delta) => ({ type: 'response.function_call_arguments.delta', delta })),
      closing: [{ type: 'response.function_call_arguments.done', name: call.name, arguments: text }],
    })
  })
  return items
}

function messageItem({ step, number }: AnswerContext, text: string): Item {
  const head = { id: `msg_${number}`, type: 'message', role: 'assistant' }
  const phase = step.phase === undefined ? {} : { phase: step.phase }
  const part = (value: string) => ({ type: 'output_text', text: value, annotations: [], logprobs: [] })
  const at = { content_index: 0 }
  return {
    start: { ...head, ...phase, status: 'in_progress', content: [] },
    whole: { ...head, ...phase, status: 'completed', content: [part(text)] },
    opening: { type: 'response.content_part.added', ...at, part: part('') },
    deltas: deltas(text, step).map((delta) => ({ type: 'response.output_text.delta', ...at, delta, logprobs: [] })),
    closing: [
      { type: 'response.output_text.done', ...at, text, logprobs: [] },
      { type: 'response.content_part.done', ...at, part: part(text) },
    ],
  }
}

/** A summary where one was asked for; else the thought itself, as servers of open models give it. */
function thoughtItem({ step, body, number }: AnswerContext, text: string): Item {
  const include = (body['include'] ?? []) as readonly string[]
  const sealed = include.includes('reasoning.encrypted_content') ? { encrypted_content: seal(body.model, text) } : {}
  const head = { id: `rs_${number}`, type: 'reasoning', ...sealed }
  const requested = (body['reasoning'] as { readonly summary?: string } | undefined)?.summary !== undefined
  const pieces = deltas(text, step)
  if (!requested)
    return {
      start: { ...head, summary: [] },
      whole: { ...head, summary: [], content: [{ type: 'reasoning_text', text }] },
      deltas: pieces.map((delta) => ({ type: 'response.reasoning_text.delta', content_index: 0, delta })),
      closing: [{ type: 'response.reasoning_text.done', content_index: 0, text }],
    }
  const part = (value: string) => ({ type: 'summary_text', text: value })
  const at = { summary_index: 0 }
  return {
    start: { ...head, summary: [] },
    whole: { ...head, summary: [part(text)] },
    opening: { type: 'response.reasoning_summary_part.added', ...at, part: part('') },
    deltas: pieces.map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...at, delta })),
    closing: [
      { type: 'response.reasoning_summary_text.done', ...at, text },
      { type: 'response.reasoning_summary_part.done', ...at, part: part(text) },
    ],
  }
}

/** The first piece says that an answer begins; each further one carries one delta, with the start of its item before it. */
function streamEvents(context: AnswerContext): string[] {
  const writer = new EventWriter()
  const begun = { ...responseBody(context), status: 'in_progress', output: [], usage: null, incomplete_details: null }
  const pieces = [
    writer.write({ type: 'response.created', response: begun }) +
      writer.write({ type: 'response.in_progress', response: begun }),
  ]
  itemsOf(context).forEach((item, output_index) => {
    const ids = { item_id: (item.whole as { readonly id: string }).id, output_index }
    const write = (event: object) => writer.write({ ...(event as { type: string }), ...ids })
    let head = writer.write({ type: 'response.output_item.added', output_index, item: item.start })
    if (item.opening) head += write(item.opening)
    for (const delta of item.deltas) {
      pieces.push(head + write(delta))
      head = ''
    }
    const closing = item.closing.map(write).join('')
    pieces.push(head + closing + writer.write({ type: 'response.output_item.done', output_index, item: item.whole }))
  })
  const response = responseBody(context)
  if (response.status !== null) pieces.push(writer.write({ type: `response.${response.status}`, response }))
  return pieces
}

function responseBody(context: AnswerContext) {
  const { step, body, number } = context
  const { input, output } = countTokens(context)
  const { cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 } = step.usage ?? {}
  const reason = step.finishReason
  const isWhole = reason === undefined || reason === 'completed'
  return {
    id: `resp_${number}`,
    object: 'response',
    created_at: CREATED_SECONDS,
    model: body.model,
    status: reason === null ? null : isWhole ? 'completed' : 'incomplete',
    error: null,
    incomplete_details: isWhole || reason === null ? null : { reason },
    instructions: body['instructions'] ?? null,
    store: body['store'] ?? true,
    output: itemsOf(context).map(({ whole }) => whole),
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: cacheReadTokens, cache_write_tokens: cacheWriteTokens },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: reasoningTokens },
      total_tokens: input + output,
    },
  }
}
