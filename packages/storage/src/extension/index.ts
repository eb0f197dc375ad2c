import type { Extension, ToolResultEvent } from '@hermes/contracts/extension'
import type { ToolOutcome } from '@hermes/contracts/tool'
import { FROM_OUTSIDE, OUTSIDE_TAG, SEEN_TAG } from '../learnings.js'
import type { Storage } from '../storage.js'
import { personOfSession } from '../tools/learning.js'
import { createRecoveries, type LearningStep } from './recoveries.js'

export { OUTSIDE_TAG } from '../learnings.js'
export { learningCommand } from './learning-command.js'

/** Met as often as this, a failure is worth more than a note. */
const OFTEN = 3

/**
 * Ends a failing result with a past fix, where one matches, and keeps what helped when a failure is followed by success within a run. A
 * result that is fine stays as it is; what goes wrong here never shows. `storage` is asked for with the first failure.
 */
export function learningHints({ storage }: { readonly storage: () => Promise<Storage> }): Extension {
  return {
    name: 'learning-hints',
    setup({ hooks }) {
      hooks.on('tool-result', async (event) => {
        const failure = failureText(event)
        await capture(storage, event, failure)
        return failure === null
          ? undefined
          : hintFor(storage, { text: failure, tool: event.toolName, sessionId: event.session.id })
      })
    },
  }
}

/** Follows the run; a failure that it got over is kept with what helped. */
async function capture(open: () => Promise<Storage>, event: ToolResultEvent, failure: string | null): Promise<void> {
  const step = stepOf(event, failure)
  const found = step && event.perRun('learning-hints', createRecoveries).observe(step)
  if (!found) return
  try {
    const { redact, isTainted, id } = event.session
    const [pattern, fix] = [redact(found.pattern), redact(found.fix)]
    const { scanContext } = await import('@hermes/safety/scan')
    // Words of a page that read like an order stay in the session that met them.
    if (scanContext(`${pattern}\n${fix}`).length > 0) return
    const storage = await open()
    await storage.learnings.save({
      pattern,
      fix,
      errorType: found.tool,
      context: redact(found.subject),
      tags: [SEEN_TAG, ...(isTainted ? [OUTSIDE_TAG] : [])],
      person: await personOfSession(storage, id),
    })
  } catch {
    // The work goes on; it is learnt another time.
  }
}

/** A call as something may be learnt from it; `null` for what was never run, or not by the model itself. */
function stepOf(event: ToolResultEvent, failure: string | null): LearningStep | null {
  const { tool, args, outcome, isRefused, caller, plan } = event
  if (tool === null || isRefused || caller !== 'model' || typeof args === 'string') return null
  if (tool.toolset === 'learning' || (event.signal.aborted && failure !== null)) return null
  const printed = (outcome.data as { readonly output?: unknown } | null | undefined)?.output
  const paths = tool.name === 'terminal' ? [] : (tool.paths?.(args, plan) ?? [])
  return {
    tool: tool.name,
    args,
    hasFailed: failure !== null,
    text: typeof printed === 'string' ? printed : (failure ?? ''),
    paths,
    edits: paths.length > 0 && tool.effect !== 'read' && failure === null,
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
    const isOutside = learning.tags.includes(OUTSIDE_TAG)
    return {
      append: [
        {
          type: 'text',
          text: `\n${hint}`,
          ...(isOutside ? ({ origin: 'external', sources: FROM_OUTSIDE } as const) : {}),
        },
      ],
    } as const
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
