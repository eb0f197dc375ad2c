// Requests to the model server as lines: one for what stands around the messages, one for each message that was not sent before.
import type { CapturedRequest, WireBody } from '@hermes/testkit'
import { fold } from './parts.js'

type Json = Readonly<Record<string, unknown>>

/** Headers that say nothing of the program: where the server listens, and how long the body is. */
const OF_CONNECTION = new Set(['host', 'content-length', 'connection'])

/**
 * All requests, those with the same system text together: what runs side by side, such as a child or a title, has no order.
 * @param normalise applied before texts are told apart
 */
export function requestLines(
  requests: readonly CapturedRequest[],
  normalise: (text: string) => string,
): readonly string[] {
  const conversations = Map.groupBy(requests, ({ body }) => normalise(systemOf(body)))
  return [...conversations.values()].flatMap((conversation, index) => [
    `## requests of conversation ${index + 1}`,
    ...conversation.flatMap((request, at) => [
      `# request ${at + 1}`,
      ...linesOf(request, conversation[at - 1] ?? null, normalise),
    ]),
  ])
}

function linesOf(
  request: CapturedRequest,
  before: CapturedRequest | null,
  normalise: (text: string) => string,
): readonly string[] {
  const items = itemsOf(request.body)
  const earlier = before ? itemsOf(before.body) : []
  const changed = earlier.findIndex((item, index) => JSON.stringify(item) !== JSON.stringify(items[index]))
  const same = changed < 0 ? earlier.length : changed
  return [
    ...(isPlain(request.text) ? [] : ['(the body is not written as JSON.stringify writes it)']),
    ...unlessSame('headers', headersOf(request), before && headersOf(before)),
    ...unlessSame('body', headOf(request.body, normalise), before && headOf(before.body, normalise)),
    ...(same === 0 ? [] : [`(the first ${same} items as before)`]),
    ...items.slice(same).map((item) => normalise(JSON.stringify(foldSystem(item, normalise)))),
  ]
}

function unlessSame(name: string, line: string, before: string | null): readonly string[] {
  return line === before ? [] : [`${name} ${line}`]
}

function isPlain(text: string): boolean {
  return JSON.stringify(JSON.parse(text)) === text
}

function headersOf({ headers }: CapturedRequest): string {
  const kept = Object.entries(headers).filter(([name]) => !OF_CONNECTION.has(name))
  return JSON.stringify(Object.fromEntries(kept))
}

/** The body without its messages; system text and tools by their names in the folder of parts. */
function headOf(body: WireBody, normalise: (text: string) => string): string {
  const folded = Object.entries(body).map(([key, value]) => {
    if (key === 'messages' || key === 'input') return [key, '…']
    if (key === 'tools') return [key, foldTools(value as readonly Json[], normalise)]
    if (key === 'instructions') return [key, fold('system', normalise(String(value)))]
    if (key === 'system') return [key, foldSystemParts(value, normalise)]
    return [key, value]
  })
  return normalise(JSON.stringify(Object.fromEntries(folded)))
}

function itemsOf(body: WireBody): readonly unknown[] {
  return (body['input'] as readonly unknown[] | undefined) ?? body.messages
}

function systemOf(body: WireBody): string {
  const [first] = itemsOf(body) as readonly Json[]
  const isSystem = first?.['role'] === 'system' || first?.['role'] === 'developer'
  return JSON.stringify([body['system'], body['instructions'], isSystem ? first['content'] : null])
}

function foldTools(tools: readonly Json[], normalise: (text: string) => string): string {
  return fold('tools', tools.map((tool) => normalise(JSON.stringify(tool))).join('\n'))
}

function foldSystem(item: unknown, normalise: (text: string) => string): unknown {
  const { role, content } = item as Json
  if (role !== 'system' && role !== 'developer') return item
  return { ...(item as Json), content: foldSystemParts(content, normalise) }
}

/** A text, or a list of parts with texts. */
function foldSystemParts(content: unknown, normalise: (text: string) => string): unknown {
  if (typeof content === 'string') return fold('system', normalise(content))
  return (content as readonly Json[]).map((part) =>
    typeof part['text'] === 'string' ? { ...part, text: fold('system', normalise(part['text'])) } : part,
  )
}
