import type { JsonObject } from '@hermes/contracts'
import type { AssistantMessage, NewEntry, TextPart, UserMessage, UserPart } from '@hermes/contracts/conversation'
import type { InputParts } from '@hermes/contracts/extension'
import { CHAT_MESSAGE, type ChatMessageBody, type InboxMessage } from '@hermes/contracts/store'
import { demandText } from '../answers/demands.js'
import { transformTogether } from '../hooks/dispatch.js'
import { hookEvent } from '../hooks/run-hook-event.js'
import { fenceInput, fenceWaiting } from '../outside-text/outside-text.js'
import { inboxMessagePart } from '../steering/steer-queue.js'
import type { RunContext } from './run-context.js'

/** What a run starts with: text, a whole user message, or nothing new after a crash, a park or an interrupt. */
export type RunInput =
  | string
  | (Pick<UserMessage, 'content' | 'author' | 'platformMessageId'> & {
      /** What was said before it where this session was not: appended first, in one step with the message. */
      readonly history?: readonly (UserMessage | AssistantMessage)[]
    })
  | { readonly resume: true }
  /** What people said in the chat of the session and waits in its inbox. Where nothing waits, as `resume`. */
  | { readonly inbox: true }

/** The user's message and what it takes along, in one append. After a resume this comes once open calls have their results. */
export async function appendMessage(context: RunContext, input: RunInput): Promise<void> {
  const entries: NewEntry[] = []
  const inboxMessages = await context.session.inboxMessages()
  const chat = inboxMessages.filter(isChatMessage)
  const queued = context.session.notesSince('steer.queued', 'steer.taken').map(queuedPart)
  if (queued.length > 0) entries.push({ type: 'note', kind: 'steer.taken', data: { count: queued.length } })
  if (typeof input === 'object' && 'content' in input)
    for (const message of input.history ?? []) entries.push({ type: 'message', message })
  const texts = [...chat.flatMap(partsOf), ...partsIn(input)]
  const added = await additions(context, chat.length === 0 ? textsIn(input) : texts)
  const news = inboxMessages.filter((message) => !isChatMessage(message)).map(inboxMessagePart)
  const waiting = await fenceWaiting(context, [...news, ...queued])
  const before = [...waiting, ...added.flatMap((parts) => parts.before ?? [])]
  const demanded = demandText(context.demands)
  const after = [...added.flatMap((parts) => parts.after ?? []), ...(demanded ? [demanded] : [])]
  const isLast = isResume(input)
  for (const message of await chatMessages(context, chat, { before, after: isLast ? after : [] }))
    entries.push({ type: 'message', message })
  const along = chat.length === 0 ? { before, after } : { before: [], after: isLast ? [] : after }
  const message = userMessage(await withFencedInput(context, input), along)
  if (message) entries.push({ type: 'message', message })
  const taken = inboxMessages.map(({ key }) => key)
  if (entries.length > 0) await context.session.appendTaking(taken, ...entries)
}

/** What people said in the chat, in order: what comes along leads the first of them or follows the last. */
async function chatMessages(
  context: RunContext,
  chat: readonly InboxMessage[],
  { before, after }: { readonly before: readonly UserPart[]; readonly after: readonly UserPart[] },
): Promise<readonly UserMessage[]> {
  return Promise.all(
    chat.map(async ({ body }, index): Promise<UserMessage> => {
      const { parts, author, platformMessageId } = body as unknown as ChatMessageBody
      const own = await fenceInput(context, parts)
      const content = [...(index === 0 ? before : []), ...own, ...(index === chat.length - 1 ? after : [])]
      const from = author === undefined ? {} : { author }
      return { role: 'user', content, ...from, ...(platformMessageId === undefined ? {} : { platformMessageId }) }
    }),
  )
}

/** Whether the run begins with something new; what waits in the inbox beside words of people comes along either way. */
export async function saysSomething({ session }: RunContext, input: RunInput): Promise<boolean> {
  if (!isResume(input)) return true
  return 'inbox' in input && (await session.inboxMessages()).some(isChatMessage)
}

function isChatMessage({ kind }: InboxMessage): boolean {
  return kind === CHAT_MESSAGE
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

/** Whether it comes without words of its own. */
function isResume(input: RunInput): input is { readonly resume: true } | { readonly inbox: true } {
  return typeof input === 'object' && ('resume' in input || 'inbox' in input)
}

function partsOf({ body }: InboxMessage): readonly UserPart[] {
  return (body as unknown as ChatMessageBody).parts
}

function partsIn(input: RunInput): readonly UserPart[] {
  if (typeof input === 'string') return [{ type: 'text', text: input }]
  return isResume(input) ? [] : input.content
}

/** What the user said is the user's; what a tool had to tell stays hidden from display. */
function queuedPart({ data }: { readonly data: JsonObject }): TextPart {
  const { origin, sources } = data as { readonly origin?: unknown } & Pick<TextPart, 'sources'>
  const part = { type: 'text', text: String(data['text']), ...(sources ? { sources } : {}) } as const
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
