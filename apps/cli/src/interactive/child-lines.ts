import type { ChildInfo } from '@hermes/agent-core'
import { formatDuration, printable } from '../render/style.js'

/** What is at work, a line each, as many as fit. */
export function childLines(children: readonly ChildInfo[], nowMs: number, most: number): readonly string[] {
  const open = children.filter(({ endedAtMs }) => endedAtMs === null)
  const lines = open.map((child) => `  ${printable(describeChild(child, nowMs))}`)
  return lines.length > most ? [...lines.slice(0, most - 1), `  … ${lines.length - most + 1} more tasks`] : lines
}

/** One delegated task in a line. */
export function describeChild(child: ChildInfo, nowMs: number): string {
  const { id, goal, state, activity, toolCalls, startedAtMs, endedAtMs, isBackground } = child
  const took = formatDuration((endedAtMs ?? nowMs) - startedAtMs)
  const doing = activity === '' || activity === state ? '' : ` · ${activity}`
  const where = isBackground ? ', background' : ''
  return `${id}. ${state}${where} · ${took} · ${toolCalls} calls${doing} · ${goal.trim().split('\n')[0]}`
}
