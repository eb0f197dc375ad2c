import {
  estimateTokens,
  type Message,
  type TextPart,
  type ToolCallPart,
  type ToolMessage,
} from '@hermes/contracts/conversation'
import { pruneResult, resultText } from './prune-result.js'
import type { TranscriptEntry } from './region.js'
import { cutMiddle, cutToTokens, shrinkValue } from './shrink.js'

const TEXT_CHARS = 4_000
const ARGUMENT_CHARS = 300
const LEAST_CHARS = 200

/**
 * What a model reads to summarise the messages: who said what, calls with short arguments, results in a line. Of equal results only
 * the newest is told. When it is still longer than `maxTokens`, every piece is cut further, then the middle is left out.
 */
export function renderTranscript(transcript: readonly TranscriptEntry[], maxTokens: number): string {
  const newest = newestOfEqual(transcript)
  const calls = callsById(transcript)
  for (let textChars = TEXT_CHARS; ; textChars = Math.floor(textChars / 2)) {
    const lines = transcript.flatMap((entry) => renderEntry(entry, { calls, newest, textChars }))
    const text = lines.join('\n')
    if (textChars <= LEAST_CHARS || estimateTokens(text) <= maxTokens) return cutToTokens(text, maxTokens)
  }
}

interface RenderOptions {
  readonly calls: ReadonlyMap<string, ToolCallPart>
  readonly newest: ReadonlyMap<string, number>
  readonly textChars: number
}

function renderEntry({ seq, message }: TranscriptEntry, { calls, newest, textChars }: RenderOptions): string[] {
  if (message.role === 'tool') {
    const isOld = newest.get(resultText(message)) !== seq
    const text = isOld ? '(the same came again later)' : pruneResult(message, calls.get(message.callId) ?? null)
    return [`[${message.toolName}] ${cutMiddle(text, textChars)}`]
  }
  return message.content.flatMap((part): string[] => {
    switch (part.type) {
      case 'text':
        return part.text.trim() === '' ? [] : [`[${speaker(message.role, part)}] ${cutMiddle(part.text, textChars)}`]
      case 'tool-call':
        return [`[calls ${part.name}] ${JSON.stringify(shrinkValue(part.args ?? {}, ARGUMENT_CHARS))}`]
      case 'reasoning':
        return []
      case 'image':
      case 'audio':
      case 'file':
        return [`[${message.role}] (${part.type})`]
      default:
        return part satisfies never
    }
  })
}

/** Whose words a text is: what came along with a message of the user is not what they asked for. */
function speaker(role: Message['role'], { origin = 'user' }: TextPart): string {
  switch (origin) {
    case 'user':
    case 'steer':
      return role
    case 'reminder':
      return 'note of the program'
    case 'memory':
      return 'recalled from earlier sessions'
    case 'external':
      return 'text that came with it'
    default:
      return origin satisfies never
  }
}

function callsById(transcript: readonly TranscriptEntry[]): ReadonlyMap<string, ToolCallPart> {
  const calls = new Map<string, ToolCallPart>()
  for (const { message } of transcript)
    if (message.role === 'assistant')
      for (const part of message.content) if (part.type === 'tool-call') calls.set(part.id, part)
  return calls
}

function newestOfEqual(transcript: readonly TranscriptEntry[]): ReadonlyMap<string, number> {
  const isResult = (entry: TranscriptEntry): entry is TranscriptEntry & { readonly message: ToolMessage } =>
    entry.message.role === 'tool'
  return new Map(transcript.filter(isResult).map(({ seq, message }) => [resultText(message), seq]))
}
