import type { EndpointStamp } from '@hermes/contracts/conversation'
import type { ModelRequest, ToolChoice } from '@hermes/contracts/model'
import type { ProviderQuirks } from '../../catalogue.js'
import { schemaFormat } from '../answer-format.js'
import { tierField } from '../service-tier.js'
import { toSchemaDialect } from '../tool-schemas.js'
import { toWireInput } from './wire-input.js'
import type { WireRequest } from './wire-types.js'

/** The least that the server lets a request ask for. */
const MIN_OUTPUT_TOKENS = 16

/** What the body depends on besides the request. */
interface WireRequestOptions {
  readonly quirks: ProviderQuirks
  readonly stamp: EndpointStamp
  readonly streaming: boolean
  /** Whether the server shows what its models think. */
  readonly summaries: boolean
}

/** The body of a request. Pure: equal input gives equal bytes. Nothing is stored by the server. */
export function toWireRequest(request: ModelRequest, options: WireRequestOptions): WireRequest {
  const { quirks } = options
  const { model, toolChoice, temperature } = request
  const family = familyOf(model)
  const { instructions, input } = toWireInput(request.messages, options.stamp)
  const tools = toolFields(request.tools, quirks)
  return {
    model,
    store: false,
    ...(instructions === '' ? {} : { instructions }),
    input,
    ...(tools.length === 0 ? {} : { tools }),
    ...(tools.length === 0 || !toolChoice ? {} : { tool_choice: wireChoice(toolChoice) }),
    ...formatField(request, quirks),
    ...thinking(request, family, options.summaries),
    ...outputLimit(request, quirks),
    ...(temperature === undefined || !family.sampling ? {} : { temperature }),
    ...tierField(request, quirks),
    ...quirks.body,
    ...(options.streaming ? { stream: true } : {}),
  }
}

function wireChoice(choice: ToolChoice): NonNullable<WireRequest['tool_choice']> {
  return typeof choice === 'string' ? choice : { type: 'function', name: choice.name }
}

function formatField(
  { answerFormat: format }: ModelRequest,
  { answerFormats = 'schema', schemaDialect }: ProviderQuirks,
): Pick<WireRequest, 'text'> {
  if (!format || answerFormats === 'none') return {}
  if (format.type === 'json' || answerFormats === 'json') return { text: { format: { type: 'json_object' } } }
  return { text: { format: { type: 'json_schema', ...schemaFormat(format, schemaDialect) } } }
}

function toolFields(tools: ModelRequest['tools'], { schemaDialect }: ProviderQuirks) {
  return tools.map(({ name, description, parameters }) => ({
    type: 'function' as const,
    name,
    description,
    parameters: schemaDialect ? toSchemaDialect(parameters, schemaDialect) : parameters,
    strict: false as const,
  }))
}

function outputLimit(request: ModelRequest, quirks: ProviderQuirks): Pick<WireRequest, 'max_output_tokens'> {
  const { maxOutputTokens = quirks.defaultMaxOutputTokens } = request
  if (maxOutputTokens === undefined || quirks.refusesOutputLimit) return {}
  return { max_output_tokens: Math.max(MIN_OUTPUT_TOKENS, maxOutputTokens) }
}

/** Models that never think refuse every word about it. */
function thinking(
  { reasoningEffort }: ModelRequest,
  family: ModelFamily,
  summaries: boolean,
): Pick<WireRequest, 'reasoning' | 'include'> {
  if (family.thinks === 'never' || (family.thinks === 'when-asked' && !reasoningEffort)) return {}
  const effort = reasoningEffort && effortOf(reasoningEffort, family)
  const reasoning = {
    ...(effort ? { effort } : {}),
    ...(summaries && family.efforts.length > 0 ? { summary: 'auto' as const } : {}),
  }
  return {
    ...(Object.keys(reasoning).length === 0 ? {} : { reasoning }),
    include: ['reasoning.encrypted_content'],
  }
}

type Effort = NonNullable<ModelRequest['reasoningEffort']>

/** What a family of models takes. */
interface ModelFamily {
  /** Found in the names of its models. */
  readonly names: RegExp
  /** Whether its models think: always, when an effort is asked for, or never. */
  readonly thinks: 'always' | 'when-asked' | 'never'
  /** The efforts that may be asked for, least first; none where the model takes no word about it. */
  readonly efforts: readonly Effort[]
  /** Takes `temperature`. */
  readonly sampling?: true
}

const ALL: readonly Effort[] = ['minimal', 'low', 'medium', 'high']

const FAMILIES: readonly ModelFamily[] = Object.freeze([
  { names: /gpt-[5-9][^/]*-chat/, thinks: 'never', efforts: [] },
  { names: /gpt-[34]|chatgpt/, thinks: 'never', efforts: [], sampling: true },
  { names: /gpt-5-pro/, thinks: 'always', efforts: ['high'] },
  { names: /gpt-[5-9][.\d]*-pro/, thinks: 'always', efforts: ['medium', 'high'] },
  { names: /gpt-5(?:-mini|-nano)?(?:-20\d\d-\d\d-\d\d)?$/, thinks: 'always', efforts: ALL },
  { names: /gpt-[5-9]|gpt-oss|codex|(?:^|\/)o\d/, thinks: 'always', efforts: ['low', 'medium', 'high'] },
  { names: /grok-3-mini/, thinks: 'always', efforts: ['low', 'high'] },
  { names: /grok-4\.(?:20-multi|[3-9])/, thinks: 'always', efforts: ['low', 'medium', 'high'], sampling: true },
  { names: /grok-4|grok-code/, thinks: 'always', efforts: [], sampling: true },
  { names: /(?:)/, thinks: 'when-asked', efforts: ALL, sampling: true },
] as const satisfies readonly ModelFamily[])

/** The family of a model; the last one fits every name. */
function familyOf(model: string): ModelFamily {
  const name = model.toLowerCase()
  return FAMILIES.find(({ names }) => names.test(name))!
}

/** The effort of a family that comes next to the one asked for: the same, else the next higher one, else its highest. */
function effortOf(requested: Effort, { efforts }: ModelFamily): Effort | undefined {
  return efforts.find((effort) => ALL.indexOf(effort) >= ALL.indexOf(requested)) ?? efforts.at(-1)
}
