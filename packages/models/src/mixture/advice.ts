import { type Message, messageText, type TextPart, toolCalls, type UserMessage } from '@hermes/contracts/conversation'

const MAX_RESULT_CHARS = 2_000
const MAX_ARGUMENT_CHARS = 500

const ADVISER =
  'You advise another model, which has the tools and gives the answer. Read the conversation, then say how you would answer the last message: your conclusion, the reasons that matter, what is easily got wrong. You cannot call tools; calls and their results are shown as text.'

/** A conversation as models without tools can read it: calls and results as text, nothing that only one endpoint understands. Pure. */
export function forAdvisers(messages: readonly Message[]): readonly Message[] {
  const system: Message = { role: 'system', content: [{ type: 'text', text: ADVISER }] }
  return [system, ...messages.flatMap(toPlain)]
}

function toPlain(message: Message): readonly Message[] {
  switch (message.role) {
    case 'system':
      return []
    case 'user':
      return [message]
    case 'assistant': {
      const calls = toolCalls(message).map(
        ({ name, rawArgs }) => `[called ${name} ${cut(rawArgs, MAX_ARGUMENT_CHARS)}]`,
      )
      const text = [messageText(message), ...calls].filter((line) => line.trim() !== '').join('\n')
      return text === '' ? [] : [{ role: 'assistant', content: [{ type: 'text', text }] }]
    }
    case 'tool': {
      const text = message.content.map((part) => (part.type === 'text' ? part.text : '[image]')).join('\n')
      const line = `[result of ${message.toolName}: ${cut(text, MAX_RESULT_CHARS)}]`
      return [{ role: 'user', content: [{ type: 'text', text: line, origin: 'external' }] }]
    }
    default:
      return message satisfies never
  }
}

function cut(text: string, maxChars: number): string {
  return text.length > maxChars ? `${text.slice(0, maxChars)} …` : text
}

/** What one adviser said. */
export interface Advice {
  readonly model: string
  readonly text: string
}

/** The conversation with `advice` at the end of the user message at `index`; as it is where there is no advice. Pure. */
export function withAdvice(messages: readonly Message[], index: number, advice: readonly Advice[]): readonly Message[] {
  const message = messages[index]
  if (advice.length === 0 || message?.role !== 'user') return messages
  const part: TextPart = { type: 'text', text: adviceText(advice), origin: 'reminder' }
  const advised: UserMessage = { ...message, content: [...message.content, part] }
  return messages.with(index, advised)
}

function adviceText(advice: readonly Advice[]): string {
  const text = advice.map(
    ({ model, text }, index) => `<advice from="${index + 1}: ${model}">\n${text.trim()}\n</advice>`,
  )
  return `Other models were asked the same. Weigh what they say, keep what holds, and answer yourself; do not mention them.\n\n${text.join('\n\n')}`
}
