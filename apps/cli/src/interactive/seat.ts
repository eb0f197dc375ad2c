import type { Agent } from '@hermes/agent-core'
import { checkConversation, type Entry, project } from '@hermes/contracts/conversation'
import type { SessionInfo } from '@hermes/contracts/store'
import type { AgentRequest, ReadyAgent, Runtime } from '@hermes/runtime'
import { type ApprovalDesk, type Asker, askQuestion, openApprovalDesk } from './questions.js'

/** What the agents of a conversation have in common. */
export interface SeatOptions {
  readonly runtime: Runtime
  readonly request: AgentRequest
  readonly asker: Asker
  readonly isYolo: () => boolean
}

/** The agent a person is talking to, and the session it is on. */
export interface Seat {
  readonly agent: Agent
  readonly model: string
  readonly provider: string
  /** Where the agent works. Absolute. */
  readonly cwd: string
  readonly desk: ApprovalDesk
  /** The log when the seat was taken. */
  readonly entries: readonly Entry[]
  /** A question that the session was parked with was answered since; resuming uses the answer. */
  readonly isAnswered: boolean
  /** The tasks the agent has delegated. */
  readonly children: ReadyAgent['children']
  models(): Promise<readonly string[]>
  /** The seat with another model, in the same shell; this one is not used any more. */
  changeModel(change: Parameters<ReadyAgent['changeModel']>[0]): Promise<Seat>
  /** What endpoints said about how much may still be asked. */
  limits: ReadyAgent['limits']
  nameSession: ReadyAgent['nameSession']
  /** Frees the agent and ends its session, `reason` being why in a word; one whose background processes still run keeps them until the end. */
  leave(reason: string): Promise<void>
}

/** An agent on `session`, or on a new one. */
export async function takeSeat(options: SeatOptions, session: SessionInfo | null): Promise<Seat> {
  const { runtime, request, asker, isYolo } = options
  const ready: ReadyAgent = await runtime.createAgent({
    ...request,
    ...(session ? { session } : {}),
    ask: (question, { signal }) => askQuestion(asker, question, signal),
  })
  const desk = openApprovalDesk({ policy: runtime.policy, sessionId: ready.agent.sessionId, asker, isYolo })
  const entries = session ? await (await runtime.storage()).log.entries(session.id) : []
  return seatOf(ready, {
    desk,
    entries,
    isAnswered: waitsForAnswer(entries) && (await hasAnswer(runtime, session!.id)),
  })
}

function seatOf(ready: ReadyAgent, state: Pick<Seat, 'desk' | 'entries' | 'isAnswered'>): Seat {
  const { agent, model, provider, cwd } = ready
  const { desk } = state
  return {
    ...state,
    agent,
    model,
    provider,
    cwd,
    children: ready.children,
    models: ready.models,
    changeModel: async (change) => seatOf(await ready.changeModel(change), state),
    limits: ready.limits,
    nameSession: ready.nameSession,
    leave: async (reason) => {
      desk.close()
      if (!ready.hasProcesses()) await ready.close(reason)
    },
  }
}

/** Whether a call of the session still has no result. One that was stopped has one, and what was answered about it is of no use. */
function waitsForAnswer(entries: readonly Entry[]): boolean {
  return checkConversation(project(entries)).some(({ rule }) => rule === 'unanswered-call')
}

async function hasAnswer(runtime: Runtime, sessionId: string): Promise<boolean> {
  const { approvals } = await runtime.storage()
  return (await approvals.pending(sessionId)).some(({ status }) => status === 'answered')
}
