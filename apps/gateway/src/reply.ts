import {
  type AgentEvent,
  type Denial,
  denialOf,
  describeNotice,
  type NewText,
  type NoticeText,
  RepeatedText,
  type RunResult,
} from '@hermes/agent-core'
import type { JsonObject } from '@hermes/contracts'
import { type AssistantMessage, messageText, toolCalls } from '@hermes/contracts/conversation'
import type { CommandOutput } from '@hermes/contracts/extension'
import { numberedQuestion } from '@hermes/contracts/tool'
import type { ClientCall, ClientTools } from './client-tools.js'
import type { KeptApproval, KeptQuestionText } from './waiting.js'

/** What a client is told about a tool call; names as in the `hermes.tool.progress` event. */
export interface ToolProgress {
  readonly tool: string
  readonly emoji: string
  readonly label: string
  readonly toolCallId: string
  readonly status: 'running' | 'completed' | 'failed' | 'denied'
  /** What the call is doing, while it runs; of several tasks `data.child` tells which. */
  readonly detail?: string
  readonly data?: JsonObject
  /** Why it was denied. */
  readonly reason?: string
}

/** A command that was carried out, as data. */
export interface CommandReport {
  /** `null` where no command has the name that was typed. */
  readonly name: string | null
  readonly line: string
  readonly outputs: readonly CommandOutput[]
}

/** What happens in a run or a command, as far as a client is told. */
export type Piece =
  | { readonly type: 'text'; readonly text: string }
  /** What the model thinks. */
  | { readonly type: 'thought'; readonly text: string }
  | { readonly type: 'tool'; readonly progress: ToolProgress }
  | { readonly type: 'notice'; readonly notice: NoticeText }
  | { readonly type: 'command'; readonly command: CommandReport }
  | { readonly type: 'approval'; readonly approval: KeptApproval }
  | { readonly type: 'end'; readonly result: RunResult }

/** Of other tools it would be their output, which comes at the end. */
const SHOWS_STEPS: ReadonlySet<string> = new Set(['delegate_task', 'execute_code'])
/** What a stream begins with. */
const BEGINS: ReadonlySet<Piece['type']> = new Set(['text', 'thought', 'tool'])
const SAYS_OTHER = '\n\n[The reply broke off; asked again, it says:]\n\n'

/** Turns the events of one run into pieces and remembers what was denied and what the person was to be told. */
export class ReplyReader {
  readonly denials: Denial[] = []
  readonly notices: NoticeText[] = []
  readonly approvals: KeptApproval[] = []
  /** What the model asked and nobody has answered. */
  question: Omit<KeptQuestionText, 'id'> | null = null
  readonly #requested = new Map<string, Pick<KeptApproval, 'summary' | 'toolCallId'>>()
  /** So many notices of the beginning wait: a run that fails before it has said anything is an error of its own, not a stream. */
  #held = 0
  #hasBegun = false
  /** Whether the model was cut off at its output limit in its last words. */
  isCutOff = false
  readonly #labels = new Map<string, Pick<ToolProgress, 'tool' | 'label' | 'emoji'>>()
  #streamedId = ''
  /** What the model has thought so far. */
  thoughts = ''
  #thoughtId = ''
  #hasText = false
  readonly #repeated = new RepeatedText()
  /** A reply is asked again, and nothing new of it came yet. */
  #isRepeated = false
  /** What the agent has said by itself before; it leads the answer. */
  readonly unheard: string
  readonly #clientTools: Pick<ClientTools, 'has' | 'open'> | null

  /** The answer is data: nothing but that is said, and only once it is whole. */
  readonly isStructured: boolean

  constructor(
    unheard = '',
    clientTools: Pick<ClientTools, 'has' | 'open'> | null = null,
    { isStructured = false }: { readonly isStructured?: boolean } = {},
  ) {
    this.unheard = unheard
    this.#clientTools = clientTools
    this.isStructured = isStructured
  }

  /** What the client is to carry out before the run goes on. */
  get calls(): readonly ClientCall[] {
    return this.#clientTools?.open ?? []
  }

