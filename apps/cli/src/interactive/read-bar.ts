import { contextTokens } from '@hermes/agent-core'
import type { Runtime } from '@hermes/runtime'
import { gitBranch } from './git-branch.js'
import { isPlanningSession, type OpenSession } from './open-session.js'
import type { SessionBar } from './session-bar.js'

/** Where the bar of a conversation is read from. */
interface BarSource {
  readonly runtime: Runtime
  readonly session: OpenSession
  readonly isYolo: boolean
  /** A name for a session that is not stored yet. */
  readonly title: string | null
  readonly userHome: string
}

/** What the bar says of a session now; what it has delegated, its titles and its summaries cost too. Rejects as the store does. */
export async function readBar({ runtime, session, isYolo, title, userHome }: BarSource): Promise<SessionBar> {
  const { sessions } = await runtime.storage()
  const { sessionId } = session.agent
  const stored = await sessions.get(sessionId)
  const entries = session.agent.entries().length > 0 ? session.agent.entries() : session.entries
  const hasMessages = entries.some((entry) => entry.type === 'message')
  const { approvals, terminal } = runtime.config
  return {
    model: session.model,
    contextTokens: hasMessages ? contextTokens(entries) : null,
    contextWindow: session.contextWindow(),
    cost: stored ? await runtime.spent(sessionId) : null,
    modes: [
      ...(isPlanningSession(session) ? ['plan'] : []),
      ...(approvals.mode === 'off' ? ['approvals off'] : isYolo ? ['yolo'] : []),
    ],
    title: title ?? stored?.title ?? null,
    folder: session.cwd === userHome ? '~' : session.cwd.replace(`${userHome}/`, '~/'),
    branch: terminal.backend === 'local' ? gitBranch(session.cwd) : null,
  }
}
