import { isPlanning } from '@hermes/agent-core'
import type { Seat } from './seat.js'

/** Whether the session of a seat is planning. */
export function isPlanningSeat({ agent, entries }: Pick<Seat, 'agent' | 'entries'>): boolean {
  const known = agent.entries()
  return isPlanning(known.length > 0 ? known : entries)
}
