import type { IncomingHttpHeaders } from 'node:http'
import type { AnswerStep } from './step.js'
import type { WireBody } from './wire-body.js'

/** What an answer is built from: the turn, the request it answers and its number, counted from 1. */
export interface AnswerContext {
  readonly step: AnswerStep
  readonly body: WireBody
  readonly requestBytes: number
  readonly number: number
}

/** What the scripted server has to know of a protocol. */
export interface ServedWire {
  readonly api: 'chat-completions' | 'anthropic-messages' | 'responses' | 'bedrock-converse'
  /** The content type of a stream. Default `text/event-stream`. */
  readonly streamType?: string
  /** How the pieces of a stream are bytes: `latin1` for a binary one, a character for a byte. Default `utf8`. */
  readonly streamEncoding?: 'latin1'
  /** What a real server would refuse in a request, one line each. */
  check(body: WireBody, headers: IncomingHttpHeaders): string[]
  /** A streamed answer in the pieces in which it is written. */
  stream(context: AnswerContext): string[]
  /** The body of an answer that is not streamed. */
  whole(context: AnswerContext): object
  /** The body of a refusal. */
  refusal(status: number, message: string): object
  /** Headers that go with it. Default none. */
  refusalHeaders?(status: number): Readonly<Record<string, string>>
  /** An error in the middle of a stream, after what was sent of it. */
  errorEvent(type: string, message: string, sent: string): string
  /** The end of a stream in the middle of a line. */
  readonly garbled: string
}

/** Characters per delta where a turn says nothing. */
const DEFAULT_CHUNK_CHARS = 64

/** `text` in deltas. */
export function deltas(text: string | undefined, step: AnswerStep): string[] {
  if (!text) return []
  const chunkChars = step.chunkSize ?? DEFAULT_CHUNK_CHARS
  if (text.length <= chunkChars) return [text]
  const result: string[] = []
  for (let start = 0; start < text.length; start += chunkChars) result.push(text.slice(start, start + chunkChars))
  return result
}

/** The argument text of a call. */
export function argumentText(call: NonNullable<AnswerStep['toolCalls']>[number]): string {
  return call.rawArgs ?? JSON.stringify(call.args ?? {})
}

/** Token counts of a turn; what it does not say is counted from the bytes, four to a token. */
export function countTokens({ step, requestBytes }: AnswerContext): {
  readonly input: number
  readonly output: number
} {
  const calls = step.toolCalls?.reduce((sum, call) => sum + call.name.length + argumentText(call).length, 0) ?? 0
  const answered = (step.text?.length ?? 0) + (step.reasoning?.length ?? 0) + calls
  return {
    input: step.usage?.inputTokens ?? Math.ceil(requestBytes / 4),
    output: step.usage?.outputTokens ?? Math.ceil(answered / 4),
  }
}
