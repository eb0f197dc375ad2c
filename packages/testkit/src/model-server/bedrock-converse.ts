import { signatureOf } from './anthropic-messages.js'
import { checkConverseRequest } from './converse-body.js'
import { encodeEventMessage } from './event-stream.js'
import { type AnswerContext, argumentText, countTokens, deltas, type ServedWire } from './served-wire.js'
import type { AnswerStep } from './step.js'

/** The Bedrock converse protocol with its binary event stream. Thoughts are signed as on the Anthropic wire. */
export const bedrockConverse: ServedWire = {
  api: 'bedrock-converse',
  streamType: 'application/vnd.amazon.eventstream',
  streamEncoding: 'latin1',
  check: (body) => checkConverseRequest(body, signatureOf),
  stream: streamEvents,
  whole: converseBody,
  refusal: (_status, message) => ({ message }),
  refusalHeaders: (status): Record<string, string> => {
    const type = ERROR_TYPES[status]
    return type ? { 'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/` } : {}
  },
  errorEvent: (type, message) =>
    encodeEventMessage(
      { ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' },
      JSON.stringify({ message }),
    ).toString('latin1'),
  garbled: event('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'x' } }).replace('delta', 'betta'),
}

/** Where a request of this wire goes: which model it names and whether it wants a stream; `null` for another path. */
export function converseRoute(path: string): { readonly model: string; readonly stream: boolean } | null {
  const [, model, action] = /^\/model\/([^/]+)\/(converse|converse-stream)$/.exec(path) ?? []
  return model === undefined ? null : { model: decodeURIComponent(model), stream: action === 'converse-stream' }
}

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: 'ValidationException',
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  408: 'ModelTimeoutException',
  424: 'ModelErrorException',
  429: 'ThrottlingException',
  500: 'InternalServerException',
  503: 'ServiceUnavailableException',
}

/** One content block: at its start in a stream, where it has one, its pieces, and whole. */
interface Block {
  readonly start?: object
  readonly deltas: readonly object[]
  readonly whole: object
}

function blocksOf({ step, body, number }: AnswerContext): Block[] {
  const blocks: Block[] = []
  const { reasoning, redacted, text } = step
  if (reasoning !== undefined) {
    const signature = signatureOf(body.model, reasoning)
    const pieces = deltas(reasoning, step).map((piece) => ({ reasoningContent: { text: piece } }))
    blocks.push({
      deltas: [...pieces, { reasoningContent: { signature } }],
      whole: { reasoningContent: { reasoningText: { text: reasoning, signature } } },
    })
  }
  if (redacted !== undefined) {
    const whole = { reasoningContent: { redactedContent: redacted } }
    blocks.push({ deltas: [whole], whole })
  }
  if (text !== undefined) blocks.push({ deltas: deltas(text, step).map((piece) => ({ text: piece })), whole: { text } })
  step.toolCalls?.forEach((call, index) => {
    const head = { toolUseId: call.id ?? `tooluse_${number}_${index}`, name: call.name }
    const pieces = deltas(argumentText(call), step).map((input) => ({ toolUse: { input } }))
    blocks.push({
      start: { toolUse: head },
      deltas: pieces,
      whole: { toolUse: { ...head, input: call.args ?? {} } },
    })
  })
  return blocks
}

/** The first piece says that an answer begins; each further one carries one delta, with the start of its block before it. */
function streamEvents(context: AnswerContext): string[] {
  const pieces = [event('messageStart', { role: 'assistant' })]
  blocksOf(context).forEach(({ start, deltas: changes }, contentBlockIndex) => {
    let head = start ? event('contentBlockStart', { contentBlockIndex, start }) : ''
    for (const delta of changes) {
      pieces.push(head + event('contentBlockDelta', { contentBlockIndex, delta }))
      head = ''
    }
    pieces.push(head + event('contentBlockStop', { contentBlockIndex }))
  })
  const reason = stopReason(context.step)
  if (reason !== null) pieces.push(event('messageStop', { stopReason: reason }))
  pieces.push(event('metadata', { metrics: { latencyMs: 1 }, usage: usage(context) }))
  return pieces
}

function converseBody(context: AnswerContext): object {
  const content = blocksOf(context).map(({ whole }) => whole)
  const message = { role: 'assistant', content }
  return { metrics: { latencyMs: 1 }, output: { message }, stopReason: stopReason(context.step), usage: usage(context) }
}

/** The service pads its events with `p`. */
function event(type: string, data: object): string {
  const headers = { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }
  return encodeEventMessage(headers, JSON.stringify({ ...data, p: 'abcdefghijklm' })).toString('latin1')
}

function stopReason(step: AnswerStep): string | null {
  if (step.finishReason !== undefined) return step.finishReason
  return step.toolCalls?.length ? 'tool_use' : 'end_turn'
}

/** Input counts are apart here: read from the cache, written to it, and the rest. */
function usage(context: AnswerContext) {
  const { cacheReadTokens = 0, cacheWriteTokens = 0 } = context.step.usage ?? {}
  const { input, output } = countTokens(context)
  return {
    inputTokens: Math.max(0, input - cacheReadTokens - cacheWriteTokens),
    outputTokens: output,
    totalTokens: input + output,
    cacheReadInputTokens: cacheReadTokens,
    cacheWriteInputTokens: cacheWriteTokens,
  }
}
