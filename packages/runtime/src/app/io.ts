/** What an app sees of the world it was started in; read once, when it starts. */
export interface Io {
  readonly stdin: NodeJS.ReadStream
  readonly stdout: Output
  readonly stderr: Output
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly userHome: string
  readonly user: string
  /** The running Node. */
  readonly nodePath: string
  /** Where temporary folders are made. */
  readonly tempDir: string
  /**
   * Fires at the first SIGINT, SIGTERM or SIGHUP; handlers added here come before the second one ends the process. A handler that
   * returns `true` was waiting for it, as a server does: the exit code is what the app says, not that of a signal. Returns how to
   * leave.
   */
  onInterrupt(handler: (signal: NodeJS.Signals) => unknown): () => void
}

/** A stream that may be closed by whoever reads it; writing then does nothing. */
export interface Output {
  readonly isTTY: boolean
  /** Columns of the terminal, 80 when there is none. */
  columns(): number
  /** Rows of the terminal, 24 when there is none. */
  rows(): number
  /** Tells of each change of its size. Returns how to stop. */
  onResize(handler: () => void): () => void
  /** Colours are wanted: a terminal, and no `NO_COLOR`. */
  readonly colors: boolean
  write(text: string): void
}

/** Wraps a stream so that a closed pipe never ends a run. */
export function createOutput(stream: NodeJS.WriteStream, env: Readonly<Record<string, string>>): Output {
  let closed = false
  stream.on('error', () => {
    closed = true
  })
  const isTTY = stream.isTTY === true
  return {
    isTTY,
    colors: isTTY && !env['NO_COLOR'] && env['TERM'] !== 'dumb',
    columns: () => stream.columns || 80,
    rows: () => stream.rows || 24,
    onResize: (handler) => {
      stream.on('resize', handler)
      return () => stream.off('resize', handler)
    },
    write: (text) => {
      if (!closed && !stream.destroyed) stream.write(text)
    },
  }
}
