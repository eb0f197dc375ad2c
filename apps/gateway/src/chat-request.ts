import type {
  AssistantMessage,
  AudioPart,
  FilePart,
  ImagePart,
  Sampling,
  TextPart,
  UserMessage,
  UserPart,
} from '@hermes/contracts/conversation'
import type { JsonSchema } from '@hermes/contracts/tool'
import * as z from 'zod'
import { type AnswerRequest, answerRequest, responseFormat, stopSequences, toolChoice } from './answer-request.js'
import { ApiError } from './api-error.js'
import { parseBody, refusedAs } from './body.js'
import type { ClientResult, ClientTool } from './client-tools.js'
import { sourcesOf } from './person-words.js'
import { withoutWaiting } from './waiting.js'

// Loaded by the first request, as the library that reads it is.

/** What a client may have said before. */
export type PastMessage = UserMessage | AssistantMessage

/** A picture that is named by its address, and not here yet. */
export interface NamedImage extends ImagePart {
  readonly url: string
}

/** A chat request that was understood. */
export interface ChatRequest {
  /** `null` when none is named. */
  readonly model: string | null
  /** System and developer messages joined; empty when there are none. */
  readonly system: string
  /** Everything before the new message, less what the gateway said where a run waited. */
  readonly history: readonly PastMessage[]
  /** The same with what answered questions, for a session that took it for messages. */
  readonly historyWithAnswers: readonly PastMessage[]
  /** What the client says now; `null` where it brings results of its tools and no word of anybody. */
  readonly message: UserMessage | null
  /** What its tools gave, oldest first. */
  readonly results: readonly ClientResult[]
  /** Those of its own that the model may call. */
  readonly tools: readonly ClientTool[]
  /** What the answer has to be, and whether its tools may be called for it. */
  readonly answer: AnswerRequest
  readonly stream: boolean
  readonly includeUsage: boolean
  /** Chosen for the session from here on; empty when the client chooses nothing. */
  readonly sampling: Sampling
}

const IMAGE = /^data:(image\/(?:png|jpeg|gif|webp));base64,([A-Za-z0-9+/]+={0,2})$/
const ADDRESS = /^https?:\/\/[^\s/]+/i
const MAX_ADDRESS_CHARS = 2_000
const NO_IMAGE = 'has to be a data URL (data:image/png;base64,…, or jpeg, gif, webp) or an https address.'

const isAddress = (url: string) => url.length <= MAX_ADDRESS_CHARS && ADDRESS.test(url) && URL.canParse(url)

const text = z.object({ type: z.literal('text'), text: z.string() }).transform(({ text }): TextPart => asText(text))
const refusal = z
  .object({ type: z.literal('refusal'), refusal: z.string() })
  .transform(({ refusal }): TextPart => asText(refusal))
const image = z
  .object({
    type: z.literal('image_url'),
    image_url: z.object({
      url: z.string().refine((url) => isAddress(url) || IMAGE.test(url), refusedAs('invalid_image_url', NO_IMAGE)),
    }),
  })
  .transform(({ image_url }): ImagePart | NamedImage => {
    if (isAddress(image_url.url)) return { type: 'image', mediaType: '', data: '', url: image_url.url }
    const [, mediaType = '', data = ''] = IMAGE.exec(image_url.url) ?? []
    return { type: 'image', mediaType, data }
  })

const FILE = /^data:([a-z]+\/[a-z0-9.+-]+);base64,([A-Za-z0-9+/]+={0,2})$/i
const NO_FILE = 'has to be a data URL: data:application/pdf;base64,… Nothing is uploaded here beforehand.'
const AUDIO = /^[A-Za-z0-9+/]+={0,2}$/
const AUDIO_TYPES = { wav: 'audio/wav', mp3: 'audio/mpeg' } as const

const file = z
  .object({
    type: z.literal('file'),
    file: z.object({
      filename: z.string().min(1).max(255).nullish(),
      file_data: z
        .unknown()
        .refine(
          (data): data is string => typeof data === 'string' && FILE.test(data),
          refusedAs('invalid_file', NO_FILE),
        ),
    }),
  })
  .transform(({ file: { filename, file_data } }): FilePart => {
    const [, mediaType = '', data = ''] = FILE.exec(file_data as string) ?? []
    return { type: 'file', mediaType: mediaType.toLowerCase(), data, name: filename ?? 'file' }
  })

