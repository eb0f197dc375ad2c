import { isJsonObject, type JsonObject, type JsonValue } from '@hermes/contracts'
import type { AssistantMessage, UserMessage } from '@hermes/contracts/conversation'
import { ApiError } from './api-error.js'
import { assistantText, invalidType, systemText, unsupported, userContent } from './message-content.js'

/** What a client may have said before. */
export type PastMessage = UserMessage | AssistantMessage

/** A chat request that was understood. */
export interface ChatRequest {
  /** `null` when none is named. */
  readonly model: string | null
  /** System and developer messages joined; empty when there are none. */
  readonly system: string
  /** Everything before the new message. */
  readonly history: readonly PastMessage[]
  /** What the client says now. */
  readonly message: UserMessage
  readonly stream: boolean
  readonly includeUsage: boolean
}

const OWN_TOOLS = 'the agent uses its own tools'
const REFUSED: Readonly<Record<string, string>> = {
  tools: OWN_TOOLS,
  tool_choice: OWN_TOOLS,
  functions: OWN_TOOLS,
  function_call: OWN_TOOLS,
  logprobs: 'the agent gives no token probabilities',
  top_logprobs: 'the agent gives no token probabilities',
  logit_bias: 'the agent cannot steer single tokens',
  stop: 'the agent decides by itself when it is done',
  audio: 'the agent answers in text',
  prediction: 'the agent takes no predicted output',
  web_search_options: OWN_TOOLS,
}

// Settings of sampling belong to the server; they are accepted so that usual clients work, and have no effect.
const TYPES: Readonly<Record<string, 'string' | 'number' | 'boolean' | 'object'>> = {
  model: 'string',
  stream: 'boolean',
  stream_options: 'object',
  n: 'number',
  temperature: 'number',
  top_p: 'number',
  max_tokens: 'number',
  max_completion_tokens: 'number',
  presence_penalty: 'number',
  frequency_penalty: 'number',
  seed: 'number',
  user: 'string',
  metadata: 'object',
  response_format: 'object',
}

/**
 * Reads the body of a chat request.
 * @throws ApiError 400 naming the field
 */
export function parseChatRequest(text: string): ChatRequest {
  const body = parseJson(text)
  checkFields(body)
  const { system, past } = parseMessages(body['messages'])
  const message = past.at(-1)
  if (message?.role !== 'user') {
    throw new ApiError('The last message has to come from the user.', { code: 'invalid_value', param: 'messages' })
  }
  const options = body['stream_options']
  return {
    model: typeof body['model'] === 'string' ? body['model'] : null,
    system,
    history: past.slice(0, -1),
    message,
    stream: body['stream'] === true,
    includeUsage: isJsonObject(options) && options['include_usage'] === true,
  }
}

function parseJson(text: string): JsonObject {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (error) {
    throw new ApiError(`The body is not valid JSON: ${(error as Error).message}.`, { code: 'invalid_json' })
  }
  if (isJsonObject(body)) return body
  throw new ApiError('The body has to be a JSON object.', { code: 'invalid_type' })
}

function checkFields(body: JsonObject): void {
  for (const [name, reason] of Object.entries(REFUSED)) if (isPresent(body[name])) throw unsupported(name, reason)
  for (const [name, type] of Object.entries(TYPES)) {
    const value = body[name] ?? null
    const isRight = type === 'object' ? isJsonObject(value) : typeof value === type
    if (value !== null && !isRight) throw invalidType(name, type, value)
  }
  if (isPresent(body['n']) && body['n'] !== 1) throw unsupported('n', 'the agent gives one answer')
  const format = body['response_format']
  if (isJsonObject(format) && format['type'] !== 'text')
    throw unsupported('response_format', 'the agent answers in plain text')
  const modalities = body['modalities'] ?? null
  if (modalities !== null && JSON.stringify(modalities) !== '["text"]')
    throw unsupported('modalities', 'the agent answers in text')
  const options = body['stream_options'] ?? null
  const include = isJsonObject(options) ? (options['include_usage'] ?? null) : null
  if (include !== null && typeof include !== 'boolean')
    throw invalidType('stream_options.include_usage', 'boolean', include)
}

/** Empty forms say nothing; clients send them out of habit. */
function isPresent(value: JsonValue | undefined): value is JsonValue {
  if (value === undefined || value === null || value === false) return false
  return typeof value !== 'object' || Object.keys(value).length > 0
}

function parseMessages(messages: JsonValue | undefined) {
  if (messages === undefined || messages === null)
    throw new ApiError("The field 'messages' is missing.", { code: 'missing_required_parameter', param: 'messages' })
  if (!Array.isArray(messages)) throw invalidType('messages', 'array', messages)
  const system: string[] = []
  const past: PastMessage[] = []
  for (const [index, message] of (messages as readonly JsonValue[]).entries()) {
    const path = `messages[${index}]`
    if (!isJsonObject(message)) throw invalidType(path, 'object', message)
    const parsed = parseMessage(message, path)
    if (typeof parsed === 'string') system.push(parsed)
    else if (parsed) past.push(parsed)
  }
  return { system: system.join('\n\n'), past }
}

/** System text, a message, or `null` for one that says nothing. */
function parseMessage(message: JsonObject, path: string): string | PastMessage | null {
  const { role, content } = message
  switch (role) {
    case 'system':
    case 'developer':
      return systemText(content, `${path}.content`)
    case 'user':
      return { role, content: userContent(content, `${path}.content`) }
    case 'assistant': {
      for (const name of ['tool_calls', 'function_call'])
        if (isPresent(message[name])) throw unsupported(`${path}.${name}`, OWN_TOOLS)
      const text = assistantText(content, `${path}.content`)
      return text.trim() === '' ? null : { role, content: [{ type: 'text', text }], finishReason: 'stop' }
    }
    case 'tool':
    case 'function':
      throw unsupported(`${path}.role`, OWN_TOOLS)
    default:
      if (typeof role !== 'string') throw invalidType(`${path}.role`, 'string', role)
      throw new ApiError(`'${path}.role' is "${role}"; it has to be system, developer, user or assistant.`, {
        code: 'invalid_value',
        param: `${path}.role`,
      })
  }
}
