import type { Clock } from '@hermes/contracts'
import type { Transport } from '@hermes/contracts/model'

/** What a suite server says in one turn; texts go out in deltas of `chunkSize` characters. */
export interface SuiteAnswer {
  readonly text?: string
  readonly reasoning?: string
  readonly toolCalls?: readonly { readonly id?: string; readonly name: string; readonly args: unknown }[]
  readonly usage?: {
    readonly inputTokens: number
    readonly outputTokens: number
    readonly cacheReadTokens?: number
    readonly reasoningTokens?: number
  }
  readonly chunkSize?: number
}

/** What a suite server does wrong in place of an answer. The answer's fields say what it sends before that. */
export type SuiteFault =
  | { readonly fault: 'status'; readonly status: number; readonly retryAfterSeconds?: number }
  | { readonly fault: 'refuse' }
  | (SuiteAnswer & { readonly fault: 'no-stream' })
  | (SuiteAnswer & { readonly fault: 'cut' | 'stall' | 'malformed'; readonly afterChunks?: number })

/** A server that speaks the tested wire over real HTTP and answers from a script, one turn per request. */
export interface SuiteServer {
  readonly baseUrl: string
  /** One for each request that came, saying whether the answer went out in full or the client left first. */
  readonly requests: readonly { readonly ended: Promise<'sent' | 'closed'> }[]
  close(): Promise<void>
}

/** What `testTransport` needs to know about a wire. */
export interface TransportSuite {
  /** Heads the tests. */
  readonly name: string
  /** Servers of this wire say how many tokens went into reasoning. Default true. */
  readonly countsReasoning?: boolean
  /** Makes a transport to a suite server. */
  create(baseUrl: string, options: { readonly clock?: Clock; readonly stallTimeoutMs?: number }): Transport
  serve(script: readonly (SuiteAnswer | SuiteFault)[]): Promise<SuiteServer>
}
