import type { JsonObject } from '@hermes/contracts'
import type { AgentEvent } from './event.js'

/** A call that the policy did not allow. */
export interface Denial {
  readonly tool: string
  /** One line, as the model was told. */
  readonly reason: string
}

const DENIED = /^Not permitted \([^)]*\): /

/** What an event says was not permitted: to the agent itself, to a program it runs or to one it delegated to; `null` for nothing. */
export function denialOf(event: AgentEvent): Denial | null {
  switch (event.type) {
    case 'tool-end': {
      const [part] = event.content
      const text = part?.type === 'text' ? part.text : ''
      return event.isError && DENIED.test(text) ? { tool: event.toolName, reason: text } : null
    }
    case 'tool-progress': {
      const denied = event.data?.['denied'] as Denial | undefined
      return denied ?? null
    }
    default:
      return null
  }
}

/** A denial as the progress of the call it happened under carries it. */
export function deniedData({ tool, reason }: Denial): JsonObject {
  return { denied: { tool, reason } }
}
