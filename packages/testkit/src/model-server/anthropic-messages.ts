import { createHash } from 'node:crypto'
import { checkMessagesRequest } from './messages-body.js'
import { type AnswerContext, argumentText, countTokens, deltas, type ServedWire } from './served-wire.js'
import type { AnswerStep } from './step.js'

/** The Anthropic messages protocol. Thoughts are signed, and refused when they come back with another signature. */
export const anthropicMessages: ServedWire = {
  api: 'anthropic-messages',
  check: (body, headers) => checkMessagesRequest(body, headers, signatureOf),
  stream: streamEvents,
  whole: messageBody,
  refusal: (status, message) => ({
    type: 'error',
    error: { type: ERROR_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error'), message },
    request_id: 'req_scripted',
  }),
  errorEvent: (type, message) => event({ type: 'error', error: { type, message } }),
  garbled: 'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":\n\n',
}

const ERROR_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

/** What the server signs a thought of a model with. */
export function signatureOf(model: string, thought: string): string {
  return createHash('sha256').update(`${model}\n${thought}`).digest('base64')
}

/** One content block: at its start in a stream, its pieces, and whole. */
interface Block {
  readonly start: object
  readonly deltas: readonly object[]
  readonly whole: object
}

function blocksOf({ step, body, number }: AnswerContext): Block[] {
  const blocks: Block[] = []
  const { reasoning, redacted, text } = step
  if (reasoning !== undefined) {
    const signature = signatureOf(body.model, reasoning)
    const pieces = deltas(reasoning, step).map((thinking) => ({ type: 'thinking_delta', thinking }))
    blocks.push({
      start: { type: 'thinking', thinking: '', signature: '' },
      deltas: [...pieces, { type: 'signature_delta', signature }],
      whole: { type: 'thinking', thinking: reasoning, signature },
    })
  }
  if (redacted !== undefined) {
    const whole = { type: 'redacted_thinking', data: redacted }
    blocks.push({ start: whole, deltas: [], whole })
  }
  if (text !== undefined) {
    const pieces = deltas(text, step).map((piece) => ({ type: 'text_delta', text: piece }))
    blocks.push({ start: { type: 'text', text: '' }, deltas: pieces, whole: { type: 'text', text } })
  }
  step.toolCalls?.forEach((call, index) => {
    const head = { type: 'tool_use', id: call.id ?? `toolu_${number}_${index}`, name: call.name }
    const pieces = deltas(argumentText(call), step).map((partial_json) => ({ type: 'input_json_delta', partial_json }))
    const whole = { ...head, input: call.args ?? {} }
    blocks.push({ start: { ...head, input: {} }, deltas: pieces, whole })
  })
  return blocks
}

/** The first piece says that an answer begins; each further one carries one delta, with the start of its block before it. */
function streamEvents(context: AnswerContext): string[] {
  const message = { ...envelope(context), content: [], stop_reason: null, usage: usage(context, 1) }
  const pieces = [event({ type: 'message_start', message }) + event({ type: 'ping' })]
  blocksOf(context).forEach((block, index) => {
    let head = event({ type: 'content_block_start', index, content_block: block.start })
    for (const delta of block.deltas) {
      pieces.push(head + event({ type: 'content_block_delta', index, delta }))
      head = ''
    }
    pieces.push(head + event({ type: 'content_block_stop', index }))
  })
  const reason = stopReason(context.step)
  if (reason !== null) {
    const delta = { stop_reason: reason, stop_sequence: null }
    pieces.push(event({ type: 'message_delta', delta, usage: usage(context) }))
  }
  pieces.push(event({ type: 'message_stop' }))
  return pieces
}

function messageBody(context: AnswerContext): object {
  const content = blocksOf(context).map(({ whole }) => whole)
  return { ...envelope(context), content, stop_reason: stopReason(context.step), usage: usage(context) }
}

function event(data: { readonly type: string; readonly [key: string]: unknown }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
}

function envelope({ body, number }: AnswerContext) {
  return { id: `msg_${number}`, type: 'message', role: 'assistant', model: body.model, stop_sequence: null }
}

function stopReason(step: AnswerStep): string | null {
  if (step.finishReason !== undefined) return step.finishReason
  return step.toolCalls?.length ? 'tool_use' : 'end_turn'
}

/** Input counts are apart here: read from the cache, written to it, and the rest. */
function usage(context: AnswerContext, outputSoFar?: number) {
  const { cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 } = context.step.usage ?? {}
  const { input, output } = countTokens(context)
  return {
    input_tokens: Math.max(0, input - cacheReadTokens - cacheWriteTokens),
    cache_read_input_tokens: cacheReadTokens,
    cache_creation_input_tokens: cacheWriteTokens,
    output_tokens: outputSoFar ?? output,
    output_tokens_details: outputSoFar === undefined ? { thinking_tokens: reasoningTokens } : null,
  }
}
