/** What the gateway sees of the world it was started in; read once, in the process entry. */
export interface Io {
  readonly stdout: Output
  readonly stderr: Output
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly userHome: string
  readonly user: string
  /** Where temporary folders are made. */
  readonly tempDir: string
  /** Fires at SIGINT, SIGTERM or SIGHUP; a handler that returns `true` was waiting for it. Returns how to leave. */
  onInterrupt(handler: (signal: NodeJS.Signals) => unknown): () => void
}

/** A stream that may be closed by whoever reads it; writing then does nothing. */
export interface Output {
  write(text: string): void
}
