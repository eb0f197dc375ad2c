import type { Sampling } from './conversation/entry.js'
import type { AssistantMessage, EndpointStamp, Message } from './conversation/message.js'
import type { Usage } from './conversation/usage.js'
import type { HermesError } from './error.js'
import type { JsonSchema, ToolDefinition } from './tool.js'

/** The wire protocols Hermes speaks. */
export type WireApi = 'chat-completions' | 'anthropic-messages' | 'bedrock-converse' | 'responses'

/** What to ask a model, independent of any wire. */
export interface ModelRequest extends Sampling {
  /** The model id as the provider names it. */
  readonly model: string
  /** A valid conversation; a system message comes first. */
  readonly messages: readonly Message[]
  /** Definitions in stable order; empty sends no tools. */
  readonly tools: readonly ToolDefinition[]
  /** Default `auto`. `none` keeps the definitions in place and forbids calls; a name has that tool called. Wires that cannot make a model do so leave it free. */
  readonly toolChoice?: ToolChoice
  /** What text the model answers with, where the endpoint knows such a thing; else it goes without. Default: any. */
  readonly answerFormat?: AnswerFormat
}

/** Which tools a model may or has to call. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string }

/** What the text of an answer is. */
export type AnswerFormat =
  /** A JSON object. */
  | { readonly type: 'json' }
  /** JSON that fits a schema. */
  | {
      readonly type: 'json-schema'
      readonly name: string
      readonly description?: string
      readonly schema: JsonSchema
      /** Whether the endpoint holds the model to all of it, for which some take fewer schemas. Default: as the endpoint does it. */
      readonly strict?: boolean
    }

/**
 * What a model call yields. Deltas are provisional until `finish`, which comes exactly once and last.
 * `retry-wait` comes from a ModelClient only; with `discard` everything streamed so far is void. `remedy` says what is different in the
 * next attempt; absent, it is the same request to the same endpoint once more.
 */
export type ModelEvent =
  | { readonly type: 'text-delta'; readonly text: string }
  | { readonly type: 'reasoning-delta'; readonly text: string }
  | {
      readonly type: 'tool-call-delta'
      readonly index: number
      readonly id?: string
      readonly name?: string
      readonly argsText?: string
    }
  | {
      readonly type: 'retry-wait'
      readonly attempt: number
      readonly delayMs: number
      readonly reason: ErrorReason
      readonly message: string
      readonly discard: boolean
      readonly remedy?: RetryRemedy
    }
  | ModelFinish

/** What a ModelClient changes before it tries again. */
export type RetryRemedy =
  /** Another key of the same provider. */
  | { readonly type: 'rotate-credential' }
  /** The same key, renewed. */
  | { readonly type: 'refresh-credential' }
  /** The request, so that the endpoint takes it. */
  | { readonly type: 'repair'; readonly repair: RequestRepair }
  /** Another endpoint answers until the turn ends. */
  | { readonly type: 'fallback'; readonly provider: string; readonly model: string }

/** How a request can be changed after an endpoint refused it; the stored conversation stays as it is. */
export type RequestRepair =
  | 'shrink-images'
  /** What was no smaller, or not wanted at all, becomes a line of text. */
  | 'drop-images'
  /** Recordings and files become lines of text. */
  | 'drop-attachments'
  | 'drop-reasoning'
  | 'simplify-schemas'
  | 'strip-unsupported'

/** The complete answer. */
export interface ModelFinish {
  readonly type: 'finish'
  readonly message: AssistantMessage
  readonly usage: Usage
  /** Who answered, as stamped into reasoning that may be replayed. */
  readonly stamp: EndpointStamp
  /** It was made at another tier than the usual one, so that the usual prices do not hold. */
  readonly isPricedApart?: true
}

/** Why a model call failed. */
export type ErrorReason =
  /** A key that was refused; another one may be taken, or this one renewed. */
  | 'auth'
  /** A key that will not be good again. */
  | 'auth-permanent'
  /** Nothing is answered until somebody pays. */
  | 'billing'
  | 'rate-limit'
  | 'overloaded'
  | 'server-error'
  /** No answer in time, or a TLS connection that broke: nothing that was sent is at fault. */
  | 'timeout'
  /** Nobody there, or a connection that ended early. */
  | 'connection'
  | 'context-overflow'
  | 'payload-too-large'
  | 'image-too-large'
  | 'model-not-found'
  /** What was said is against the rules of this provider; another may take it. */
  | 'content-policy-blocked'
  /** What the user allows providers to do with data leaves none to ask. */
  | 'provider-policy-blocked'
  /** The request is refused as it is, for none of the other reasons. */
  | 'format-error'
  /** A thought that went back cannot be verified, or is not where it has to be. */
  | 'thinking-signature'
  /** Conversations of this length take a tier that the account has not. */
  | 'long-context-tier'
  /** The grammar that a local server makes of tool schemas does not hold a keyword of them, such as `pattern`. */
  | 'llama-cpp-grammar-pattern'
  | 'malformed-response'
  | 'unknown'

/** What to do about a failed model call; decided once, followed by flags. */
export interface ErrorClass {
  readonly reason: ErrorReason
  readonly retryable: boolean
  readonly shouldCompress: boolean
  readonly shouldRotateCredential: boolean
  readonly shouldFallback: boolean
  /** How long the server asked to wait, in milliseconds. */
  readonly retryAfterMs?: number
  /** How long asking again is worthwhile in all, in milliseconds: where nobody listens that seldom changes. Default: as long as the caller likes. */
  readonly giveUpAfterMs?: number
  readonly repair?: RequestRepair | 'refresh-credential' | 'rebuild-client'
}

