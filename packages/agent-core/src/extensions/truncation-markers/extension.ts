import type { Extension } from '@hermes/contracts/extension'
import { effectOf } from '@hermes/contracts/tool'
import { callKey } from '../loop-guard/loop-guard.js'
import { truncationMark, truncationRefusal } from './truncation-mark.js'

/** Refuses a call that would write a truncation marker as if it were text, unless the model sends the very same call again. */
export function truncationMarkers(): Extension {
  return {
    name: 'truncation-markers',
    setup({ hooks }) {
      hooks.on(
        'before-tool-call',
        (event) => {
          const { caller, tool, args, rawArgs } = event
          if (caller === 'program' || effectOf(tool, args) !== 'write') return undefined
          const marker = truncationMark({ rawArgs, args })
          if (marker === null) return undefined
          const refused = event.perRun('truncation-markers', () => new Set<string>())
          const key = callKey(tool.name, args)
          if (refused.has(key)) return undefined
          refused.add(key)
          return { type: 'block', reason: truncationRefusal(marker) }
        },
        { order: 90 },
      )
    },
  }
}
