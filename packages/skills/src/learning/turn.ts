// What of a session is worth learning from, read from its log.
import {
  type Entry,
  latestTurnStart,
  liveEntries,
  type Message,
  messageText,
  toolCalls,
} from '@hermes/contracts/conversation'
import { feedbackIn } from './feedback.js'

/** As a skill begins where a model reads it. */
const SHOWN = /^# Skill: ([a-z0-9-]{1,64}) \(([a-z]+)\)$/gm
/** As results of commands end that failed, and as others begin. */
const FAILED = /^\[exit [1-9]\d*[:\] ·]/m
/** A turn of so many calls took effort. */
export const HARD_CALLS = 5

/** One turn of a session, or several. */
export interface Effort {
  readonly calls: number
  readonly failures: number
  /** The person corrected an answer. */
  readonly isCorrected: boolean
  /** Skills that were loaded, by name. */
  readonly skills: readonly string[]
  /** A skill was written or mended. */
  readonly hasWritten: boolean
}

/** The skills that the newest turn had. `entries` without what was undone. */
export function skillsOfLastTurn(entries: readonly Entry[]): readonly string[] {
  const start = latestTurnStart(entries)
  return start === null ? [] : skillsIn(entries.filter(({ seq }) => seq >= start))
}

/** How much these entries took. */
export function effortIn(entries: readonly Entry[]): Effort {
  const messages = messagesOf(entries)
  const called = messages.flatMap(toolCalls)
  const failures = messages.filter(
    (message) => message.role === 'tool' && (message.isError || FAILED.test(textOf(message))),
  )
  const isCorrected = messages.some(
    (message, index) => index > 0 && message.role === 'user' && feedbackIn(ownWords(message)) === 'corrects',
  )
  const hasWritten = messages.some(
    ({ role, ...message }) => role === 'tool' && 'toolName' in message && message.toolName === 'skill_manage',
  )
  return { calls: called.length, failures: failures.length, isCorrected, skills: skillsIn(entries), hasWritten }
}

/** Whether a way was found that took effort: worth keeping if it is met again. */
export const isHard = ({ calls, failures, isCorrected }: Effort): boolean =>
  calls >= HARD_CALLS && (failures > 0 || isCorrected)

function skillsIn(entries: readonly Entry[]): readonly string[] {
  const names = messagesOf(entries).flatMap((message) => {
    if (message.role === 'tool' && (message.toolName !== 'skill_view' || message.isError)) return []
    if (message.role !== 'tool' && message.role !== 'user') return []
    return message.content.flatMap((part) =>
      part.type === 'text' && (message.role === 'tool' || (part.origin ?? 'user') !== 'user')
        ? [...part.text.matchAll(SHOWN)].slice(0, 1).map(([, name]) => name!)
        : [],
    )
  })
  return [...new Set(names)]
}

const messagesOf = (entries: readonly Entry[]): readonly Message[] =>
  liveEntries(entries).flatMap((entry) => (entry.type === 'message' ? [entry.message] : []))

/** All that a message says, with what only models see. */
export function textOf({ content }: Message): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
}

/** What a person wrote themselves. */
export function ownWords(message: Message): string {
  if (message.role !== 'user') return messageText(message)
  return message.content
    .flatMap((part) => (part.type === 'text' && (part.origin ?? 'user') === 'user' ? [part.text] : []))
    .join('\n')
}
