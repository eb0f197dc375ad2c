import type { ErrorDetails } from '@hermes/contracts'

const marker = Symbol.for('hermes.error')

/** A Hermes error made without importing its class: this package loads nothing but itself. */
export class RegistryError extends Error {
  readonly code: `registry.${string}`
  readonly retryable = false
  readonly details: ErrorDetails
  readonly [marker] = true

  constructor(code: `registry.${string}`, message: string, details: ErrorDetails = {}) {
    super(message)
    this.name = 'RegistryError'
    this.code = code
    this.details = details
  }
}

/** Whether `value` carries the marker of Hermes errors, whichever package made it. */
export function isHermesError(value: unknown): value is Error & { readonly code: string } {
  return value instanceof Error && (value as unknown as Record<symbol, unknown>)[marker] === true
}