const audio = z
  .object({
    type: z.literal('input_audio'),
    input_audio: z.object({
      data: z.string().refine((data) => AUDIO.test(data), refusedAs('invalid_audio', 'has to be base64.')),
      format: z.enum(['wav', 'mp3'], 'has to be wav or mp3.'),
    }),
  })
  .transform(({ input_audio: { data, format } }): AudioPart => {
    return { type: 'audio', mediaType: AUDIO_TYPES[format], data }
  })

const words = z
  .union(
    [z.string(), z.array(z.discriminatedUnion('type', [text, refusal], 'has to be text or refusal.'))],
    'string or an array of parts',
  )
  .transform((content) => (typeof content === 'string' ? content : content.map((part) => part.text).join('')))

const userContent = z
  .union(
    [
      z.string(),
      z.array(
        z.discriminatedUnion(
          'type',
          [text, refusal, image, file, audio],
          'has to be text, refusal, image_url, file or input_audio.',
        ),
      ),
    ],
    'string or an array of parts',
  )
  .transform((content): readonly UserPart[] => (typeof content === 'string' ? [asText(content)] : content))
  .refine((parts) => parts.some(saysSomething), refusedAs('invalid_value', 'is empty.'))

const OLD_CALLS = 'tools are described in `tools`'

const toolCall = z.object({
  id: z.string().min(1),
  type: z.literal('function').optional(),
  function: z.object({ name: z.string(), arguments: z.string() }),
})

const message = z.discriminatedUnion(
  'role',
  [
    z.object({ role: z.enum(['system', 'developer']), content: words }),
    z.object({ role: z.literal('user'), content: userContent }),
    z.object({
      role: z.literal('assistant'),
      content: words.nullish(),
      tool_calls: z.array(toolCall).nullish(),
      function_call: unsupported(OLD_CALLS),
    }),
    z.object({ role: z.literal('tool'), content: words, tool_call_id: z.string().min(1) }),
    z.object({ role: z.literal('function').refine(() => false, notHere(OLD_CALLS)) }),
  ],
  'has to be system, developer, user, assistant or tool.',
)

const TEMPERATURE = 'has to be a number from 0 to 2.'
const TOKENS = 'has to be a whole number of at least 1.'
const NO_PROBABILITIES = 'the agent gives no token probabilities'

const MOST_TOOLS = 128
const NO_PARAMETERS: JsonSchema = { type: 'object', properties: {} }

const tool = z
  .object({
    type: z.literal('function', 'has to be function.'),
    function: z.object({
      name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/, 'has to be 1 to 64 letters, digits, "_" or "-".'),
      description: z.string().nullish(),
      parameters: z
        .record(z.string(), z.unknown())
        .refine(({ type = 'object' }) => type === 'object', refusedAs('invalid_value', 'has to describe an object.'))
        .nullish(),
    }),
  })
  .transform(
    ({ function: { name, description, parameters } }): ClientTool => ({
      name,
      description: description ?? '',
      parameters: parameters ? { ...(parameters as JsonSchema), type: 'object' } : NO_PARAMETERS,
    }),
  )

const tools = z
  .array(tool)
  .max(MOST_TOOLS, `has to be at most ${MOST_TOOLS} tools.`)
  .refine(
    (list) => new Set(list.map(({ name }) => name)).size === list.length,
    refusedAs('invalid_value', 'names a tool twice.'),
  )

