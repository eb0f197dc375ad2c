import { type AnswerContext, argumentText, countTokens, deltas, type ServedWire } from './served-wire.js'
import type { AnswerStep, StepToolCall } from './step.js'
import { checkWirePairs } from './wire-body.js'

const CREATED_SECONDS = 1_700_000_000

/** The OpenAI chat-completions protocol. */
export const chatCompletions: ServedWire = {
  api: 'chat-completions',
  check: (body) => checkWirePairs(body.messages),
  stream: streamChunks,
  whole: completionBody,
  refusal: (_status, message) => ({ error: { message, type: 'scripted_error', code: null } }),
  errorEvent: (type, message) => `data: ${JSON.stringify({ error: { type, message } })}\n\n`,
  garbled: 'data: {"choices":[{"delta":{"content":\n\ndata: [DONE]\n\n',
}

function streamChunks(context: AnswerContext): string[] {
  const { step, body } = context
  const head = `data: ${JSON.stringify({ ...envelope(context, 'chat.completion.chunk'), choices: 0 }).slice(0, -2)}`
  const event = (choices: unknown, rest = '') => `${head}${JSON.stringify(choices)}${rest}}\n\n`
  const delta = (fields: object) => event([{ index: 0, delta: fields, finish_reason: null }])
  const chunks = [delta({ role: 'assistant', content: '' })]
  for (const piece of deltas(step.reasoning, step)) chunks.push(delta({ reasoning_content: piece }))
  for (const piece of deltas(step.text, step)) chunks.push(delta({ content: piece }))
  step.toolCalls?.forEach((call, index) => {
    const start = { index, id: callId(call, context.number, index), type: 'function' }
    chunks.push(delta({ tool_calls: [{ ...start, function: { name: call.name, arguments: '' } }] }))
    for (const piece of deltas(argumentText(call), step))
      chunks.push(delta({ tool_calls: [{ index, function: { arguments: piece } }] }))
  })
  const reason = finishReason(step)
  if (reason !== null) chunks.push(event([{ index: 0, delta: {}, finish_reason: reason }]))
  if (body.stream_options?.include_usage) chunks.push(event([], `,"usage":${JSON.stringify(usage(context))}`))
  chunks.push('data: [DONE]\n\n')
  return chunks
}

function completionBody(context: AnswerContext): object {
  const { step } = context
  const message = {
    role: 'assistant',
    content: step.text ?? null,
    ...(step.reasoning === undefined ? {} : { reasoning_content: step.reasoning }),
    ...(step.toolCalls === undefined
      ? {}
      : {
          tool_calls: step.toolCalls.map((call, index) => ({
            id: callId(call, context.number, index),
            type: 'function',
            function: { name: call.name, arguments: argumentText(call) },
          })),
        }),
  }
  return {
    ...envelope(context, 'chat.completion'),
    choices: [{ index: 0, message, finish_reason: finishReason(step) }],
    usage: usage(context),
  }
}

function envelope(context: AnswerContext, object: string) {
  return { id: `chatcmpl-${context.number}`, object, created: CREATED_SECONDS, model: context.body.model }
}

function callId(call: StepToolCall, number: number, index: number): string {
  return call.id ?? `call_${number}_${index}`
}

function finishReason(step: AnswerStep): string | null {
  if (step.finishReason !== undefined) return step.finishReason
  return step.toolCalls?.length ? 'tool_calls' : 'stop'
}

function usage(context: AnswerContext) {
  const usage = context.step.usage ?? {}
  const { input, output } = countTokens(context)
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: usage.cacheReadTokens ?? 0 },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
    ...(usage.costUsd === undefined ? {} : { cost: usage.costUsd }),
  }
}
