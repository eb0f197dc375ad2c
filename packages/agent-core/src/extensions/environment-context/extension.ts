import type { Extension, InputEvent } from '@hermes/contracts/extension'
import { environmentContextOf } from './environment-context.js'
import { resultNotes } from './result-notes.js'
import type { RuntimeStateOptions } from './runtime-state.js'
import { runtimeState as stateNow } from './runtime-state.js'

/** Tells the model with a result about instructions of folders it enters, and files that others changed since it saw them. */
export function environmentContext(): Extension {
  return {
    name: 'environment-context',
    setup({ hooks }) {
      // The workspace is where the session starts.
      hooks.on('run-start', ({ environment, session }) => {
        if (environment) environmentContextOf(environment, session)
      })
      hooks.on(
        'tool-result',
        (event) => {
          const { caller, tool, isRefused } = event
          if (caller === 'program' || tool === null || isRefused) return undefined
          const notes = resultNotes(event, { ...event, tool })
          return notes === null ? undefined : notes.then((append) => ({ append }))
        },
        { order: 30 },
      )
    },
  }
}

/**
 * Tells with each message of a person what changed around the session since it was told last: what git says of the workspace, background
 * processes, delegated tasks, where the shell is, and files of the session that others wrote. A child is told nothing: no person speaks to it.
 */
export function runtimeState(options: RuntimeStateOptions = {}): Extension {
  return {
    name: 'runtime-state',
    setup({ hooks }) {
      const before = async (event: InputEvent) => ({ before: await stateNow(event, options) })
      hooks.on('input', (event) => (event.agentPath.length > 1 ? undefined : before(event)), { order: 20 })
    },
  }
}
