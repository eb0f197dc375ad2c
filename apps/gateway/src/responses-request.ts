// The Responses form of a request, told as the chat form of the same: one reader knows what is understood.
import { isJsonObject, type JsonObject, type JsonValue } from '@hermes/contracts'
import * as z from 'zod'
import { flatChoice } from './answer-request.js'
import { ApiError } from './api-error.js'
import { parseBody, refusedAs } from './body.js'
import { type ChatRequest, parseChatRequest } from './chat-request.js'
import { responseOfItem } from './response-id.js'

// Loaded by the first request, as the library that reads it is.

const item = z.record(z.string(), z.unknown())

export const responsesBody = z.looseObject({
  input: z.union([z.string(), z.array(item)], 'string or an array of items'),
  instructions: z.string().nullish(),
  previous_response_id: z.string().nullish(),
  conversation: z.union([z.string(), z.object({ id: z.string() })], 'string or an object').nullish(),
  tools: z.array(item).nullish(),
  reasoning: z.looseObject({ effort: z.unknown() }).nullish(),
  text: z.looseObject({ format: z.unknown() }).nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
  background: z
    .unknown()
    .optional()
    .refine(
      (value) => !value,
      refusedAs('unsupported_parameter', 'is not supported here: runs end with their request.'),
    ),
  prompt: z
    .unknown()
    .optional()
    .refine((value) => !value, refusedAs('unsupported_parameter', 'is not supported here: no prompts are kept.')),
})

/** A request for a response. */
export interface ResponsesRequest {
  readonly chat: ChatRequest
  /** The response it follows. */
  readonly previous: string | null
  /** The session it goes on with, by its id. */
  readonly conversation: string | null
  /** Given back as they came. */
  readonly echo: {
    readonly instructions: string | null
    readonly metadata: JsonObject
    readonly tools: readonly JsonValue[]
    readonly temperature: number | null
    readonly max_output_tokens: number | null
    readonly reasoning: { readonly effort: string | null; readonly summary: null }
    readonly text: { readonly format: JsonValue }
    readonly tool_choice: JsonValue
  }
}

/**
 * Reads the body of a request for a response.
 * @throws ApiError 400 naming the field
 */
export function parseResponsesRequest(text: string): ResponsesRequest {
  const body = parseBody(responsesBody, text)
  const { input, instructions, previous_response_id: previous, conversation, tools, metadata } = body
  if (previous && conversation)
    throw new ApiError("'conversation' and 'previous_response_id' exclude each other.", {
      code: 'invalid_value',
      param: 'conversation',
    })
  const { items, named } = newItems(
    typeof input === 'string' ? [{ role: 'user', content: input }] : (input as readonly JsonObject[]),
  )
  const { model, stream, temperature, max_output_tokens, tool_choice, top_p, user } = body
  const chatForm = JSON.stringify({
    messages: items.map(toMessage),
    tools: tools?.map((tool) => toTool(tool as JsonObject)),
    reasoning_effort: body.reasoning?.effort ?? undefined,
    response_format: toFormat(body.text?.format as JsonValue | undefined),
    max_completion_tokens: max_output_tokens,
    tool_choice: flatChoice((tool_choice ?? null) as JsonValue),
    ...{ model, stream, temperature, top_p, user },
  })
  const chat = inTheirWords(() => parseChatRequest(chatForm))
  const system = [instructions ?? '', chat.system].filter((part) => part !== '').join('\n\n')
  return {
    chat: { ...chat, system },
    previous: named ?? previous ?? null,
    conversation: typeof conversation === 'string' ? conversation : (conversation?.id ?? null),
    echo: {
      instructions: instructions ?? null,
      metadata: (metadata ?? {}) as JsonObject,
      tools: (tools ?? []) as readonly JsonValue[],
      temperature: chat.sampling.temperature ?? null,
      max_output_tokens: chat.sampling.maxOutputTokens ?? null,
      reasoning: { effort: chat.sampling.reasoningEffort ?? null, summary: null },
      text: { format: (body.text?.format ?? { type: 'text' }) as JsonValue },
      tool_choice: (tool_choice ?? 'auto') as JsonValue,
    },
  }
}

/** What follows the last item that is named instead of told, and the response that one is of: all before it is known. */
function newItems(all: readonly JsonObject[]): {
  readonly items: readonly JsonObject[]
  readonly named: string | null
} {
  const at = all.findLastIndex(({ type }) => type === 'item_reference')
  if (at < 0) return { items: all, named: null }
  const id = String(all[at]!['id'])
  const named = responseOfItem(id)
  if (named === null) {
    const message = `There is no item ${JSON.stringify(id)}. Send what it says instead.`
    throw new ApiError(message, { status: 404, code: 'item_not_found', param: `input[${at}].id` })
  }
  return { items: all.slice(at + 1), named }
}

function toMessage(item: JsonObject): JsonObject {
  const { type = 'message', role, content, call_id, name, arguments: args, output } = item as Record<string, JsonValue>
  switch (type) {
    case 'message':
      return { role: role ?? null, content: partsOf(content ?? null) }
    case 'function_call':
      return {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: call_id ?? null, type: 'function', function: { name: name ?? null, arguments: args ?? null } },
        ],
      }
    case 'function_call_output':
      return { role: 'tool', tool_call_id: call_id ?? null, content: partsOf(output ?? null) }
    case 'reasoning':
      return { role: 'assistant', content: null }
    default:
      throw new ApiError(
        `An item of type ${JSON.stringify(type)} is not supported here: send message, function_call, function_call_output or reasoning.`,
        { code: 'unsupported_content_type', param: 'input' },
      )
  }
}

function partsOf(content: JsonValue): JsonValue {
  return Array.isArray(content) ? content.map((part) => (isJsonObject(part) ? toPart(part) : part)) : content
}

function toPart(part: JsonObject): JsonObject {
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
      return { type: 'text', text: part['text'] ?? null }
    case 'input_image':
      return { type: 'image_url', image_url: { url: part['image_url'] ?? null } }
    case 'input_file':
      return { type: 'file', file: { filename: part['filename'] ?? null, file_data: part['file_data'] ?? null } }
    default:
      return part
  }
}

/** A schema stands flat here. */
function toFormat(format: JsonValue | undefined): JsonValue | undefined {
  if (!isJsonObject(format ?? null) || (format as JsonObject)['type'] !== 'json_schema') return format ?? undefined
  const { type: _type, ...json_schema } = format as JsonObject
  return { type: 'json_schema', json_schema }
}

/** Functions stand flat here; other kinds are told by their name. */
function toTool(tool: JsonObject): JsonObject {
  const { type, name, description, parameters } = tool as Record<string, JsonValue>
  if (type !== 'function') return tool
  return { type, function: { name: name ?? null, description: description ?? null, parameters: parameters ?? null } }
}

/** What is wrong, by the names of this form. */
function inTheirWords<Result>(read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const inWords = (text: string) =>
      text
        .replace(/\bmessages(?=[[']|$)/g, 'input')
        .replace(/(tools\[\d+\])\.function/g, '$1')
        .replaceAll('response_format.json_schema', 'text.format')
        .replaceAll('response_format', 'text.format')
        .replaceAll('max_completion_tokens', 'max_output_tokens')
        .replaceAll('reasoning_effort', 'reasoning.effort')
    const { code, param } = error
    throw new ApiError(inWords(error.message), { code, ...(param === null ? {} : { param: inWords(param) }) })
  }
}
