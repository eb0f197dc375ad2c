import { isPlanning } from '@hermes/agent-core'
import type { Seat } from './seat.js'

/** Said where a conversation is planning. */
export const PLAN_HINT = 'Plan mode: /plan accept has the plan carried out; or say what to change; /plan off leaves it.'

/** Whether the session of a seat is planning. */
export function isPlanningSeat({ agent, entries }: Pick<Seat, 'agent' | 'entries'>): boolean {
  const known = agent.entries()
  return isPlanning(known.length > 0 ? known : entries)
}
