/** The commands of a shell that run now. */
export class RunningCommands {
  readonly #running = new Map<AbortController, Promise<unknown>>()

  /** Runs one; its signal is aborted with `input` and by {@link stop}. */
  async run<Result>(input: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const canceler = new AbortController()
    const cancel = () => canceler.abort()
    input?.addEventListener('abort', cancel, { once: true })
    if (input?.aborted) cancel()
    const result = work(canceler.signal)
    this.#running.set(
      canceler,
      // Whoever runs it is told.
      result.catch(() => undefined),
    )
    try {
      return await result
    } finally {
      input?.removeEventListener('abort', cancel)
      this.#running.delete(canceler)
    }
  }

  /** Ends all of them, and waits. */
  async stop(): Promise<void> {
    for (const canceler of this.#running.keys()) canceler.abort()
    await Promise.all(this.#running.values())
  }
}
