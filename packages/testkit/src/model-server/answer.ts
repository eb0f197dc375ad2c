import type { AnswerTurn, TurnToolCall } from './turn.js'
import type { WireBody } from './wire-body.js'

const DEFAULT_CHUNK_CHARS = 64
const CREATED_SECONDS = 1_700_000_000

/** What an answer is built from: the turn, the request it answers and its number, counted from 1. */
export interface AnswerContext {
  readonly turn: AnswerTurn
  readonly body: WireBody
  readonly requestBytes: number
  readonly number: number
}

/** The server-sent events of a streamed answer, `[DONE]` last. */
export function streamChunks(context: AnswerContext): string[] {
  const { turn, body } = context
  const chunkChars = turn.chunkSize ?? DEFAULT_CHUNK_CHARS
  const head = `data: ${JSON.stringify({ ...envelope(context, 'chat.completion.chunk'), choices: 0 }).slice(0, -2)}`
  const event = (choices: unknown, rest = '') => `${head}${JSON.stringify(choices)}${rest}}\n\n`
  const delta = (fields: object) => event([{ index: 0, delta: fields, finish_reason: null }])
  const chunks = [delta({ role: 'assistant', content: '' })]
  for (const piece of pieces(turn.reasoning, chunkChars)) chunks.push(delta({ reasoning_content: piece }))
  for (const piece of pieces(turn.text, chunkChars)) chunks.push(delta({ content: piece }))
  turn.toolCalls?.forEach((call, index) => {
    const start = { index, id: callId(call, context.number, index), type: 'function' }
    chunks.push(delta({ tool_calls: [{ ...start, function: { name: call.name, arguments: '' } }] }))
    for (const piece of pieces(argumentText(call), chunkChars))
      chunks.push(delta({ tool_calls: [{ index, function: { arguments: piece } }] }))
  })
  const reason = finishReason(turn)
  if (reason !== null) chunks.push(event([{ index: 0, delta: {}, finish_reason: reason }]))
  if (body.stream_options?.include_usage) chunks.push(event([], `,"usage":${JSON.stringify(usage(context))}`))
  chunks.push('data: [DONE]\n\n')
  return chunks
}

/** The body of an answer that is not streamed. */
export function completionBody(context: AnswerContext): object {
  const { turn } = context
  const message = {
    role: 'assistant',
    content: turn.text ?? null,
    ...(turn.reasoning === undefined ? {} : { reasoning_content: turn.reasoning }),
    ...(turn.toolCalls === undefined
      ? {}
      : {
          tool_calls: turn.toolCalls.map((call, index) => ({
            id: callId(call, context.number, index),
            type: 'function',
            function: { name: call.name, arguments: argumentText(call) },
          })),
        }),
  }
  return {
    ...envelope(context, 'chat.completion'),
    choices: [{ index: 0, message, finish_reason: finishReason(turn) }],
    usage: usage(context),
  }
}

function envelope(context: AnswerContext, object: string) {
  return { id: `chatcmpl-${context.number}`, object, created: CREATED_SECONDS, model: context.body.model }
}

function callId(call: TurnToolCall, number: number, index: number): string {
  return call.id ?? `call_${number}_${index}`
}

function argumentText(call: TurnToolCall): string {
  return call.rawArgs ?? JSON.stringify(call.args ?? {})
}

function finishReason(turn: AnswerTurn): string | null {
  if (turn.finishReason !== undefined) return turn.finishReason
  return turn.toolCalls?.length ? 'tool_calls' : 'stop'
}

function usage(context: AnswerContext) {
  const { turn } = context
  const given = turn.usage ?? {}
  const calls = turn.toolCalls?.reduce((sum, call) => sum + call.name.length + argumentText(call).length, 0) ?? 0
  const answered = (turn.text?.length ?? 0) + (turn.reasoning?.length ?? 0) + calls
  const prompt = given.inputTokens ?? Math.ceil(context.requestBytes / 4)
  const completion = given.outputTokens ?? Math.ceil(answered / 4)
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: given.cacheReadTokens ?? 0 },
    completion_tokens_details: { reasoning_tokens: given.reasoningTokens ?? 0 },
    ...(given.costUsd === undefined ? {} : { cost: given.costUsd }),
  }
}

function pieces(text: string | undefined, chunkChars: number): string[] {
  if (!text) return []
  if (text.length <= chunkChars) return [text]
  const result: string[] = []
  for (let start = 0; start < text.length; start += chunkChars) result.push(text.slice(start, start + chunkChars))
  return result
}
