import type { SessionUpdate } from '@agentclientprotocol/sdk'
import { type AgentEvent, describeNotice, type NewText, RepeatedText } from '@hermes/agent-core'
import { type AssistantMessage, messageText } from '@hermes/contracts/conversation'
import type { CallIds } from './call-ids.js'
import { toPlan } from './plan.js'
import { finishedView, type Place, plannedContent, plannedLocations, textContent, toolKind } from './tool-view.js'

/** What one run says, as updates of the session. */
export class RunUpdates {
  readonly #ids: CallIds
  readonly #place: Place
  readonly #showsNotices: boolean
  /** Calls that wait for a person, by approval. */
  readonly #requested = new Map<string, string>()
  /** The newest line of each source of a call. */
  readonly #progress = new Map<string, Map<string, string>>()
  readonly #streamed = { text: '', reasoning: '' }
  readonly #repeated = new RepeatedText()
  /** The message that an answer asked again goes on with; `null` when none broke off. */
  #brokenId: string | null = null

  /** Without `showsNotices` of the client they are thoughts. */
  constructor(ids: CallIds, place: Place, { showsNotices }: { readonly showsNotices: boolean }) {
    this.#ids = ids
    this.#place = place
    this.#showsNotices = showsNotices
  }

  /** The updates an event comes to, in order. */
  of(event: AgentEvent): readonly SessionUpdate[] {
    switch (event.type) {
      case 'message-delta':
        this.#streamed.text = event.messageId
        return this.#text(this.#repeated.add(event.text), event.messageId)
      case 'reasoning-delta':
        this.#streamed.reasoning = event.messageId
        return [textChunk('agent_thought_chunk', event.text, event.messageId)]
      case 'message-end':
        return this.#messageEnd(event)
      case 'tool-start':
        return [this.#start(event)]
      case 'tool-progress':
        return [{ ...this.#update(event.callId), content: [textContent(this.#lines(event))] }]
      case 'tool-end':
        return this.#end(event)
      case 'approval-request':
        this.#requested.set(event.approvalId, event.callId)
        return [{ ...this.#update(event.callId), status: 'pending' }]
      case 'approval-resolve':
        return this.#goesOn(event)
      case 'retry-wait':
        if (event.discardedMessageId !== undefined && this.#repeated.breakOff())
          this.#brokenId ??= event.discardedMessageId
        return this.#notice(event)
      case 'compaction-start':
      case 'notice':
        return this.#notice(event)
      case 'run-start':
      case 'run-end':
      case 'message-start':
      case 'question-request':
      case 'question-resolve':
      case 'compaction-end':
      case 'usage-update':
        return []
      default:
        return event satisfies never
    }
  }

  #notice(event: AgentEvent): readonly SessionUpdate[] {
    const { level, text } = describeNotice(event)!
    if (this.#showsNotices) return [{ sessionUpdate: 'notice', severity: level, title: text }]
    return [textChunk('agent_thought_chunk', `${text}\n`)]
  }

  #messageEnd({ messageId, message }: AgentEvent & { readonly type: 'message-end' }): readonly SessionUpdate[] {
    const rest = this.#text(this.#repeated.end(), messageId)
    this.#brokenId = null
    return [...rest, ...this.#unstreamed(messageId, message)]
  }

  /** What was shown cannot be taken back, so it is said where another answer takes its place. */
  #text({ text, isOther }: NewText, newId: string): readonly SessionUpdate[] {
    if (isOther) this.#brokenId = null
    const messageId = this.#brokenId ?? newId
    const words = isOther ? `\n\n[The reply broke off; asked again, it says:]\n\n${text}` : text
    return words === '' ? [] : [textChunk('agent_message_chunk', words, messageId)]
  }

  /** A server that does not stream says everything at the end. */
  #unstreamed(messageId: string, message: AssistantMessage): readonly SessionUpdate[] {
    const reasoning = this.#streamed.reasoning === messageId ? '' : reasoningText(message)
    const text = this.#streamed.text === messageId ? '' : messageText(message)
    return [
      ...(reasoning === '' ? [] : [textChunk('agent_thought_chunk', reasoning, messageId)]),
      ...(text === '' ? [] : [textChunk('agent_message_chunk', text, messageId)]),
    ]
  }

  #start(event: AgentEvent & { readonly type: 'tool-start' }): SessionUpdate {
    return {
      sessionUpdate: 'tool_call',
      toolCallId: this.#ids.begin(event.callId),
      name: event.toolName,
      title: event.summary || event.toolName,
      kind: toolKind(event.toolName),
      status: 'in_progress',
      rawInput: event.args,
      locations: plannedLocations(event.args, this.#place),
      content: plannedContent(event.toolName, event.args, this.#place),
    }
  }

  /** An update takes the place of the one before, so that of several tasks it tells of all. */
  #lines({ callId, source = '', text }: AgentEvent & { readonly type: 'tool-progress' }): string {
    const lines = this.#progress.get(callId) ?? new Map<string, string>()
    this.#progress.set(callId, lines.set(source, text))
    return [...lines.values()].join('\n')
  }

  #goesOn(event: AgentEvent & { readonly type: 'approval-resolve' }): readonly SessionUpdate[] {
    const callId = this.#requested.get(event.approvalId)
    if (callId === undefined || event.outcome !== 'allow') return []
    return [{ ...this.#update(callId), status: 'in_progress' }]
  }

  #end(event: AgentEvent & { readonly type: 'tool-end' }): readonly SessionUpdate[] {
    this.#progress.delete(event.callId)
    const plan = event.isError ? null : toPlan(event.toolName, event.data)
    const status = event.isError ? 'failed' : 'completed'
    return [{ ...this.#update(event.callId), status, ...finishedView(event) }, ...(plan ? [plan] : [])]
  }

  #update(callId: string) {
    return { sessionUpdate: 'tool_call_update', toolCallId: this.#ids.current(callId) } as const
  }
}

/** A piece of text of the user, the agent or its thoughts. */
export function textChunk(
  sessionUpdate: 'user_message_chunk' | 'agent_message_chunk' | 'agent_thought_chunk',
  text: string,
  messageId?: string,
): SessionUpdate {
  return { sessionUpdate, content: { type: 'text', text }, ...(messageId === undefined ? {} : { messageId }) }
}

/** What a model thought before it answered. */
export function reasoningText(message: AssistantMessage): string {
  return message.content.map((part) => (part.type === 'reasoning' ? part.text : '')).join('')
}
