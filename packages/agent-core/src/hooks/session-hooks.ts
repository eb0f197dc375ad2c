import type { AgentParts, RunContext } from '../loop/run-context.js'
import { observe } from './dispatch.js'

/** Whether an agent works on the session; an agent that takes another one's place goes on with it. */
const lifeOf = ({ session }: Pick<AgentParts, 'session'>) =>
  session.state.scratch('agent.life', () => ({ hasBegun: false }))

/** Tells extensions that the first run of an agent begins. */
export async function beginSession(context: RunContext): Promise<void> {
  const life = lifeOf(context)
  if (life.hasBegun) return
  life.hasBegun = true
  const { session, signal } = context
  const isNew = !session.entries.some(({ type }) => type === 'message')
  await observe(context.hooks.at('session-start'), 'session-start', { ...eventOf(context, signal), isNew })
}

/** Tells them that the last agent of a session is closed. */
export async function endSession(parts: AgentParts): Promise<void> {
  const life = lifeOf(parts)
  if (!life.hasBegun) return
  life.hasBegun = false
  await observe(parts.hooks.at('session-end'), 'session-end', eventOf(parts, new AbortController().signal))
}

function eventOf({ session, subject, environment, clock, logger }: AgentParts, signal: AbortSignal) {
  const { agentPath, platform } = subject
  return { session, agentPath, platform, environment, signal, clock, logger }
}
