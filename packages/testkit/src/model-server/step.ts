/** Token counts a scripted turn reports; what is absent is counted from the bytes, four to a token. */
interface StepUsage {
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly cacheReadTokens?: number
  /** Not on chat completions. */
  readonly cacheWriteTokens?: number
  readonly reasoningTokens?: number
  /** Reported as `usage.cost`, as OpenRouter does. */
  readonly costUsd?: number
}

/** One call of a scripted turn. `rawArgs` goes out as it is, so that broken JSON can be sent. */
export interface StepToolCall {
  /** Default: `call_REQUEST_POSITION` or `toolu_REQUEST_POSITION`, unique within a server. */
  readonly id?: string
  readonly name: string
  readonly args?: unknown
  readonly rawArgs?: string
}

/** What a model says in one turn. */
export interface AnswerStep {
  readonly text?: string
  readonly reasoning?: string
  /** An encrypted thought, as base64, after `reasoning`; Anthropic messages and Bedrock converse only. */
  readonly redacted?: string
  /** What kind of message `text` is; Responses only. */
  readonly phase?: 'commentary' | 'final_answer'
  readonly toolCalls?: readonly StepToolCall[]
  /** In the words of the wire. Default: that for calls with calls, else that for the end; `null` leaves it out. */
  readonly finishReason?: string | null
  readonly usage?: StepUsage
  /** Characters per delta. Default 64. */
  readonly chunkSize?: number
  /** Waited before the answer and between its chunks. Default 0. */
  readonly latencyMs?: number
}

/** What goes wrong in place of an answer. The other fields say what is sent before it does. */
export type FaultStep =
  | {
      readonly fault: 'status'
      readonly status: number
      readonly retryAfterSeconds?: number
      /** Default: an error object of the wire naming the status. */
      readonly body?: unknown
      readonly headers?: Readonly<Record<string, string>>
    }
  /** The socket dies after `afterChunks` (default 2); with `how: 'end'` the body ends politely instead, without the sign of a complete answer. */
  | (AnswerStep & { readonly fault: 'cut'; readonly afterChunks?: number; readonly how?: 'destroy' | 'end' })
  /** Sends `afterChunks` (default 1) and then nothing until the client leaves. */
  | (AnswerStep & { readonly fault: 'stall'; readonly afterChunks?: number })
  /** Sends `afterChunks` (default 1) and then a line that is not JSON. */
  | (AnswerStep & { readonly fault: 'malformed'; readonly afterChunks?: number })
  /** Sends `afterChunks` (default 2) and then an error inside the stream. */
  | (AnswerStep & {
      readonly fault: 'error-event'
      readonly type: string
      readonly message: string
      readonly afterChunks?: number
    })
  /** Destroys the socket before any answer. */
  | { readonly fault: 'refuse' }
  /** Answers a streaming request with one JSON body. */
  | (AnswerStep & { readonly fault: 'no-stream' })
  /** Answers with a web page, as a proxy or a wrong address does. Default status 200. */
  | { readonly fault: 'html'; readonly status?: number }

/** One scripted answer of the model server. */
export type ModelStep = AnswerStep | FaultStep