  read(event: AgentEvent): readonly Piece[] {
    // A client shows its own calls itself.
    if ('toolName' in event && this.#clientTools?.has(event.toolName)) return []
    const notice = describeNotice(event)
    if (notice) this.notices.push(notice)
    const all = this.#read(event)
    const pieces = this.isStructured ? all.filter(({ type }) => type !== 'text') : all
    if (!this.#hasBegun) this.#hasBegun = pieces.some(({ type }) => BEGINS.has(type))
    if (notice && !this.#hasBegun) this.#held++
    else if (notice) return [...pieces, { type: 'notice', notice }]
    if (!this.#hasBegun || this.#held === 0) return pieces
    const first = this.notices.slice(0, this.#held).map((held) => ({ type: 'notice', notice: held }) as const)
    this.#held = 0
    return [...first, ...pieces]
  }

  #read(event: AgentEvent): readonly Piece[] {
    const denial = denialOf(event)
    if (denial) this.denials.push(denial)
    switch (event.type) {
      case 'message-delta':
        return this.#pieces(event.messageId, this.#repeated.add(event.text))
      case 'message-end': {
        const rest = this.#pieces(event.messageId, this.#repeated.end())
        const text = event.messageId === this.#streamedId ? '' : messageText(event.message)
        const whole =
          this.#thoughtId === event.messageId ? [] : this.#thought(event.messageId, thoughtsOf(event.message))
        const pieces = text === '' ? [...whole, ...rest] : [...whole, ...rest, this.#text(event.messageId, text)]
        this.isCutOff = event.message.finishReason === 'length' && toolCalls(event.message).length === 0
        return pieces
      }
      case 'reasoning-delta':
        return this.#thought(event.messageId, event.text)
      case 'retry-wait':
        if (event.discardedMessageId !== undefined) this.#isRepeated = this.#repeated.breakOff()
        return []
      case 'tool-start':
        this.#labels.set(event.callId, { tool: event.toolName, label: event.summary, emoji: event.icon })
        return [this.#progress(event, { status: 'running' })]
      case 'tool-progress':
        return SHOWS_STEPS.has(this.#labels.get(event.callId)?.tool ?? '') ? [this.#step(event)] : []
      case 'tool-end':
        return [this.#toolEnd(event, denial)]
      case 'run-end':
        return [{ type: 'end', result: event.result }]
      case 'approval-request':
        this.#requested.set(event.approvalId, { summary: event.question.summary, toolCallId: event.callId })
        return []
      case 'approval-resolve':
        return this.#kept(event)
      case 'question-request': {
        const { question, choices } = event.question
        this.question = { question, choices, toolCallId: event.callId, text: numberedQuestion(event.question) }
        return []
      }
      case 'question-resolve':
        this.question = null
        return []
      case 'run-start':
      case 'message-start':
      case 'compaction-start':
      case 'compaction-end':
      case 'usage-update':
      case 'notice':
        return []
      default:
        return event satisfies never
    }
  }

  /** Those of several replies stand apart. */
  #thought(messageId: string, text: string): readonly Piece[] {
    if (text === '') return []
    const isNext = this.thoughts !== '' && this.#thoughtId !== messageId
    this.#thoughtId = messageId
    const piece = isNext ? `\n\n${text}` : text
    this.thoughts += piece
    return [{ type: 'thought', text: piece }]
  }

  #kept({ approvalId: id, outcome }: AgentEvent & { readonly type: 'approval-resolve' }): readonly Piece[] {
    const requested = this.#requested.get(id)
    if (!requested || outcome === 'allow') return []
    const approval = { id, status: outcome === 'parked' ? outcome : 'denied', ...requested } as const
    this.approvals.push(approval)
    return [{ type: 'approval', approval }]
  }

  /** Replies between tool calls stand apart; a reply that goes on after its output limit does not. */
  #text(messageId: string, text: string): Piece {
    const isNext = this.#hasText && this.#streamedId !== messageId && !this.isCutOff
    const before = this.#hasText ? '' : this.unheard
    this.#streamedId = messageId
    this.#hasText = true
    return { type: 'text', text: isNext || before !== '' ? `${before}\n\n${text}` : text }
  }

  /** What was sent cannot be taken back, so it is said where another answer takes its place. */
  #pieces(messageId: string, { text, isOther }: NewText): readonly Piece[] {
    if (text === '' && !isOther) return []
    // The rest of a reply that broke off is no reply of its own.
    if (this.#isRepeated || isOther) this.#streamedId = messageId
    this.#isRepeated = false
    if (!isOther) return [this.#text(messageId, text)]
    this.#hasText = true
    return [{ type: 'text', text: `${SAYS_OTHER}${text}` }]
  }

  #toolEnd(event: AgentEvent & { readonly type: 'tool-end' }, denial: Denial | null): Piece {
    if (!event.isError) return this.#progress(event, { status: 'completed' })
    if (!denial) return this.#progress(event, { status: 'failed' })
    return this.#progress(event, { status: 'denied', reason: denial.reason })
  }

  #step({ callId, text, data }: AgentEvent & { readonly type: 'tool-progress' }): Piece {
    const { tool = '' } = this.#labels.get(callId) ?? {}
    const more = data === undefined ? {} : { data }
    return this.#progress({ callId, toolName: tool }, { status: 'running', detail: text, ...more })
  }

  #progress(
    { callId, toolName }: { readonly callId: string; readonly toolName: string },
    state: Omit<ToolProgress, 'tool' | 'emoji' | 'label' | 'toolCallId'>,
  ): Piece {
    const { label = toolName, emoji = '' } = this.#labels.get(callId) ?? {}
    return { type: 'tool', progress: { tool: toolName, emoji, label, toolCallId: callId, ...state } }
  }
}

function thoughtsOf({ content }: AssistantMessage): string {
  return content.map((part) => (part.type === 'reasoning' ? part.text : '')).join('')
}
