import type { Output as PlainOutput } from '@hermes/runtime/app'
import type { Look } from './render/look.js'
import type { EarlyIo as Io } from './start/early-line.js'

export type { EarlyIo as Io } from './start/early-line.js'

/** Where something is shown. */
export interface Output extends PlainOutput {
  /** How the person wants it to look. Default: as usual. */
  readonly look?: () => Look
}

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