/** Options of one call. */
export interface StreamOptions {
  /** Aborting ends the HTTP request and rejects with an `AbortError`; nothing is retried. */
  readonly signal?: AbortSignal
}

/** One key or token, as a {@link CredentialSource} hands it out. */
export interface Credential {
  /** Names the entry within its provider; fit for logs. */
  readonly id: string
  /** What is sent. Never logged, stored elsewhere or shown. */
  readonly secret: string
  /** Its id again, where it was chosen alone; absent for one of several that stand in for each other. */
  readonly account?: string
}

/** What became of a call made with a credential. */
export type CredentialOutcome =
  | { readonly type: 'accepted'; readonly headers?: Readonly<Record<string, string>> }
  | {
      readonly type: 'failed'
      readonly verdict: ErrorClass
      readonly headers?: Readonly<Record<string, string>>
      /** The provider's own words, read for when a limit ends. */
      readonly message?: string
    }

/** Where a model client gets its keys from: a single key, or a pool of many shared by several processes. */
export interface CredentialSource {
  /** The one to use for the next call; `null` when none is usable now. Refreshes one that is about to expire. */
  select(options?: { readonly signal?: AbortSignal }): Promise<Credential | null>
  /** When the soonest becomes usable again, in Unix milliseconds; `null` when waiting will not help. */
  usableAtMs(): Promise<number | null>
  /** Tells how a call went: cools down, retires or confirms the credential. Never rejects. */
  report(credential: Credential, outcome: CredentialOutcome): Promise<void>
  /** A new secret for one that was refused; `null` when it cannot be renewed. Any number of callers cause one renewal. */
  refresh(credential: Credential, options?: { readonly signal?: AbortSignal }): Promise<Credential | null>
  /** The one that was chosen and is used alone; `null` where all are. Absent where none can be chosen. */
  alone?(): Promise<{ readonly label: string } | null>
}

/** One wire to one endpoint. Never retries by itself. */
export interface Transport {
  readonly api: WireApi
  readonly stamp: (model: string) => EndpointStamp
  /**
   * Sends one request. Iteration rejects with a {@link HermesError} (`transport.*`) that `classifyError` understands.
   * A server that cannot stream gives one `finish` and no deltas. `onHeaders` is told the headers of a response of success, names in
   * lower case, before its first event; it must not throw.
   */
  stream(
    request: ModelRequest,
    options: StreamOptions & {
      readonly credential: string | null
      /** See {@link Credential.account}. What is sealed for one account goes back to that one alone. */
      readonly account?: string
      readonly onHeaders?: (headers: Readonly<Record<string, string>>) => void
    },
  ): AsyncIterable<ModelEvent>
  /**
   * How long the endpoint keeps the prefix of a request that it has answered, in milliseconds since it was last used. `null` where requests carry
   * no marks for its cache, and where one of a single token of output would have another prefix or cost more. Absent: always `null`.
   */
  cacheLifetimeMs?(request: ModelRequest): number | null
  /** Drops cached SDK clients, so that the next call starts from scratch. Calls under way are left alone. */
  reset?(): void
}

/** What a call belongs to. */
export interface CallScope {
  /** A label for the usage ledger: `turn`, `summary`, `title`, `judge` … */
  readonly purpose: string
  /** Whose spending it is. */
  readonly sessionId?: string
  /** The run it is part of: after a fallback the calls of one turn stay with the endpoint that answered, and the next turn goes back. */
  readonly turnId?: string
  /** For delegated work: the session and turn of the parent, whose ledger and budgets count it. */
  readonly root?: { readonly sessionId: string; readonly turnId?: string }
}

/** A prefix that a provider keeps for a stated time, and whether it is worth keeping longer. */
export interface PrefixCache {
  /** Since its last use, in milliseconds. */
  readonly lifetimeMs: number
  /** What one {@link refresh} is expected to cost, in US dollars. */
  readonly refreshUsd: number
  /** How much cheaper the next request is if the provider still has the prefix, in US dollars. */
  readonly savesUsd: number
  /**
   * Asks the same with one token of output, so that the provider keeps the prefix for another lifetime. One attempt of one endpoint: nothing is
   * retried, and no fallback is asked. Gives what it came to. Rejects as a call does, with `models.budget_spent` too, and with `models.other_key` where
   * another key would ask; abort ends it.
   */
  refresh(options: StreamOptions): Promise<Usage>
}

/** What everybody who needs a model takes: it owns key, wire, retries and usage. */
export interface ModelClient {
  readonly provider: string
  /** The model used when a request names none. */
  readonly model: string
  /** The endpoint that the next call of a turn begins with, in the same names. Absent: always `provider` and `model` above. */
  nextEndpoint?(turnId: string | undefined): Pick<ModelClient, 'provider' | 'model'>
  /**
   * The prefix of a request that was answered just now, as the provider keeps it; `used` is what that call came to. `null` where it keeps none for a
   * stated time, and where a price is not known. Absent: always `null`. Never rejects.
   */
  prefixCache?(
    request: Omit<ModelRequest, 'model'> & { readonly model?: string },
    used: Usage,
    scope: CallScope,
  ): Promise<PrefixCache | null>
  /**
   * Asks the model. Iteration rejects with a {@link HermesError} whose message is one clear line once retries are used up.
   */
  stream(
    request: Omit<ModelRequest, 'model'> & { readonly model?: string },
    options: StreamOptions & CallScope,
  ): AsyncIterable<ModelEvent>
}

export type { EndpointStamp, HermesError }
