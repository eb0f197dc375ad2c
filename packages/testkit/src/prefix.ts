import type { WireBody, WireMessage } from './model-server/wire-body.js'

const CACHE_MARKS = new Set(['cache_control'])

/** One line for the tool definitions, one for the system text, one for each wire message or item of any wire; cache marks removed. */
export function prefixLines(request: { readonly body: WireBody }): string[] {
  const { toolConfig, messages, system, input, instructions = '' } = request.body
  const { tools = [] } = toolConfig === undefined ? request.body : (toolConfig as Pick<WireBody, 'tools'>)
  if (Array.isArray(input)) return [line(tools), line(instructions), ...input.map(line)]
  if (system !== undefined) return [line(tools), line(system), ...messages.map(line)]
  const [first, rest] = split(messages)
  return [line(tools), line(first?.content ?? ''), ...rest.map(line)]
}

/**
 * Where the prompt prefix broke between two requests of one session, or `null` when it held: all lines of the previous request come
 * first in the next one, and only its last message may have grown at its end. A string and a list of one text part are the same content.
 */
export function checkPrefix(previous: { readonly body: WireBody }, next: { readonly body: WireBody }): string | null {
  const before = prefixLines(previous)
  const after = prefixLines(next)
  for (let index = 0; index < before.length; index++) {
    if (before[index] === after[index]) continue
    const name = index === 0 ? 'the tool definitions' : index === 1 ? 'the system text' : `message ${index - 2}`
    if (after[index] === undefined) return `${name} is missing in the next request`
    const last = index === before.length - 1 && index >= 2
    if (last && grew(JSON.parse(before[index]!) as WireMessage, JSON.parse(after[index]!) as WireMessage)) continue
    return `${name} changed: ${difference(before[index]!, after[index]!)}`
  }
  return null
}

function split(messages: readonly WireMessage[]): [WireMessage | undefined, readonly WireMessage[]] {
  const first = messages[0]
  return first?.role === 'system' || first?.role === 'developer' ? [first, messages.slice(1)] : [undefined, messages]
}

function line(value: unknown): string {
  return JSON.stringify(value, (key, inner: unknown) => {
    if (Array.isArray(inner)) return inner.filter((item) => !isCachePoint(item))
    return CACHE_MARKS.has(key) ? undefined : inner
  })
}

/** On Bedrock a mark is a block of its own. */
function isCachePoint(item: unknown): boolean {
  return typeof item === 'object' && item !== null && Object.hasOwn(item, 'cachePoint')
}

function grew(before: WireMessage, after: WireMessage): boolean {
  const { content: oldContent, output: oldOutput, ...oldRest } = before
  const { content: newContent, output: newOutput, ...newRest } = after
  if (line(oldRest) !== line(newRest)) return false
  const oldParts = parts(oldContent ?? oldOutput)
  const newParts = parts(newContent ?? newOutput)
  return oldParts.every((part, index) => {
    const grown = newParts[index]
    if (line(part) === line(grown)) return true
    return index === oldParts.length - 1 && isText(part) && isText(grown) && grown.text.startsWith(part.text)
  })
}

function parts(content: unknown): readonly unknown[] {
  if (Array.isArray(content)) return content
  return typeof content === 'string' ? [{ type: 'text', text: content }] : []
}

function isText(part: unknown): part is { type: 'text'; text: string } {
  return typeof part === 'object' && part !== null && (part as { type?: unknown }).type === 'text'
}

const SHOWN_CHARS = 60

function difference(before: string, after: string): string {
  let at = 0
  while (at < before.length && before[at] === after[at]) at++
  const from = Math.max(0, at - 20)
  return `at character ${at}: …${before.slice(from, at + SHOWN_CHARS)}… became …${after.slice(from, at + SHOWN_CHARS)}…`
}