export const chatBody = z.object({
  model: z.string().nullish(),
  messages: z.array(message),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  n: z
    .number()
    .refine((n) => n === 1, notHere('the agent gives one answer'))
    .nullish(),
  reasoning_effort: z.enum(['minimal', 'low', 'medium', 'high'], 'has to be minimal, low, medium or high.').nullish(),
  temperature: z.number().min(0, TEMPERATURE).max(2, TEMPERATURE).nullish(),
  max_tokens: z.int(TOKENS).min(1, TOKENS).nullish(),
  max_completion_tokens: z.int(TOKENS).min(1, TOKENS).nullish(),
  // Accepted so that usual clients work, and without effect: not every provider takes them.
  top_p: z.number().nullish(),
  presence_penalty: z.number().nullish(),
  frequency_penalty: z.number().nullish(),
  seed: z.number().nullish(),
  user: z.string().nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
  response_format: responseFormat,
  modalities: z
    .unknown()
    .optional()
    .refine(
      (list) => list === undefined || list === null || JSON.stringify(list) === '["text"]',
      notHere('the agent answers in text'),
    ),
  tools: tools.nullish(),
  tool_choice: toolChoice,
  functions: unsupported(OLD_CALLS),
  function_call: unsupported(OLD_CALLS),
  web_search_options: unsupported('the agent searches by itself'),
  logprobs: unsupported(NO_PROBABILITIES),
  top_logprobs: unsupported(NO_PROBABILITIES),
  logit_bias: unsupported('the agent cannot steer single tokens'),
  stop: stopSequences,
  audio: unsupported('the agent answers in text'),
  prediction: unsupported('the agent takes no predicted output'),
})

/**
 * Reads the body of a chat request.
 * @throws ApiError 400 naming the field
 */
export function parseChatRequest(text: string): ChatRequest {
  const body = parseBody(chatBody, text)
  const system: string[] = []
  const past: PastMessage[] = []
  const results: ClientResult[] = []
  for (const message of body.messages) {
    switch (message.role) {
      case 'system':
      case 'developer':
        system.push(message.content)
        break
      case 'user':
        past.push(message)
        break
      case 'assistant':
        if (message.content?.trim())
          past.push({ role: 'assistant', content: [asText(message.content)], finishReason: 'stop' })
        break
      case 'tool':
        results.push({ callId: message.tool_call_id, text: message.content })
        break
      default:
        message satisfies { role: 'function' }
    }
  }
  const isResult = body.messages.at(-1)?.role === 'tool'
  const message = isResult ? null : past.pop()
  if (message !== null && message?.role !== 'user') {
    const text = 'The last message has to come from the user, or from a tool that was called.'
    throw new ApiError(text, { code: 'invalid_value', param: 'messages' })
  }
  return {
    model: body.model ?? null,
    system: system.join('\n\n'),
    history: withoutWaiting(past, false),
    historyWithAnswers: withoutWaiting(past, true),
    message,
    results,
    tools: body.tools ?? [],
    answer: answerRequest(body, body.tools ?? []),
    stream: body.stream ?? false,
    includeUsage: body.stream_options?.include_usage ?? false,
    sampling: samplingOf(body),
  }
}

/** The request with whose words it brings: what other people than the owner (`null`) write is text from outside, as it is in chats. */
export function wordsOf<Of extends Pick<ChatRequest, 'message' | 'history' | 'historyWithAnswers'>>(
  person: string | null,
  request: Of,
): Of {
  const sources = sourcesOf(person)
  if (!sources) return request
  const marked = (message: UserMessage): UserMessage => ({
    ...message,
    content: message.content.map((part) => ({ ...part, sources })),
  })
  const past = (messages: readonly PastMessage[]) =>
    messages.map((message) => (message.role === 'user' ? marked(message) : message))
  return {
    ...request,
    message: request.message && marked(request.message),
    history: past(request.history),
    historyWithAnswers: past(request.historyWithAnswers),
  }
}

/** `max_tokens` is the older name. */
function samplingOf(body: z.output<typeof chatBody>): Sampling {
  const maxOutputTokens = body.max_completion_tokens ?? body.max_tokens ?? null
  const { temperature = null, reasoning_effort: effort = null } = body
  return {
    ...(effort === null ? {} : { reasoningEffort: effort }),
    ...(temperature === null ? {} : { temperature }),
    ...(maxOutputTokens === null ? {} : { maxOutputTokens }),
  }
}

/** A field of what this server does not do. Empty forms say nothing; clients send them out of habit. */
function unsupported(reason: string) {
  return z
    .unknown()
    .optional()
    .refine((value) => isEmpty(value), notHere(reason))
}

function notHere(reason: string) {
  return refusedAs('unsupported_parameter', `is not supported here: ${reason}.`)
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === false) return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

function asText(text: string): TextPart {
  return { type: 'text', text }
}

function saysSomething(part: UserPart): boolean {
  return part.type !== 'text' || part.text.trim() !== ''
}
