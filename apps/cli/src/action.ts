import type { Io } from './io.js'

/** What a command does; resolves with the exit code. */
export type Action = (io: Io) => Promise<number>
