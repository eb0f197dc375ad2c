import { isJsonObject, type JsonObject, type JsonValue } from '@hermes/contracts'
import type {
  AssistantMessage,
  AudioPart,
  FilePart,
  ImagePart,
  Message,
  TextPart,
  UserPart,
} from '@hermes/contracts/conversation'
import type { ModelRequest, RequestRepair } from '@hermes/contracts/model'

/** Makes an image smaller; `null` where that cannot be done. */
type ShrinkImage = (image: ImagePart) => Promise<ImagePart | null>

/** What may follow from one verdict, milder first. */
const STEPS: Readonly<Record<RequestRepair, readonly RequestRepair[]>> = {
  'shrink-images': ['shrink-images', 'drop-images'],
  // Some servers name what they take, and not what they refuse.
  'drop-images': ['drop-images', 'drop-attachments'],
  'drop-attachments': ['drop-attachments', 'drop-images'],
  'drop-reasoning': ['drop-reasoning'],
  'simplify-schemas': ['simplify-schemas'],
  'strip-unsupported': ['strip-unsupported', 'drop-images', 'drop-attachments'],
}

/** The mildest repair that a verdict asks for and that was not made yet; `null` when none would change the request. Pure. */
export function nextRepair(
  request: ModelRequest,
  requested: RequestRepair,
  made: ReadonlySet<RequestRepair>,
): RequestRepair | null {
  return STEPS[requested].find((repair) => !made.has(repair) && changesRequest(request, repair)) ?? null
}

/** Whether a repair would change anything about a request. Pure. */
function changesRequest(request: ModelRequest, repair: RequestRepair): boolean {
  switch (repair) {
    case 'shrink-images':
    case 'drop-images':
      return hasImages(request)
    case 'drop-attachments':
      return request.messages.some(({ content }) => content.some(isAttachment))
    case 'drop-reasoning':
      return request.messages.some((message) => message.role === 'assistant' && message.content.some(isReasoning))
    case 'simplify-schemas':
      return request.tools.some(
        ({ parameters }) => JSON.stringify(simplified(parameters)) !== JSON.stringify(parameters),
      )
    case 'strip-unsupported':
      return OPTIONAL_SETTINGS.some((name) => request[name] !== undefined)
    default:
      return repair satisfies never
  }
}

/** The request with repairs made. The same request and repairs give the same bytes; nothing is changed in place. */
export async function repairRequest(
  request: ModelRequest,
  repairs: Iterable<RequestRepair>,
  shrink: ShrinkImage,
): Promise<ModelRequest> {
  let repaired = request
  for (const repair of [...repairs].sort()) repaired = await repairOnce(repaired, repair, shrink)
  return repaired
}

async function repairOnce(request: ModelRequest, repair: RequestRepair, shrink: ShrinkImage): Promise<ModelRequest> {
  switch (repair) {
    case 'shrink-images':
      return {
        ...request,
        messages: await mapImages(request.messages, async (image) => (await shrink(image)) ?? note(image)),
      }
    case 'drop-images':
      return { ...request, messages: await mapImages(request.messages, async (image) => note(image)) }
    case 'drop-attachments':
      return withoutAttachments(request, () => true)
    case 'drop-reasoning':
      return { ...request, messages: request.messages.flatMap(withoutReasoning) }
    case 'simplify-schemas':
      return {
        ...request,
        tools: request.tools.map((tool) => ({ ...tool, parameters: simplified(tool.parameters) })),
      }
    case 'strip-unsupported': {
      const {
        temperature: _t,
        reasoningEffort: _r,
        maxOutputTokens: _m,
        serviceTier: _s,
        answerFormat: _f,
        ...bare
      } = request
      return bare
    }
    default:
      return repair satisfies never
  }
}

/** What a request may leave to the endpoint. That no tool may be called has to be said. */
const OPTIONAL_SETTINGS = ['temperature', 'reasoningEffort', 'maxOutputTokens', 'serviceTier', 'answerFormat'] as const

function hasImages({ messages }: ModelRequest): boolean {
  return messages.some((message) => message.content.some((part) => part.type === 'image'))
}

/** Whether a part is a recording or a file. */
function isAttachment(part: { readonly type: string }): part is AudioPart | FilePart {
  return part.type === 'audio' || part.type === 'file'
}

/** The request with a line of text in place of those recordings and files. */
export function withoutAttachments(
  request: ModelRequest,
  isUntaken: (part: AudioPart | FilePart) => boolean,
): ModelRequest {
  const messages = request.messages.map((message) => {
    if (message.role !== 'user' || !message.content.some(isAttachment)) return message
    const content = message.content.map((part) => (isAttachment(part) && isUntaken(part) ? note(part) : part))
    return { ...message, content }
  })
  return { ...request, messages }
}

const KINDS = { image: 'image', audio: 'recording', file: 'file' } as const

function note({ type, name, mediaType }: Exclude<UserPart, TextPart>): TextPart {
  const what =
    name === undefined ? `${type === 'image' ? 'An' : 'A'} ${KINDS[type]} (${mediaType})` : `The ${KINDS[type]} ${name}`
  return { type: 'text', text: `[${what} was left out: this model's endpoint did not take it.]`, origin: 'reminder' }
}

async function mapImages(
  messages: readonly Message[],
  change: (image: ImagePart) => Promise<ImagePart | TextPart>,
): Promise<readonly Message[]> {
  return Promise.all(
    messages.map(async (message) => {
      if (message.role !== 'user' && message.role !== 'tool') return message
      if (!message.content.some((part) => part.type === 'image')) return message
      const parts: readonly (typeof message.content)[number][] = message.content
      const content = await Promise.all(parts.map((part) => (part.type === 'image' ? change(part) : part)))
      return { ...message, content } as Message
    }),
  )
}

function isReasoning({ type }: { readonly type: string }): boolean {
  return type === 'reasoning'
}

/** A message that was nothing but a thought goes too. */
function withoutReasoning(message: Message): readonly Message[] {
  if (message.role !== 'assistant' || !message.content.some(isReasoning)) return [message]
  const content = message.content.filter((part) => !isReasoning(part))
  return content.length === 0 ? [] : [{ ...message, content } satisfies AssistantMessage]
}

/** Keywords that grammar builders of local servers stumble over; values are checked by the tool itself all the same. */
const FRAGILE = new Set(['pattern', 'format', 'patternProperties', 'propertyNames', 'contentEncoding', '$schema'])
/** Keywords whose value maps free names to schemas. */
const NAMED = new Set(['properties', '$defs', 'definitions', 'dependentSchemas'])
/** Keywords whose value is data, not a schema. */
const DATA = new Set(['enum', 'const', 'default', 'examples', 'required'])

/** The schema without keywords that only narrow what a text may look like. */
function simplified(schema: JsonObject): JsonObject {
  const kept = Object.entries(schema).filter(([key]) => !FRAGILE.has(key))
  return Object.fromEntries(
    kept.map(([key, value]): [string, JsonValue] => {
      if (DATA.has(key)) return [key, value]
      if (NAMED.has(key) && isJsonObject(value)) {
        const named = Object.entries(value).map(([name, one]) => [name, simplifiedValue(one)] as const)
        return [key, Object.fromEntries(named)]
      }
      return [key, simplifiedValue(value)]
    }),
  )
}

function simplifiedValue(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(simplifiedValue)
  return isJsonObject(value) ? simplified(value) : value
}
