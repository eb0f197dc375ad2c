import type { AgentEvent } from '@hermes/agent-core'

/** Where in a run a kill can fall, in the order of a run. */
export const PHASES = [
  'start',
  'waiting for the model',
  'model streaming',
  'between message and tool',
  'during the tool',
  'between tool and next request',
  'final answer streaming',
  'after the end',
] as const
export type Phase = (typeof PHASES)[number]

/** What a run left behind up to some moment: events on its stdout, requests on the model server, effects of its commands. */
export interface Traces {
  readonly events: readonly AgentEvent[]
  readonly requests: number
  readonly effects: readonly string[]
  /** The assistant messages before the final answer. */
  readonly steps: number
}

/** In which phase a run was when these were the last traces of it. */
export function phaseOf({ events, requests, effects, steps }: Traces): Phase {
  if (requests === 0) return 'start'
  const messages = events.filter((event) => event.type === 'message-end').length
  const last = events.findLast((event) => event.type !== 'usage-update')
  switch (last?.type) {
    case 'run-end':
      return 'after the end'
    case 'message-start':
    case 'message-delta':
      return messages === steps ? 'final answer streaming' : 'model streaming'
    case 'message-end':
      return messages > steps ? 'after the end' : 'between message and tool'
    case 'tool-start':
    case 'tool-progress':
      return effects.includes(currentEffect(events)) ? 'during the tool' : 'between message and tool'
    default:
      return requests > messages ? 'waiting for the model' : 'between tool and next request'
  }
}

/** The mark of the call that started last. */
function currentEffect(events: readonly AgentEvent[]): string {
  const started = events.findLast((event) => event.type === 'tool-start')
  return started?.callId ?? ''
}
