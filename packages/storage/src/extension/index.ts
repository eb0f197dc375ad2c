import type { Extension, ToolResultEvent } from '@hermes/contracts/extension'
import type { ToolOutcome } from '@hermes/contracts/tool'
import type { Storage } from '../storage.js'
import { personOfSession } from '../tools/learning.js'

/** Met as often as this, a failure is worth more than a note. */
const OFTEN = 3

/**
 * Ends a failing result with a past fix, where one matches. A result that is fine stays as it is and costs nothing; what goes wrong here
 * never shows. `storage` is asked for with the first failure.
 */
export function learningHints({ storage }: { readonly storage: () => Promise<Storage> }): Extension {
  return {
    name: 'learning-hints',
    setup({ hooks }) {
      hooks.on('tool-result', (event) => {
        const failure = failureText(event)
        return failure === null
          ? undefined
          : hintFor(storage, { text: failure, tool: event.toolName, sessionId: event.session.id })
      })
    },
  }
}

interface Failure {
  readonly text: string
  readonly tool: string
  readonly sessionId: string
}

async function hintFor(open: () => Promise<Storage>, { sessionId, ...failure }: Failure) {
  try {
    const storage = await open()
    const person = await personOfSession(storage, sessionId)
    const learning = await storage.learnings.match({ ...failure, person })
    if (learning === null) return undefined
    const often = learning.timesUsed >= OFTEN ? ` It came up ${learning.timesUsed} times: worth a skill.` : ''
    const hint = `[This looks like an earlier failure. What helped then: ${learning.fix}${often}]`
    return { append: [{ type: 'text', text: `\n${hint}` }] } as const
  } catch {
    // The failure itself is what the model has to know; a hint comes on top.
    return undefined
  }
}

/** The text of a failure: an error, or a command that ended with another code than 0. What was never run has nothing to learn from. */
function failureText({ tool, outcome, isRefused }: ToolResultEvent): string | null {
  if (tool === null || isRefused || tool.toolset === 'learning') return null
  const code = (outcome.data as { readonly exit_code?: unknown } | null | undefined)?.exit_code
  const hasFailed = outcome.isError || (typeof code === 'number' && code !== 0)
  return hasFailed ? textOf(outcome) : null
}

function textOf({ content }: ToolOutcome): string {
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
}
