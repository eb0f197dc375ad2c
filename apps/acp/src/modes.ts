import type { SessionModeState } from '@agentclientprotocol/sdk'
import { isPlanning } from '@hermes/agent-core'
import type { Entry } from '@hermes/contracts/conversation'

/** How a session can be worked in. */
export const MODES = [
  { id: 'work', name: 'Work', description: 'Carries out what you ask, within your permissions.' },
  { id: 'plan', name: 'Plan', description: 'Looks and changes nothing; back to Work accepts the plan.' },
] as const

/** The modes, and the one that the log of a session says is on. */
export function modesOf(entries: readonly Entry[]): SessionModeState {
  const availableModes = MODES.map((mode) => ({ ...mode }))
  return { currentModeId: isPlanning(entries) ? 'plan' : 'work', availableModes }
}
