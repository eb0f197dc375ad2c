import {
  estimateTokens,
  type Message,
  type TextPart,
  type ToolCallPart,
  type ToolMessage,
} from '@hermes/contracts/conversation'
import { chosenFacts, factsIn, namesIn } from './facts.js'
import { pruneResult, resultText, SHORT_CHARS } from './prune-result.js'
import type { TranscriptEntry } from './region.js'
import { cutMiddle, cutToTokens, shrinkValue } from './shrink.js'

const TEXT_CHARS = 4_000
const ARGUMENT_CHARS = 300
const LEAST_CHARS = 200
/** Of what a result takes, for what it says that is worth keeping. */
const FACT_SHARE = 0.2

/**
 * What a model reads to summarise the messages: who said what, calls with short arguments, results in a line and the lines of them that
 * say most. Of equal results only
 * the newest is told. When it is still longer than `maxTokens`, every piece is cut further, then the middle is left out.
 */
export function renderTranscript(transcript: readonly TranscriptEntry[], maxTokens: number): string {
  const newest = newestOfEqual(transcript)
  const calls = callsById(transcript)
  const facts = factsBySeq(transcript)
  for (let textChars = TEXT_CHARS; ; textChars = Math.floor(textChars / 2)) {
    const lines = transcript.flatMap((entry) => renderEntry(entry, { calls, newest, facts, textChars }))
    const text = lines.join('\n')
    if (textChars <= LEAST_CHARS || estimateTokens(text) <= maxTokens) return cutToTokens(text, maxTokens)
  }
}

interface RenderOptions {
  readonly calls: ReadonlyMap<string, ToolCallPart>
  readonly newest: ReadonlyMap<string, number>
  readonly facts: ReadonlyMap<number, ReturnType<typeof factsIn>>
  readonly textChars: number
}

function renderEntry({ seq, message }: TranscriptEntry, { calls, newest, facts, textChars }: RenderOptions): string[] {
  if (message.role === 'tool') {
    const whole = resultText(message)
    if (newest.get(whole) !== seq) return [`[${message.toolName}] (the same came again later)`]
    const pruned = pruneResult(message, calls.get(message.callId) ?? null)
    const lines = chosenFacts(facts.get(seq) ?? [], textChars * FACT_SHARE)
    return [
      `[${message.toolName}] ${cutMiddle(pruned, textChars)}`,
      ...unsaid(lines, pruned).map((line) => `  ${line}`),
    ]
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

function unsaid(lines: readonly string[], text: string): readonly string[] {
  return lines.filter((line) => !text.includes(line.replace(/\s+/g, ' ')))
}

function factsBySeq(transcript: readonly TranscriptEntry[]): RenderOptions['facts'] {
  const taken = takenUp(transcript)
  const facts = new Map<number, ReturnType<typeof factsIn>>()
  for (const { seq, message } of transcript) {
    const text = message.role === 'tool' ? resultText(message) : ''
    if (text.length > SHORT_CHARS) facts.set(seq, factsIn(text, taken))
  }
  return facts
}

/** Names that the agent used in its own words and calls. */
function takenUp(transcript: readonly TranscriptEntry[]): ReadonlySet<string> {
  const taken = new Set<string>()
  for (const { message } of transcript)
    if (message.role === 'assistant')
      for (const part of message.content) {
        const text = part.type === 'text' ? part.text : part.type === 'tool-call' ? part.rawArgs : ''
        for (const name of namesIn(text)) taken.add(name)
      }
  return taken
}

function newestOfEqual(transcript: readonly TranscriptEntry[]): ReadonlyMap<string, number> {
  const isResult = (entry: TranscriptEntry): entry is TranscriptEntry & { readonly message: ToolMessage } =>
    entry.message.role === 'tool'
  return new Map(transcript.filter(isResult).map(({ seq, message }) => [resultText(message), seq]))
}
