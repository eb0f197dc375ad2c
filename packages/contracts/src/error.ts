import type { JsonValue } from './json.js'

const marker = Symbol.for('hermes.error')

/** Flat facts about an error; units belong in the name (`waitedMs`, `limitBytes`). */
export type ErrorDetails = Readonly<Record<string, JsonValue | undefined>>

/** What a {@link HermesError} is made of. */
export interface HermesErrorOptions {
  /** Dotted literal, for example `transport.context_overflow`. Stable: callers branch on it. */
  readonly code: string
  /** Whether the same operation may succeed when tried again. Default `false`. */
  readonly retryable?: boolean
  /** Facts for logs and for the person reading; never secrets. Default empty. */
  readonly details?: ErrorDetails
  /** What was thrown underneath. */
  readonly cause?: unknown
}

/**
 * The one error base of all Hermes packages. Its message is a line a person can act on.
 * Identity goes by a global symbol, so {@link HermesError.isInstance} works across bundles and duplicate installs.
 */
export class HermesError extends Error {
  readonly code: string
  readonly retryable: boolean
  readonly details: ErrorDetails
  readonly [marker] = true

  constructor(message: string, options: HermesErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'HermesError'
    this.code = options.code
    this.retryable = options.retryable ?? false
    this.details = options.details ?? {}
  }

  /** Whether `value` is a Hermes error from any copy of this package. */
  static isInstance(value: unknown): value is HermesError {
    return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[marker] === true
  }
}

/** Whether `error` says that an AbortSignal fired. Look for it first in each catch: an abort is never retried or wrapped. */
export function isAbort(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    ((error as { name?: unknown }).name === 'AbortError' || (error as { name?: unknown }).name === 'APIUserAbortError')
  )
}

/** The message of anything thrown, on one line, without a stack. */
export function errorLine(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error)
  return text.replace(/(?<!\s)\s*\n\s*/g, ' ').trim()
}
