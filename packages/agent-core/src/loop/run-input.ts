import type { JsonObject } from '@hermes/contracts'
import type { AssistantMessage, NewEntry, TextPart, UserMessage, UserPart } from '@hermes/contracts/conversation'
import type { InputParts } from '@hermes/contracts/extension'
import { transformTogether } from '../hooks/dispatch.js'
import { hookEvent } from '../hooks/run-hook-event.js'
import { fenceInput, fenceWaiting } from '../outside-text/outside-text.js'
import { inboxMessagePart } from '../steering/inbox-message-part.js'
import type { RunContext } from './run-context.js'

/** What a run starts with: text, a whole user message, or nothing new after a crash, a park or an interrupt. */
export type RunInput =
  | string
  | (Pick<UserMessage, 'content' | 'author' | 'platformMessageId'> & {
      /** What was said before it where this session was not: appended first, in one step with the message. */
      readonly history?: readonly (UserMessage | AssistantMessage)[]
    })
  | { readonly resume: true }

/** The user's message and what it takes along, in one append. After a resume this comes once open calls have their results. */
export async function appendMessage(context: RunContext, input: RunInput): Promise<void> {
  const entries: NewEntry[] = []
  const inboxMessages = await context.session.inboxMessages()
  const queued = context.session.notesSince('steer.queued', 'steer.taken').map(queuedPart)
  if (queued.length > 0) entries.push({ type: 'note', kind: 'steer.taken', data: { count: queued.length } })
  if (typeof input === 'object' && 'content' in input)
    for (const message of input.history ?? []) entries.push({ type: 'message', message })
  const added = await additions(context, textsIn(input))
  const waiting = await fenceWaiting(context, [...inboxMessages.map(inboxMessagePart), ...queued])
  const before = [...waiting, ...added.flatMap((parts) => parts.before ?? [])]
  const after = added.flatMap((parts) => parts.after ?? [])
  const message = userMessage(await withFencedInput(context, input), { before, after })
  if (message) entries.push({ type: 'message', message })
  const taken = inboxMessages.map(({ key }) => key)
  if (entries.length > 0) await context.session.appendTaking(taken, ...entries)
}

async function withFencedInput(context: RunContext, input: RunInput): Promise<RunInput> {
  if (typeof input === 'string' || isResume(input)) return input
  return { ...input, content: await fenceInput(context, input.content) }
}

/** What extensions add to what a person sent. */
async function additions(context: RunContext, input: ReturnType<typeof textsIn>): Promise<readonly InputParts[]> {
  const hooks = context.hooks.at('input')
  if (input === null || hooks.length === 0) return []
  const added = await transformTogether(hooks, 'input', hookEvent(context, { input }))
  const fenced = (parts: readonly UserPart[] = []) => fenceInput(context, parts)
  return Promise.all(
    added.map(async ({ before, after }) => ({ before: await fenced(before), after: await fenced(after) })),
  )
}

/** What a person sent; `null` when nothing new is said. */
export function textsIn(input: RunInput): string | readonly UserPart[] | null {
  if (typeof input === 'string') return input
  return isResume(input) ? null : input.content
}

/** Whether nothing new is said. */
export function isResume(input: RunInput): input is { readonly resume: true } {
  return typeof input === 'object' && 'resume' in input
}

/** What the user said is the user's; what a tool had to tell stays hidden from display. */
function queuedPart({ data }: { readonly data: JsonObject }): TextPart {
  const part = { type: 'text', text: String(data['text']) } as const
  const { origin } = data
  return origin === 'reminder' || origin === 'external' ? { ...part, origin } : part
}

/** The user's message, led by what was said while nobody could carry it; taking it is part of the same append. */
function userMessage(
  input: RunInput,
  { before, after }: { readonly before: readonly UserPart[]; readonly after: readonly UserPart[] },
): UserMessage | null {
  if (isResume(input)) return before.length > 0 ? { role: 'user', content: before } : null
  if (typeof input === 'string') return { role: 'user', content: [...before, { type: 'text', text: input }, ...after] }
  const { history: _, ...message } = input
  return { ...message, role: 'user', content: [...before, ...message.content, ...after] }
}
