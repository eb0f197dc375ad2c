/** One message of the DevTools protocol, whichever way it goes. @see https://chromedevtools.github.io/devtools-protocol/ */
export interface CdpMessage {
  readonly id?: number
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly sessionId?: string
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly message?: string }
}

/** A connection to a browser. */
export interface CdpConnection {
  /** What is sent after the end is dropped. */
  send(message: object): void
  /** Told of each message; set once, before the first `send`. */
  onMessage: (message: CdpMessage) => void
  /** Told once that it ended, by whichever side. */
  onClose: (reason: string) => void
  /** Resolves once nothing of it is left. Never rejects. */
  close(): Promise<void>
}
