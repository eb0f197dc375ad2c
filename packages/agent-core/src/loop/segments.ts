import { dirname } from 'node:path'
import type { Concurrency } from '@hermes/contracts/tool'

/** What a plan needs to know of a call. */
export interface PlannedCall {
  readonly concurrency: Concurrency
  /** Absolute paths; empty means unknown and makes a `path` call exclusive. */
  readonly paths: readonly string[]
  readonly writes: boolean
}

/** At most so many calls of one message run at once. */
export const MAX_PARALLEL_CALLS = 8

/**
 * How many of `calls`, from the first on, may run together. At least one. Everything else waits until they are done, so that a call
 * never overtakes one it might depend on.
 */
export function segmentLength(calls: readonly PlannedCall[]): number {
  if (calls.some((call) => call.concurrency === 'interactive')) return 1
  let length = 0
  for (const call of calls) {
    if (length >= MAX_PARALLEL_CALLS || !mayJoin(call, calls.slice(0, length))) break
    length++
  }
  return Math.max(length, 1)
}

function mayJoin(call: PlannedCall, running: readonly PlannedCall[]): boolean {
  switch (call.concurrency) {
    case 'parallel':
      return !running.some((other) => other.writes && other.concurrency === 'path')
    case 'path':
      return call.paths.length > 0 && !running.some((other) => conflicts(call, other))
    case 'exclusive':
    case 'interactive':
      return false
    default:
      return call.concurrency satisfies never
  }
}

function conflicts(left: PlannedCall, right: PlannedCall): boolean {
  if (!left.writes && !right.writes) return false
  if (right.concurrency === 'parallel') return left.writes
  return left.paths.some((path) => right.paths.some((other) => overlap(path, other)))
}

function overlap(left: string, right: string): boolean {
  return left === right || isInside(left, right) || isInside(right, left)
}

function isInside(path: string, parent: string): boolean {
  for (let current = dirname(path); ; current = dirname(current)) {
    if (current === parent) return true
    if (current === dirname(current)) return false
  }
}
