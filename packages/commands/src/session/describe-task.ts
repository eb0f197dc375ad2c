import { formatDuration } from '@hermes/contracts'
import type { CommandTask } from '@hermes/contracts/extension'

/** One delegated task in a line. */
export function describeTask(task: CommandTask, nowMs: number): string {
  const { id, goal, state, activity, toolCalls, startedAtMs, endedAtMs, isBackground } = task
  const took = formatDuration((endedAtMs ?? nowMs) - startedAtMs)
  const doing = activity === '' || activity === state ? '' : ` · ${activity}`
  const where = isBackground ? ', background' : ''
  return `${id}. ${state}${where} · ${took} · ${toolCalls} calls${doing} · ${goal.trim().split('\n')[0]}`
}
