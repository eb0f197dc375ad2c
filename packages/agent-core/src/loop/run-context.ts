import type { Clock, Logger } from '@hermes/contracts'
import type { ContextEngine } from '@hermes/contracts/context'
import type { FinishReason, Usage } from '@hermes/contracts/conversation'
import type { Environment } from '@hermes/contracts/environment'
import type { RunEnding } from '@hermes/contracts/extension'
import type { ModelClient, ModelRequest } from '@hermes/contracts/model'
import type { Action, Permit, Policy, Subject } from '@hermes/contracts/policy'
import type { InboxMessage } from '@hermes/contracts/store'
import type { Answer, Notice, Question } from '@hermes/contracts/tool'
import type { ToolRegistry, ToolsetSelection } from '@hermes/registry'
import type { ActivityTracker } from '../events/activity.js'
import type { AgentEventBody } from '../events/event.js'
import type { Hooks } from '../extension-registry/hook-table.js'
import type { SystemSource } from '../prompt/layers.js'
import type { SessionLog } from '../session/session.js'
import { inboxMessagePart } from '../steering/inbox-message-part.js'
import type { PauseGate } from '../steering/pause.js'

/** How sampling is set for every call of an agent. */
export type Sampling = Pick<ModelRequest, 'maxOutputTokens' | 'temperature' | 'reasoningEffort'>

/** What an agent keeps from one run to the next. */
export interface AgentParts {
  readonly model: ModelClient
  readonly registry: ToolRegistry
  readonly toolsets: ToolsetSelection
  readonly system: SystemSource
  readonly environment: Environment | null
  /** `null`: the session is never compacted. */
  readonly engine: ContextEngine | null
  readonly policy: Policy
  readonly subject: Omit<Subject, 'tainted'>
  readonly hooks: Hooks
  /** Undoes the setup of extensions that are this agent's alone. Never rejects. */
  readonly closeExtensions: () => Promise<void>
  readonly ask: ((question: Question, options: { readonly signal: AbortSignal }) => Promise<Answer>) | null
  readonly maxSteps: number
  readonly sampling: Sampling
  readonly clock: Clock
  readonly logger: Logger
  readonly session: SessionLog
  readonly activity: ActivityTracker
  readonly steering: SteerQueue
  readonly gate: PauseGate
  /** Takes a tool's word after its call; `null` where nobody would read it. */
  readonly notify: ((notice: Notice | (() => Notice | null)) => void) | null
}

/** One run's view of the agent. */
export interface RunContext extends AgentParts {
  readonly runId: string
  /** What extensions remember for as long as the run lasts. */
  readonly scratch: Map<string, unknown>
  /** Asks the policy, and a person where it says so; what extensions ask goes the same way as what tools ask. */
  readonly requestPermit: (context: RunContext, callId: string, action: Action) => Promise<Permit>
  /** Set once an extension ends the run; results of the reply under way are still stored. */
  readonly ending: { requested: Pick<RunEnding, 'code' | 'message'> | null }
  readonly signal: AbortSignal
  /** Text from outside reached who asks, although the log has none of it. */
  readonly tainted?: boolean
  emit(event: AgentEventBody, seq?: number): void
}

/** A note for the model that waits to be carried. */
export interface WaitingNote {
  readonly text: string
  /** `steer` from the user, the others from a tool: its own words, or text from outside. */
  readonly origin: 'steer' | 'reminder' | 'external'
  /** Key of the inbox message it says, which is to be taken with it. */
  readonly inboxMessage?: string
  /** To be called once it is durable. */
  readonly settle: (how: 'delivered' | 'queued') => void
}

/** Notes for a run that is under way: from the user, and from tools whose call has returned. */
export class SteerQueue {
  readonly #waiting: (Omit<WaitingNote, 'text' | 'origin'> & { readonly say: () => NoticeText | null })[] = []

  #steered: AbortController | null = null
  #steers = 0

  add(text: string): Promise<'delivered' | 'queued'> {
    this.#steers++
    this.#steered?.abort()
    return new Promise((settle) => this.#waiting.push({ say: () => ({ text, origin: 'steer' }), settle }))
  }

  /** Fires while something the user said waits to be carried. */
  steered(): AbortSignal {
    this.#steered ??= new AbortController()
    if (this.#steers > 0) this.#steered.abort()
    return this.#steered.signal
  }

  /** A notice of a tool; a function is asked when the notice is taken, and drops it with `null`. */
  notify(notice: Notice | (() => Notice | null)): void {
    const say = () => textOf(typeof notice === 'function' ? notice() : notice)
    this.#waiting.push({ say, settle: () => undefined })
  }

  /** An inbox message that was delivered and could be carried now; nothing is lost when it is not. */
  announce(inboxMessage: InboxMessage, isTaken: () => boolean): void {
    const { text, origin } = inboxMessagePart(inboxMessage)
    const say = () => (isTaken() ? null : { text, origin })
    this.#waiting.push({ say, inboxMessage: inboxMessage.key, settle: () => undefined })
  }

  /** How many notes wait. */
  get size(): number {
    return this.#waiting.length
  }

  /** Puts a note back in line that could not be stored. */
  putBack({ text, origin, ...note }: WaitingNote): void {
    this.#waiting.unshift({ ...note, say: () => ({ text, origin }) })
  }

  /** Takes all notes, or the oldest `count`; call `settle` for each once it is durable. */
  take(count = this.#waiting.length): readonly WaitingNote[] {
    this.#steers = 0
    this.#steered = null
    return this.#waiting.splice(0, count).flatMap(({ say, ...note }) => {
      const text = say()
      return text === null ? [] : [{ ...note, ...text }]
    })
  }
}

type NoticeText = Pick<WaitingNote, 'text' | 'origin'>

function textOf(notice: Notice | null): NoticeText | null {
  if (notice === null) return null
  const { text, isExternal = false } = typeof notice === 'string' ? { text: notice } : notice
  return { text, origin: isExternal ? 'external' : 'reminder' }
}

/** What one model call came to. */
export interface ModelStep {
  readonly text: string
  readonly finishReason: FinishReason
  readonly hasCalls: boolean
  readonly isEmpty: boolean
  readonly usage: Usage
}
