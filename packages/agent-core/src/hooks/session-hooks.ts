import type { Rest, RestEvent } from '@hermes/contracts/extension'
import type { AgentParts, RunContext } from '../loop/run-context.js'
import { observe, transformations } from './dispatch.js'

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

/** What the first extension that has an answer wants of a session at rest. */
export async function askAtRest(
  parts: AgentParts,
  { signal, ...own }: Pick<RestEvent, 'status' | 'note' | 'signal'>,
): Promise<Rest | null> {
  const event = { ...eventOf(parts, signal), ...own }
  for await (const { result } of transformations(parts.hooks.at('rest'), 'rest', () => event)) return result
  return null
}

function eventOf({ session, subject, environment, clock, logger }: AgentParts, signal: AbortSignal) {
  const { agentPath, platform } = subject
  return { session, agentPath, platform, environment, signal, clock, logger }
}
