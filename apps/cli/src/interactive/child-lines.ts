import type { ChildInfo } from '@hermes/agent-core'
import { describeTask } from '@hermes/commands'
import { printable } from '../render/style.js'

/** What is at work, a line each, as many as fit. */
export function childLines(children: readonly ChildInfo[], nowMs: number, most: number): readonly string[] {
  const open = children.filter(({ endedAtMs }) => endedAtMs === null)
  const lines = open.map((child) => `  ${printable(describeTask(child, nowMs))}`)
  return lines.length > most ? [...lines.slice(0, most - 1), `  … ${lines.length - most + 1} more tasks`] : lines
}
