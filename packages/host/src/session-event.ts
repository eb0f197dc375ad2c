import type { AgentEvent } from '@hermes/agent-core'
import type { ApprovalChoice, ApprovalQuestion } from '@hermes/contracts/policy'
import type { Answer, Question } from '@hermes/contracts/tool'

/** What happens in a session beside its runs. */
export type HostEventBody =
  /** A person is asked for an approval, of the agent itself or of one that it delegated to. */
  | { readonly type: 'approval-open'; readonly id: string; readonly question: ApprovalQuestion }
  /** Nobody answers now: the run parks, or was denied it. The answer to what is kept comes as `approval-close`. */
  | { readonly type: 'approval-kept'; readonly id: string; readonly question: ApprovalQuestion }
  /** It is answered, or nobody waits for the answer any more: then without `choice`. */
  | { readonly type: 'approval-close'; readonly id: string; readonly choice?: ApprovalChoice; readonly by?: string }
  /** The model asks the person something. */
  | { readonly type: 'question-open'; readonly id: string; readonly question: Question }
  /** Nobody answers now: the run parks until there is an answer, which comes as `question-close`. */
  | { readonly type: 'question-kept'; readonly id: string; readonly question: Question }
  /** It is answered, or nobody waits for the answer any more: then without `answer`. */
  | { readonly type: 'question-close'; readonly id: string; readonly answer?: Answer }
  /** A task in the background has ended. */
  | { readonly type: 'background-end'; readonly id: string; readonly state: string }
  /** Stands for events that this reader did not read in time, or asked for too late. The log of the session has what was said. */
  | { readonly type: 'events-missed'; readonly count: number }

/** An event as the readers of a session get it. */
export interface SessionEvent {
  /** Grows from event to event of a host; what a reader gives to go on after it. */
  readonly cursor: number
  readonly sessionId: string
  readonly event: AgentEvent | HostEventBody
}
