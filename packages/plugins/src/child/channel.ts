// Calls in both directions, a line of JSON each. Both ends are made of this; it imports nothing.

/** Serves a call of the other end. */
type Serve = (
  method: string,
  params: unknown,
  options: { readonly id: number; readonly signal: AbortSignal },
) => unknown

interface Pending {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

interface ChannelOptions {
  /** Sends one line. */
  readonly write: (line: string) => void
  readonly serve: Serve
  /** Told something that needs no answer. */
  readonly onNotice: (method: string, params: unknown) => void
  /** Whether a message is not to be looked at; an answer is an error then, and all else is dropped. Default: none is. */
  readonly isTooDeep?: (message: unknown) => boolean
}

/** A failure of the other end, as it said it. */
export class RemoteError extends Error {
  readonly code: string

  constructor(message: string, code: string) {
    super(message)
    this.code = code
  }
}

/** One end of a connection. */
export class Channel {
  readonly #options: ChannelOptions
  readonly #pending = new Map<number, Pending>()
  readonly #serving = new Map<number, AbortController>()
  #last = 0
  #isOver = false

  constructor(options: ChannelOptions) {
    this.#options = options
  }

  get waiting(): number {
    return this.#pending.size
  }

  /** Abort tells the other end, and rejects with its reason. `onId` gets the number that the other end knows the call by. */
  call(method: string, params: unknown, signal?: AbortSignal, onId?: (id: number) => void): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#isOver) {
        reject(new RemoteError('The connection is closed.', 'plugins.ended'))
        return
      }
      signal?.throwIfAborted()
      const id = ++this.#last
      const abort = () => this.cancel(id, signal?.reason)
      const done = () => signal?.removeEventListener('abort', abort)
      this.#pending.set(id, {
        resolve: (value) => {
          done()
          resolve(value)
        },
        reject: (error) => {
          done()
          reject(error)
        },
      })
      signal?.addEventListener('abort', abort, { once: true })
      onId?.(id)
      this.#send({ id, method, params })
    })
  }

  /** Gives a call up: it rejects with `reason`, and the other end is told. */
  cancel(id: number, reason: unknown): void {
    this.#settle(id)?.reject(reason)
    this.#send({ cancel: id })
  }

  notify(method: string, params: unknown): void {
    this.#send({ method, params })
  }

  /** Takes a line of the other end; what is no message is dropped. */
  take(line: string): void {
    let message: Record<string, unknown>
    try {
      message = JSON.parse(line) as Record<string, unknown>
    } catch {
      return
    }
    if (typeof message !== 'object' || message === null) return
    const { id, method, params, cancel } = message
    if (this.#options.isTooDeep?.(message) === true) {
      const error = { message: 'it gave what is nested too deep' }
      if (typeof id === 'number' && typeof method !== 'string') this.#answered(id, { error })
      return
    }
    if (typeof cancel === 'number') this.#serving.get(cancel)?.abort()
    else if (typeof method === 'string' && typeof id === 'number') void this.#serve(id, method, params)
    else if (typeof method === 'string') this.#notice(method, params)
    else if (typeof id === 'number') this.#answered(id, message)
  }

  #notice(method: string, params: unknown): void {
    try {
      this.#options.onNotice(method, params)
    } catch {
      // A notice of another form than it should have says nothing.
    }
  }

  /** Fails what waits, and what is called from now on. */
  close(error: unknown): void {
    this.#isOver = true
    for (const id of [...this.#pending.keys()]) this.#settle(id)?.reject(error)
    for (const controller of this.#serving.values()) controller.abort()
  }

  #answered(id: number, { result, error }: Record<string, unknown>): void {
    const pending = this.#settle(id)
    if (error === undefined) pending?.resolve(result)
    else {
      const { message, code } = (error ?? {}) as { readonly message?: unknown; readonly code?: unknown }
      pending?.reject(new RemoteError(String(message), typeof code === 'string' ? code : 'plugins.failed'))
    }
  }

  #settle(id: number): Pending | undefined {
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    return pending
  }

  async #serve(id: number, method: string, params: unknown): Promise<void> {
    const controller = new AbortController()
    this.#serving.set(id, controller)
    try {
      const result = await this.#options.serve(method, params, { id, signal: controller.signal })
      this.#send({ id, result: result === undefined ? null : result })
    } catch (error) {
      const { message, code } = (error ?? {}) as { readonly message?: unknown; readonly code?: unknown }
      this.#send({ id, error: { message: String(message ?? error).slice(0, 2_000), code } })
    } finally {
      this.#serving.delete(id)
    }
  }

  #send(message: object): void {
    if (this.#isOver) return
    let line: string
    try {
      line = JSON.stringify(message)
    } catch (error) {
      // What cannot be written down is an answer all the same.
      const why = error instanceof RangeError ? 'it is nested too deep' : String(error)
      line = JSON.stringify({
        id: (message as { id?: number }).id,
        error: { message: `it gave what is no JSON: ${why}` },
      })
    }
    this.#options.write(`${line}\n`)
  }
}
