import { isJsonObject, type JsonObject, type JsonValue } from '@hermes/contracts'
import { splitEvent } from './json-strings.js'

/**
 * The server-sent events of a body, with runs of deltas that continue the same text put together: a path is then in one piece for its
 * placeholder, and the recording is short and reads well in a diff. Pings are left out; anything but deltas stays as it is.
 */
export function mergeEvents(body: string): string[] {
  const merged: string[] = []
  let open: Delta | null = null
  const flush = () => {
    if (open) merged.push(`${open.head}${JSON.stringify(open.chunk)}\n\n`)
    open = null
  }
  for (const block of body.split(/\r?\n\r?\n/)) {
    if (block.trim() === '' || block.startsWith(':') || block.startsWith('event: ping')) continue
    const delta = readDelta(block)
    const joined: Delta | null = open && delta ? join(open, delta) : null
    if (joined) open = joined
    else {
      flush()
      if (delta) open = delta
      else merged.push(`${block}\n\n`)
    }
  }
  flush()
  return merged
}

interface Delta {
  readonly head: string
  readonly chunk: JsonObject
  /** Where the growing text is, and what has to be equal for two deltas to continue each other. */
  readonly kind: string
  readonly text: string
  readonly write: (text: string) => JsonObject
}

const TEXT_FIELDS = ['content', 'reasoning_content', 'reasoning']

function readDelta(block: string): Delta | null {
  const event = splitEvent(block)
  const chunk = event && parse(event.data)
  if (!event || !chunk) return null
  return (
    readConverseDelta(event.head, chunk) ??
    readBlockDelta(event.head, chunk) ??
    readItemDelta(event.head, chunk) ??
    readChoiceDelta(event.head, chunk)
  )
}

/** A delta of Bedrock converse, whose text stands in `delta` itself or one object deeper. */
function readConverseDelta(head: string, chunk: JsonObject): Delta | null {
  const { contentBlockIndex, delta } = chunk
  if (contentBlockIndex === undefined || !isJsonObject(delta)) return null
  const [field, value] = Object.entries(delta)[0] ?? []
  if (field === undefined) return null
  const [inner, text] = isJsonObject(value) ? (Object.entries(value)[0] ?? []) : [null, value]
  if (typeof text !== 'string' || (inner && !CONVERSE_FIELDS.includes(inner))) return null
  const write = (words: string) => ({ ...chunk, delta: { [field]: inner ? { [inner]: words } : words } })
  return { head, chunk, kind: `block ${String(contentBlockIndex)} ${field} ${inner}`, text, write }
}

/** Signatures and sealed thoughts come in one piece. */
const CONVERSE_FIELDS = ['text', 'input']

const BLOCK_FIELDS = ['text', 'thinking', 'partial_json']

/** A delta of Anthropic messages. */
function readBlockDelta(head: string, chunk: JsonObject): Delta | null {
  const { type, index, delta } = chunk
  if (type !== 'content_block_delta' || !isJsonObject(delta)) return null
  const field = BLOCK_FIELDS.find((name) => typeof delta[name] === 'string')
  if (field === undefined) return null
  const write = (text: string) => ({ ...chunk, delta: { ...delta, [field]: text } })
  return { head, chunk, kind: `block ${String(index)} ${field}`, text: delta[field] as string, write }
}

/** A delta of Responses. The number of the first one stays: the numbers of a recording have gaps. */
function readItemDelta(head: string, chunk: JsonObject): Delta | null {
  const { type, delta, output_index, content_index, summary_index } = chunk
  if (typeof type !== 'string' || !type.startsWith('response.') || typeof delta !== 'string') return null
  const kind = [type, output_index, content_index, summary_index].map(String).join(' ')
  return { head, chunk, kind, text: delta, write: (text) => ({ ...chunk, delta: text }) }
}

/** A delta of chat completions. */
function readChoiceDelta(head: string, chunk: JsonObject): Delta | null {
  const choice = first(chunk['choices'])
  const delta = choice?.['delta']
  if (!choice || !isJsonObject(delta) || choice['finish_reason'] || chunk['usage']) return null
  const build = (kind: string, text: string, write: (text: string) => JsonObject): Delta => ({
    head,
    chunk,
    kind,
    text,
    write: (value) => ({ ...chunk, choices: [{ ...choice, delta: write(value) }] }),
  })
  const fields = Object.keys(delta).filter((key) => key !== 'role' && delta[key] !== null)
  const [field, ...others] = fields
  if (field === undefined || others.length > 0) return null
  const value = delta[field]
  if (TEXT_FIELDS.includes(field) && typeof value === 'string')
    return build(field, value, (text) => ({ ...delta, [field]: text }))
  const call = field === 'tool_calls' && Array.isArray(value) && value.length === 1 ? first(value) : null
  const spec = call?.['function']
  if (!call || !isJsonObject(spec) || typeof spec['arguments'] !== 'string') return null
  return build(
    `call ${String(call['index'])}${call['id'] || spec['name'] ? ' start' : ''}`,
    spec['arguments'],
    (text) => ({
      ...delta,
      tool_calls: [{ ...call, function: { ...spec, arguments: text } }],
    }),
  )
}

function join(open: Delta, next: Delta): Delta | null {
  if (next.kind !== open.kind && `${next.kind} start` !== open.kind) return null
  if (next.kind.endsWith(' start')) return null
  const text = open.text + next.text
  return { ...open, text, chunk: open.write(text) }
}

function parse(data: string): JsonObject | null {
  try {
    const value = JSON.parse(data) as JsonValue
    return isJsonObject(value) ? value : null
  } catch {
    return null
  }
}

function first(value: JsonValue | undefined): JsonObject | null {
  const item = Array.isArray(value) ? (value as readonly JsonValue[])[0] : undefined
  return isJsonObject(item) ? item : null
}
