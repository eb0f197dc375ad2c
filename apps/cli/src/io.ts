import type { Io } from '@hermes/runtime/app'

export type { Io, Output } from '@hermes/runtime/app'

/** Without what a command says on stderr about the home it opens. */
export function withoutNotices(io: Io): Io {
  return { ...io, stderr: { ...io.stderr, write: () => undefined } }
}

/** Whether a person can be asked: keys come from a terminal and the question can be seen. */
export function canAsk(io: Pick<Io, 'stdin' | 'stderr'>): boolean {
  return io.stdin.isTTY === true && io.stderr.isTTY
}

/** What a command does; resolves with the exit code. */
export type Action = (io: Io) => Promise<number>
