import type { CompactPlan } from '@hermes/contracts/context'
import { type Entry, type Message, messageText, toolCalls } from '@hermes/contracts/conversation'
import { clipped } from './parameters.js'

const ROLES: readonly (readonly [role: Message['role'], name: string])[] = [
  ['user', 'from you'],
  ['assistant', 'from Hermes'],
  ['tool', 'results'],
]

/** What a compaction would take out, for a person: how much, of whom, and its first and last words. */
export function describePlan(plan: CompactPlan, entries: readonly Entry[]): string {
  const { messages, fromSeq, upToSeq, tokensBefore, tokensAfter } = plan
  const headline = `${messages} messages would become a summary: ${tokensBefore} tokens, then about ${tokensAfter}.`
  if (fromSeq === undefined || upToSeq === undefined) return headline
  const gone = entries.flatMap((entry) =>
    entry.type === 'message' && entry.seq >= fromSeq && entry.seq <= upToSeq ? [entry.message] : [],
  )
  const counts = ROLES.map(([role, name]) => [gone.filter((message) => message.role === role).length, name] as const)
    .filter(([count]) => count > 0)
    .map(([count, name]) => `${count} ${name}`)
  const [first, last] = [gone[0], gone.at(-1)]
  return [
    `${headline} They are ${counts.join(', ')}.`,
    ...(first ? [`first: ${preview(first)}`] : []),
    ...(last ? [`last: ${preview(last)}`] : []),
    'The newest messages, your newest request and the open tasks stay as they are; what you said stays verbatim as far as it fits.',
  ].join('\n')
}

function preview(message: Message): string {
  const calls = toolCalls(message).map(({ name }) => name)
  const text = message.role === 'tool' ? `result of ${message.toolName}` : messageText(message).trim()
  return clipped([text, ...calls.map((name) => `calls ${name}`)].filter((part) => part !== '').join(', '))
}
