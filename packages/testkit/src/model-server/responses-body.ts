import type { WireBody } from './wire-body.js'

/** An input item as the Responses protocol has it; a user message may leave out its type. */
interface Item {
  readonly type?: string
  readonly role?: string
  readonly id?: unknown
  readonly content?: unknown
  readonly call_id?: string
  readonly name?: string
  readonly arguments?: string
  readonly output?: unknown
  readonly summary?: unknown
  readonly encrypted_content?: unknown
  readonly status?: unknown
}

/** What OpenAI would refuse in a request, one line each. `isSealed` tells whether a thought was sealed for a model. */
export function checkResponsesRequest(body: WireBody, isSealed: (model: string, sealed: string) => boolean): string[] {
  const input = itemsOf(body['input'])
  return [
    ...checkParameters(body),
    ...input.flatMap((item, index) =>
      checkItem(item, input[index + 1], (sealed) => isSealed(body.model, sealed)).map(
        (line) => `input[${index}]: ${line}`,
      ),
    ),
    ...checkCalls(input),
  ]
}

function itemsOf(input: unknown): readonly Item[] {
  return typeof input === 'string' ? [{ role: 'user', content: input }] : ((input ?? []) as readonly Item[])
}

const PARAMETERS = new Set(
  [
    'background include input instructions max_output_tokens max_tool_calls metadata model parallel_tool_calls',
    'previous_response_id prompt_cache_key reasoning safety_identifier service_tier store stream stream_options temperature',
    'text tool_choice tools top_p truncation',
  ].flatMap((names) => names.split(' ')),
)
const MIN_OUTPUT_TOKENS = 16
const THINKS = /gpt-[5-9](?!.*-chat)|codex|(?:^|\/)o\d/
const NEVER_THINKS = /gpt-[34]|gpt-5.*-chat/

function checkParameters(body: WireBody): string[] {
  const { model, temperature, reasoning, tools = [], max_output_tokens: limit } = body
  const include = (body['include'] ?? []) as readonly string[]
  const problems = Object.keys(body).flatMap((key) => (PARAMETERS.has(key) ? [] : [`Unknown parameter: '${key}'.`]))
  if (!Array.isArray(body['input']) && typeof body['input'] !== 'string')
    problems.push("Missing required parameter: 'input'.")
  if (typeof limit === 'number' && limit < MIN_OUTPUT_TOKENS)
    problems.push(`max_output_tokens: integer below minimum value, expected at least ${MIN_OUTPUT_TOKENS}`)
  if (temperature !== undefined && THINKS.test(model))
    problems.push("Unsupported parameter: 'temperature' is not supported with this model.")
  if (NEVER_THINKS.test(model) && reasoning !== undefined)
    problems.push("Unsupported parameter: 'reasoning.effort' is not supported with this model.")
  if (NEVER_THINKS.test(model) && include.includes('reasoning.encrypted_content'))
    problems.push('Encrypted content is not supported with this model.')
  ;(tools as readonly Record<string, unknown>[]).forEach((tool, index) => {
    if (tool['type'] === 'function' && typeof tool['name'] !== 'string')
      problems.push(`Missing required parameter: 'tools[${index}].name'.`)
  })
  return problems
}

const USER_PARTS = ['input_text', 'input_image', 'input_file']
const ASSISTANT_PARTS = ['output_text', 'refusal']
const MAX_ID_CHARS = 64

function checkItem(item: Item, next: Item | undefined, isSealed: (sealed: string) => boolean): string[] {
  switch (item.type ?? 'message') {
    case 'message':
      return checkParts(item.content, item.role === 'assistant' ? ASSISTANT_PARTS : USER_PARTS)
    case 'reasoning':
      return checkThought(item, next, isSealed)
    case 'function_call':
      return checkCall(item)
    case 'function_call_output':
      return typeof item.output === 'string' ? [] : checkParts(item.output, USER_PARTS)
    default:
      return [`Invalid value: '${item.type}'.`]
  }
}

function checkParts(content: unknown, types: readonly string[]): string[] {
  if (typeof content === 'string') return []
  const parts = (content ?? []) as readonly { readonly type: string }[]
  if (parts.length === 0) return ['content is empty']
  return parts.flatMap(({ type }) =>
    types.includes(type) ? [] : [`Invalid value: '${type}'. Supported values are: ${types.join(', ')}.`],
  )
}

function checkThought(item: Item, next: Item | undefined, isSealed: (sealed: string) => boolean): string[] {
  const problems: string[] = []
  if (item.id !== undefined)
    problems.push(`Item with id '${String(item.id)}' not found. Items are not persisted when store is set to false.`)
  if (item.status !== undefined) problems.push("Unknown parameter: 'status'.")
  if (!Array.isArray(item.summary)) problems.push("Missing required parameter: 'summary'.")
  if (typeof item.encrypted_content !== 'string' || !isSealed(item.encrypted_content))
    problems.push('The encrypted content could not be verified.')
  const follows = next?.type === 'reasoning' || next?.type === 'function_call' || next?.role === 'assistant'
  if (!follows) problems.push("Item of type 'reasoning' was provided without its required following item.")
  return problems
}

function checkCall({ call_id = '', name = '', arguments: text = '', id }: Item): string[] {
  const problems: string[] = []
  if (call_id === '' || call_id.length > MAX_ID_CHARS)
    problems.push(`call_id: expected 1 to ${MAX_ID_CHARS} characters`)
  if (!/^[\w-]{1,64}$/.test(name)) problems.push(`name: ${JSON.stringify(name)} does not match ^[a-zA-Z0-9_-]+$`)
  if (id !== undefined && !String(id).startsWith('fc'))
    problems.push("Invalid 'id'. Expected an ID that begins with 'fc'.")
  if (!isObjectText(text)) problems.push(`the arguments of ${call_id} are not a JSON object`)
  return problems
}

function isObjectText(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

/** Each call is answered once, somewhere after it. */
function checkCalls(input: readonly Item[]): string[] {
  const problems: string[] = []
  const open = new Map<string, boolean>()
  input.forEach(({ type, call_id = '' }, index) => {
    if (type === 'function_call') {
      if (open.has(call_id)) problems.push(`input[${index}]: duplicate call_id ${call_id}`)
      open.set(call_id, false)
    }
    if (type !== 'function_call_output') return
    if (!open.has(call_id)) problems.push(`input[${index}]: No tool call found for function call output ${call_id}.`)
    else if (open.get(call_id)) problems.push(`input[${index}]: second output for ${call_id}`)
    open.set(call_id, true)
  })
  for (const [id, answered] of open) if (!answered) problems.push(`No tool output found for function call ${id}.`)
  return problems
}
