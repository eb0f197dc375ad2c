import type { Clock, Logger } from '@hermes/contracts'
import type { ContextEngine } from '@hermes/contracts/context'
import type { FinishReason, Sampling, Usage } from '@hermes/contracts/conversation'
import type { Environment } from '@hermes/contracts/environment'
import type { RunEnding } from '@hermes/contracts/extension'
import type { ModelClient } from '@hermes/contracts/model'
import type { Action, FolderTrust, Permit, Policy, Subject } from '@hermes/contracts/policy'
import type { NewOutboxMessage } from '@hermes/contracts/store'
import type { AskPerson, Notice } from '@hermes/contracts/tool'
import type { ToolRegistry, ToolsetSelection } from '@hermes/registry'
import type { AnswerDemands } from '../answers/demands.js'
import type { ActivityTracker } from '../events/activity.js'
import type { AgentEventBody } from '../events/event.js'
import type { Hooks } from '../extension-registry/hook-table.js'
import type { SystemSource } from '../prompt/layers.js'
import type { SessionLog } from '../session/session.js'
import type { DelegatedTasks, PauseGate } from '../steering/pause.js'
import type { SteerQueue } from '../steering/steer-queue.js'
import type { TimeLimit } from './time-limit.js'

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
  readonly subject: Omit<Subject, 'tainted' | 'taintedBy'>
  /** Which projects the person trusts. */
  readonly trust: FolderTrust | undefined
  readonly hooks: Hooks
  /** Undoes the setup of extensions that are this agent's alone. Never rejects. */
  readonly closeExtensions: () => Promise<void>
  readonly ask: AskPerson | null
  readonly maxSteps: number
  /** Of a run, by the clock; `null` for no limit. */
  readonly maxSeconds: number | null
  /** Of every call, where the session chooses nothing else. */
  readonly sampling: Sampling
  readonly clock: Clock
  readonly logger: Logger
  readonly session: SessionLog
  readonly children: DelegatedTasks | null
  /** The chat that is told each answer; `null` where it is none. */
  readonly deliverTo: Pick<NewOutboxMessage, 'platform' | 'target'> | null
  readonly activity: ActivityTracker
  readonly steering: SteerQueue
  readonly gate: PauseGate
  /** Takes a tool's word after its call; `null` where nobody would read it. */
  readonly notify: ((notice: Notice | (() => Notice | null)) => void) | null
}

/** One run's view of the agent. */
export interface RunContext extends AgentParts {
  readonly runId: string
  /** What the answer has to be. */
  readonly demands: AnswerDemands
  /** Whether a tool that has to be called was. */
  readonly demandedCalls: { made: boolean }
  /** What extensions remember for as long as the run lasts. */
  readonly scratch: Map<string, unknown>
  /** Asks the policy, and a person where it says so; what extensions ask goes the same way as what tools ask. */
  readonly requestPermit: (context: RunContext, callId: string, action: Action) => Promise<Permit>
  /** Set once an extension ends the run; results of the reply under way are still stored. */
  readonly ending: { requested: Pick<RunEnding, 'code' | 'message'> | null }
  readonly signal: AbortSignal
  readonly timeLimit: TimeLimit
  /** What tainted who asks besides, although the log has none of it. */
  readonly taintedBy?: readonly string[]
  emit(event: AgentEventBody, seq?: number): void
}

/** What one model call came to. */
export interface ModelStep {
  readonly text: string
  readonly finishReason: FinishReason
  readonly hasCalls: boolean
  readonly isEmpty: boolean
  readonly usage: Usage
}
