import type { ErrorDetails, JsonObject, JsonValue } from '@hermes/contracts'
import type { AssistantMessage, ToolResultPart, Usage } from '@hermes/contracts/conversation'
import type { ErrorReason, RetryRemedy } from '@hermes/contracts/model'
import type { ApprovalOutcome, ApprovalQuestion } from '@hermes/contracts/policy'
import type { Answer, ProgressAbout, Question } from '@hermes/contracts/tool'

/** How a run ended. `parked`: approvals are unanswered; answer them and `run({ resume: true })`. `stopped`: a limit was reached. */
export type RunStatus = 'completed' | 'interrupted' | 'parked' | 'stopped' | 'failed'

/** What `run.result` resolves to; it never rejects. */
export interface RunResult {
  readonly status: RunStatus
  /** The final answer, or what there is of it. */
  readonly text: string
  /** All model calls of the run added up. */
  readonly usage: Usage
  /** What delegated tasks came to that ended meanwhile, in the background too, with all that they delegated. Left out when none did. */
  readonly delegated?: Usage
  /** Why the run `failed` or `stopped`: one line for a person. */
  readonly error?: { readonly code: string; readonly message: string; readonly details: ErrorDetails }
  /** Approval ids a `parked` run waits for. */
  readonly pending?: readonly string[]
}

/** What every event carries. `seq` is the log entry that made it durable. */
interface EventBase {
  readonly runId: string
  readonly sessionId: string
  readonly agentPath: readonly string[]
  readonly atMs: number
  readonly seq?: number
}

/** What happens in a run. Deltas are provisional; a message is durable once its `message-end` or `tool-end` arrives. */
export type AgentEventBody =
  | { readonly type: 'run-start' }
  | { readonly type: 'run-end'; readonly result: RunResult }
  | { readonly type: 'message-start'; readonly messageId: string }
  | { readonly type: 'message-delta'; readonly messageId: string; readonly text: string }
  | { readonly type: 'message-end'; readonly messageId: string; readonly message: AssistantMessage }
  | { readonly type: 'reasoning-delta'; readonly messageId: string; readonly text: string }
  | {
      readonly type: 'tool-start'
      readonly callId: string
      readonly toolName: string
      readonly args: JsonObject
      /** One line for a person. */
      readonly summary: string
      readonly icon: string
    }
  | ({ readonly type: 'tool-progress'; readonly callId: string; readonly text: string } & ProgressAbout)
  | {
      readonly type: 'tool-end'
      readonly callId: string
      readonly toolName: string
      readonly isError: boolean
      readonly content: readonly ToolResultPart[]
      readonly data?: JsonValue
      readonly durationMs: number
    }
  | {
      readonly type: 'approval-request'
      readonly approvalId: string
      readonly callId: string
      readonly question: ApprovalQuestion
    }
  | { readonly type: 'approval-resolve'; readonly approvalId: string; readonly outcome: ApprovalOutcome['type'] }
  | { readonly type: 'question-request'; readonly callId: string; readonly question: Question }
  | { readonly type: 'question-resolve'; readonly callId: string; readonly answer: Answer }
  | {
      readonly type: 'retry-wait'
      readonly attempt: number
      readonly delayMs: number
      readonly reason: ErrorReason
      readonly message: string
      /** What is different in the next attempt. */
      readonly remedy?: RetryRemedy
      /** The streamed part of this message is void. */
      readonly discardedMessageId?: string
    }
  | { readonly type: 'compaction-start' }
  | { readonly type: 'compaction-end'; readonly summaryChars: number }
  | { readonly type: 'usage-update'; readonly usage: Usage; readonly total: Usage }
  | { readonly type: 'notice'; readonly level: 'info' | 'warning'; readonly text: string }

/** One event of a run. */
export type AgentEvent = EventBase & AgentEventBody
