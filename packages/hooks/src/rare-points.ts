// What programs are told at points that few want: answers while they come, and what no run belongs to. Loaded with the first of them.
import type { JsonObject } from '@hermes/contracts'
import type { ChatMessageVerdict, HookHandlers, HookName, Objection } from '@hermes/contracts/extension'
import type { HookAnswer } from './answer.js'
import type { RarePoint } from './event-table.js'
import type { Moment } from './moment.js'

type EventOf<Name extends HookName> = Parameters<HookHandlers[Name]>[0]

/** What a point adds to a moment. */
type Facts = Pick<Moment, 'matched' | 'fields'> & { readonly sessionId?: string | null; readonly platform?: string }

const FACTS: { readonly [Name in RarePoint]: (event: EventOf<Name>) => Facts } = {
  'stream-start': ({ messageId }) => hermes({ message_id: messageId }),
  'stream-delta': ({ messageId, kind, text }) => ({
    ...hermes({ message_id: messageId, kind, delta: text }),
    matched: { kind },
  }),
  'stream-end': ({ messageId, text, isWhole }) =>
    hermes({ message_id: messageId, final_text: text, finished: isWhole }),
  'interim-message': ({ messageId, text }) => hermes({ message_id: messageId, text, already_streamed: true }),
  'model-error': ({ model, error, attempt, delayMs }) =>
    hermes({
      ...{ provider: model.provider, reason: error.code.replace(/^transport\./, ''), error: error.message },
      ...{ retry_count: attempt - 1, retryable: delayMs !== null },
    }),
  'before-command': ({ command, args, platform, sessionId }) => ({
    ...hermes({ command, args, args_raw: typed(args) }),
    ...{ matched: { command }, sessionId, platform },
  }),
  'before-auxiliary-call': ({ task, model, sessionId, request }) => ({
    ...hermes({ aux_task: task, ...model, message_count: request.messages.length }),
    ...{ matched: { task }, sessionId },
  }),
  'after-auxiliary-call': ({ task, model, sessionId, usage, error }) => ({
    ...hermes({ aux_task: task, ...model, usage: usage && { ...usage }, error: error?.message ?? null }),
    ...{ matched: { task }, sessionId },
  }),
  'chat-message': ({ platform, message }) => ({
    ...hermes({
      event: {
        ...{ type: message.type, text: message.text, message_id: message.messageId },
        ...{ chat_id: message.chat.id, chat_type: message.chat.type },
        ...{ sender_id: message.sender.id, sender_name: message.sender.name },
      },
    }),
    platform,
  }),
  'skill-change': ({ action, skill, by, sessionId }) => ({
    ...hermes({ action, skill_name: skill, provenance: by }),
    sessionId,
  }),
}

/** What hooks are told there. */
export function factsOf<Name extends RarePoint>(point: Name, event: EventOf<Name>): Facts {
  return FACTS[point](event)
}

/** What their answers come to there. */
export function answerOf(point: RarePoint, answers: readonly HookAnswer[]): Objection | ChatMessageVerdict | undefined {
  if (point === 'chat-message') return answers.find(({ chat }) => chat !== undefined)?.chat
  if (point !== 'before-command' && point !== 'before-auxiliary-call') return undefined
  const reason = answers.map(({ block, stop }) => block ?? stop).find((text) => text !== undefined)
  return reason === undefined ? undefined : { type: 'block', reason }
}

const hermes = (fields: JsonObject): Facts => ({ fields: { hermes: fields } })

/** Arguments as they could have been typed. */
const typed = (args: JsonObject) =>
  Object.values(args)
    .flat()
    .filter((value) => typeof value === 'string' || typeof value === 'number')
    .join(' ')
