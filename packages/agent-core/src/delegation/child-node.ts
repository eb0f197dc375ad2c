import { addUsage, noUsage, type Usage } from '@hermes/contracts/conversation'
import type { Agent } from '../agent.js'
import type { ChildResult, ChildTask } from './child-task.js'

/** One delegated task as lists show it. */
export interface ChildInfo {
  /** Its place below the agent a person talks to: `2` is the second task, `2.1` the first one that it delegated. */
  readonly id: string
  readonly goal: string
  readonly role: ChildTask['role']
  /** Nobody waits for it: its result is delivered when it comes. */
  readonly isBackground: boolean
  /** `waiting` for others of its parent to end, or how it ended. */
  readonly state: 'waiting' | 'running' | 'paused' | ChildResult['status']
  /** What it is doing, for a person. */
  readonly activity: string
  readonly sessionId: string | null
  readonly modelCalls: number
  readonly toolCalls: number
  /** Its own and that of what it delegated, so far. */
  readonly usage: Usage
  /** Unix milliseconds. */
  readonly startedAtMs: number
  /** Unix milliseconds. `null` while it has not ended. */
  readonly endedAtMs: number | null
}

/** A task in the tree, from its announcement to its end. */
export class ChildNode {
  readonly id: string
  readonly path: readonly string[]
  readonly task: ChildTask
  readonly isBackground: boolean
  readonly startedAtMs: number
  /** Fires when it is to end. */
  readonly stopped = new AbortController()
  isPaused = false
  /** Of its own model calls so far. */
  usage: Usage = noUsage
  /** Of what it delegated and has ended. */
  delegated: Usage = noUsage
  sessionId: string | null = null
  /** Why it was ended from outside. */
  stopReason: string | null = null
  status: ChildResult['status'] | null = null
  endedAtMs: number | null = null
  agent: Agent | null = null
  letGo: (() => void) | null = null

  constructor(location: {
    readonly path: readonly string[]
    readonly task: ChildTask
    readonly isBackground: boolean
    readonly nowMs: number
  }) {
    this.path = location.path
    this.id = idOf(location.path)
    this.task = location.task
    this.isBackground = location.isBackground
    this.startedAtMs = location.nowMs
  }

  /** All it has come to so far. */
  get total(): Usage {
    return addUsage(this.usage, this.delegated)
  }

  stop(reason: string): void {
    this.stopReason ??= reason
    this.stopped.abort(new DOMException(reason, 'AbortError'))
  }
}

/** `2.1` for the first task of the second one. */
export function idOf(path: readonly string[]): string {
  return path
    .slice(1)
    .map((part) => part.replace(/^task-/, ''))
    .join('.')
}

/** Whether `path` is further down the same branch. */
export function isBelow(path: readonly string[], above: readonly string[]): boolean {
  return path.length > above.length && above.every((part, index) => path[index] === part)
}

/** Parents before what is below them, in the order of their numbers. */
export function byLocation(left: readonly string[], right: readonly string[]): number {
  for (const [index, part] of left.entries()) {
    const other = right[index]
    if (other === undefined) return 1
    const order = Number(part.replace(/\D/g, '')) - Number(other.replace(/\D/g, ''))
    if (order !== 0) return order
  }
  return left.length - right.length
}
