import type { Activity, AgentEvent } from '@hermes/agent-core'
import { printable } from '../render/style.js'

/** What stands above the input line while a run is under way. */
interface TurnStatus {
  see(event: AgentEvent): void
  lines(activity: Activity, nowMs: number): readonly string[]
}

/** What the agent is doing and for how long, and the newest line a command has printed. */
export function createTurnStatus(startedAtMs: number): TurnStatus {
  let progress = ''
  return {
    see: (event) => {
      if (event.type === 'tool-progress') progress = printable(event.text)
      else if (event.type === 'tool-end') progress = ''
    },
    lines: (activity, nowMs) => {
      const line = `· ${elapsed(nowMs - startedAtMs)} · Ctrl-C stops · ${describe(activity)}`
      return progress === '' ? [line] : [`  ${progress}`, line]
    },
  }
}

function describe({ state, description }: Activity): string {
  switch (state) {
    case 'idle':
    case 'model':
      return 'thinking'
    case 'tool':
      return printable(description)
    case 'compacting':
      return 'compacting the conversation'
    case 'retrying':
      return 'waiting for the model server'
    case 'waiting':
      return description === 'starting' ? 'thinking' : 'waiting for you'
    default:
      return state satisfies never
  }
}

function elapsed(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}
