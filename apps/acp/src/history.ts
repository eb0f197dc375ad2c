import type { SessionUpdate } from '@agentclientprotocol/sdk'
import type { AssistantMessage, Entry, Message, ToolMessage, UserMessage } from '@hermes/contracts/conversation'
import { liveEntries, messageText, toolCalls } from '@hermes/contracts/conversation'
import type { CallIds } from './call-ids.js'
import { toPlan } from './plan.js'
import { finishedView, type Place, plannedContent, plannedLocations, toolKind } from './tool-view.js'
import { reasoningText, textChunk } from './updates.js'

const MAX_TITLE_CHARS = 120

/** A stored session as the updates it once gave, in order. What was undone or only meant for the model is left out. */
export function toHistory(log: readonly Entry[], ids: CallIds, place: Place): readonly SessionUpdate[] {
  const entries = liveEntries(log)
  const updates = entries.flatMap((entry) =>
    entry.type === 'message' ? messageUpdates(entry.message, `stored-${entry.seq}`, ids, place) : [],
  )
  return [...updates, ...neverAnswered(entries, ids)]
}

function messageUpdates(message: Message, messageId: string, ids: CallIds, place: Place): readonly SessionUpdate[] {
  switch (message.role) {
    case 'system':
      return []
    case 'user':
      return userUpdates(message, messageId)
    case 'assistant':
      return assistantUpdates(message, messageId, ids, place)
    case 'tool':
      return toolUpdates(message, ids)
    default:
      return message satisfies never
  }
}

function userUpdates(message: UserMessage, messageId: string): readonly SessionUpdate[] {
  return message.content.flatMap((part): SessionUpdate[] => {
    if (part.origin !== undefined && part.origin !== 'user') return []
    if (part.type === 'text') return [textChunk('user_message_chunk', part.text, messageId)]
    if (part.type === 'file') return []
    const content = { type: part.type, data: part.data, mimeType: part.mediaType } as const
    return [{ sessionUpdate: 'user_message_chunk', content, messageId }]
  })
}

function assistantUpdates(
  message: AssistantMessage,
  messageId: string,
  ids: CallIds,
  place: Place,
): readonly SessionUpdate[] {
  const reasoning = reasoningText(message)
  const text = messageText(message)
  const calls = toolCalls(message).map((call): SessionUpdate => {
    const args = call.args ?? {}
    return {
      sessionUpdate: 'tool_call',
      toolCallId: ids.begin(call.id),
      name: call.name,
      title: title(call.name, Object.values(args)[0]),
      kind: toolKind(call.name),
      status: 'pending',
      rawInput: args,
      locations: plannedLocations(args, place),
      content: plannedContent(call.name, args, place),
    }
  })
  return [
    ...(reasoning === '' ? [] : [textChunk('agent_thought_chunk', reasoning, messageId)]),
    ...(text === '' ? [] : [textChunk('agent_message_chunk', text, messageId)]),
    ...calls,
  ]
}

function title(toolName: string, first: unknown): string {
  if (first === undefined) return toolName
  const line = `${toolName} ${typeof first === 'string' ? first : JSON.stringify(first)}`.replace(/\s+/g, ' ')
  return line.slice(0, MAX_TITLE_CHARS).toWellFormed()
}

function toolUpdates(message: ToolMessage, ids: CallIds): readonly SessionUpdate[] {
  const { toolName, callId, content, data } = message
  const isError = message.isError ?? false
  const outcome = { toolName, isError, content, ...(data === undefined ? {} : { data }) }
  const plan = isError ? null : toPlan(toolName, data)
  const status = isError ? 'failed' : 'completed'
  const toolCallId = ids.current(callId)
  const update: SessionUpdate = { sessionUpdate: 'tool_call_update', toolCallId, status, ...finishedView(outcome) }
  return plan ? [update, plan] : [update]
}

/** Calls that a crash left open. */
function neverAnswered(entries: readonly Entry[], ids: CallIds): readonly SessionUpdate[] {
  const open = new Set<string>()
  for (const entry of entries) {
    if (entry.type !== 'message') continue
    for (const call of toolCalls(entry.message)) open.add(call.id)
    if (entry.message.role === 'tool') open.delete(entry.message.callId)
  }
  return [...open].map((callId) => ({
    sessionUpdate: 'tool_call_update',
    toolCallId: ids.current(callId),
    status: 'failed',
  }))
}
