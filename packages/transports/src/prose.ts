import { ANTHROPIC_MESSAGES_PROSE } from './wires/anthropic-messages/prose.js'
import { BEDROCK_CONVERSE_PROSE } from './wires/bedrock-converse/prose.js'
import { CHAT_COMPLETIONS_PROSE } from './wires/chat-completions/prose.js'
import type { Prose, Topic } from './wires/prose.js'
import { RESPONSES_PROSE } from './wires/responses/prose.js'

export type { Topic }

// An error does not say which wire it came over, and gateways pass on the words of others, so all are asked.
const ALL: readonly Prose[] = Object.freeze([
  ANTHROPIC_MESSAGES_PROSE,
  CHAT_COMPLETIONS_PROSE,
  RESPONSES_PROSE,
  BEDROCK_CONVERSE_PROSE,
])

/** Whether an error is about something, by its words. */
export function speaksOf(topic: Topic, message: string): boolean {
  return ALL.some(({ words }) => words[topic]?.test(message))
}

/** Whether an error is about something, by its codes. */
export function hasCodeOf(topic: Topic, codes: readonly string[]): boolean {
  return ALL.some((prose) => prose.codes[topic]?.some((code) => codes.includes(code)))
}

const LEAST_WINDOW = 256

/** The window that an error names, in tokens; `null` when it names none. */
export function windowIn(message: string): number | null {
  for (const { windows } of ALL)
    for (const pattern of windows) {
      const tokens = Number(pattern.exec(message)?.[1]?.replaceAll(/[,_]/g, ''))
      if (tokens >= LEAST_WINDOW) return tokens
    }
  return null
}
