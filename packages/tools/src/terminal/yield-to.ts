import type { Clock } from '@hermes/contracts'
import type { ExecResult } from '@hermes/contracts/environment'
import type { ToolContext, ToolResult } from '@hermes/contracts/tool'
import { cleanOutput } from '@hermes/sandbox'
import { notifyOnExit } from './process-notices.js'

/** Most commands end in this time, and then their result is there with what the user said. */
const GRACE_MS = 2_000

/** A command stops being waited for soon after `steered` has fired; never when `ended` fires first. */
export function yieldTo(
  steered: AbortSignal | undefined,
  clock: Clock,
  ended: AbortSignal,
): { readonly yieldSignal?: AbortSignal } {
  if (steered === undefined) return {}
  const controller = new AbortController()
  const later = () =>
    void clock.sleep(GRACE_MS, ended).then(
      () => controller.abort(),
      () => undefined,
    )
  if (steered.aborted) later()
  else steered.addEventListener('abort', later, { once: true, signal: ended })
  return { yieldSignal: controller.signal }
}

/** A command that is not waited for any more, because the user said something. */
export function yielded({ process, output }: ExecResult, { state, notify }: ToolContext): ToolResult {
  const { id, pid } = process!.info()
  if (notify) notifyOnExit(process!, state, notify)
  const notice = notify ? 'You will be told when it ends.' : 'Use process to wait for it.'
  const shown = cleanOutput(output).trimEnd()
  const note = `[the user wrote, so the command goes on in the background: session_id ${id}, pid ${pid}. ${notice}]`
  const text = shown === '' ? note : `${shown}\n${note}`
  return { text, data: { output: shown, exit_code: null, session_id: id, pid, yielded: true } }
}
