import type { Io } from '@hermes/runtime/app'

export type { Io, Output } from '@hermes/runtime/app'

/** Whether a person can be asked: keys come from a terminal and the question can be seen. */
export function canAsk(io: Pick<Io, 'stdin' | 'stderr'>): boolean {
  return io.stdin.isTTY === true && io.stderr.isTTY
}
