import { isPlanning } from '@hermes/agent-core'
import { checkConversation, type Entry, project, type ToolCallPart, toolCalls } from '@hermes/contracts/conversation'
import type { SessionInfo } from '@hermes/contracts/store'
import type { OpenRequest, SessionAgent, SessionHandle, SessionHost } from '@hermes/host'
import type { AgentRequest, Runtime } from '@hermes/runtime'
import { type Asker, answerQuestions } from './questions.js'

/** What the sessions of a conversation have in common. */
export interface OpenSessionOptions {
  readonly runtime: Runtime
  readonly host: SessionHost
  readonly request: AgentRequest
  readonly asker: Asker
  readonly permissions: OpenRequest['permissions']
  readonly onWakeUp: NonNullable<OpenRequest['onWakeUp']>
  readonly onRest: NonNullable<OpenRequest['onRest']>
  readonly onAside: NonNullable<OpenRequest['onAside']>
}

/** The session a person is in. */
export interface OpenSession extends Omit<SessionAgent, 'auxiliaryTask' | 'hasProcesses'> {
  readonly handle: SessionHandle
  /** The log as it was then. */
  readonly entries: readonly Entry[]
  /** An approval or a question that the session waited for was answered since; resuming uses the answer. */
  readonly isAnswered: boolean
  /** What a person should know of a stored session as it is opened, a line each. */
  readonly notices: readonly string[]
  /** The session with another model, in the same shell; this one is not used any more. */
  changeModel(change: Parameters<SessionHandle['changeModel']>[0]): Promise<OpenSession>
  /** Stops asking the person. */
  stopAsking(): void
}

/** Opens a session for the person at the terminal, a stored one or a new one. */
export async function openSession(options: OpenSessionOptions, session: SessionInfo | null): Promise<OpenSession> {
  const { runtime, host, request, asker, permissions, onWakeUp, onRest, onAside } = options
  const known = session ? { session } : {}
  const heard = { onWakeUp, onRest, onAside }
  const handle = host.open({ platform: 'cli', ...request, ...known, permissions, answersQuestions: 'now', ...heard })
  const agent = await handle.agent().catch((error: unknown) => {
    handle.close()
    throw error
  })
  const entries = session ? await (await runtime.storage()).log.entries(session.id) : []
  const open = openCall(entries)
  const isAnswered = open !== null && (await hasAnswer(runtime, session!.id))
  const notices = session ? await noticesOf(handle, isAnswered ? null : open) : []
  return toOpenSession(agent, {
    handle,
    entries,
    isAnswered,
    notices,
    stopAsking: answerQuestions(handle, asker, agent.cwd),
  })
}

function toOpenSession(
  agent: SessionAgent,
  state: Pick<OpenSession, 'handle' | 'entries' | 'isAnswered' | 'notices' | 'stopAsking'>,
): OpenSession {
  const changeModel: OpenSession['changeModel'] = async (change) =>
    toOpenSession(await state.handle.changeModel(change), state)
  return { ...agent, ...state, changeModel }
}

/** Frees the agent and ends its session, `reason` being why in a word; one whose background processes still run keeps them until the end. */
export async function leaveSession({ handle, stopAsking }: OpenSession, reason: string): Promise<void> {
  stopAsking()
  if (!handle.isAtWork) await handle.end(reason)
  handle.close()
}

/** A call of the session that still has no result. One that was stopped has one, and what was answered about it is of no use. */
function openCall(entries: readonly Entry[]): ToolCallPart | null {
  const messages = project(entries)
  if (!checkConversation(messages).some(({ rule }) => rule === 'unanswered-call')) return null
  const answered = new Set(messages.map((message) => (message.role === 'tool' ? message.callId : '')))
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? toolCalls(message) : []))
  return calls.findLast(({ id }) => !answered.has(id)) ?? null
}

async function noticesOf(handle: SessionHandle, open: ToolCallPart | null): Promise<readonly string[]> {
  const by = await handle.otherUser()
  if (by !== null) return [`This session is also open in ${by}.`]
  if (open === null) return []
  const what =
    open.name === 'clarify' ? `before you answered: ${String(open.args?.['question'])}` : `during ${open.name}`
  return [`The last run ended ${what}. Say anything to go on.`]
}

async function hasAnswer(runtime: Runtime, sessionId: string): Promise<boolean> {
  const { approvals, questions } = await runtime.storage()
  const kept = [...(await approvals.pending(sessionId)), ...(await questions.pending(sessionId))]
  return kept.some(({ status }) => status === 'answered')
}

/** Whether a session is planning. */
export function isPlanningSession({ agent, entries }: Pick<OpenSession, 'agent' | 'entries'>): boolean {
  const known = agent.entries()
  return isPlanning(known.length > 0 ? known : entries)
}
