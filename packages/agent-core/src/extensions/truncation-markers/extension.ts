import type { ToolCallPart } from '@hermes/contracts/conversation'
import type { Extension } from '@hermes/contracts/extension'
import { effectOf } from '@hermes/contracts/tool'
import { callKey } from '../loop-guard/loop-guard.js'

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

/** Marks for what is left out of results, outputs, memory and earlier messages that the model sees. */
const MARK = /\[… ?\d[\d,.]* (?:characters|bytes) left out[^\]\n]{0,300}\]/

/** The mark in the arguments of a call, which whoever runs it would take for text; `null` for none. Cheap where there is none. */
export function truncationMark({ rawArgs, args }: Pick<ToolCallPart, 'rawArgs' | 'args'>): string | null {
  return rawArgs.includes('left out') ? (MARK.exec(JSON.stringify(args))?.[0] ?? null) : null
}

/** What the model is told in place of a result. */
function truncationRefusal(mark: string): string {
  return `Not run: the arguments hold "${mark}". It marks what was left out of a text when that was shown to you and is no part of the text. Get the whole of it again and send that; if the mark itself is meant, send the same call once more.`
}
