import { formsOf, REDACTED } from './forms.js'
import { redactShapes } from './shapes.js'
import { findSpans } from './spans.js'

/** Takes secrets out of text. Its functions can be passed on without it. */
export interface Redactor {
  /** Registers a value; shorter than 6 characters is ignored. */
  readonly add: (secret: string) => void
  /** Replaces registered values, plain and encoded (JSON, URL, base64). */
  readonly redactValues: (text: string) => string
  /** Replaces what looks like a secret. For logs, errors and exports, never for the conversation. */
  readonly redactShapes: (text: string) => string
  /** Both. */
  readonly redact: (text: string) => string
  /** Every spelling that {@link Redactor.redactValues} replaces. */
  readonly forms: () => readonly string[]
}

/** A redactor that knows `secrets`; more can be added. */
export function createRedactor(options: { readonly secrets: readonly string[] }): Redactor {
  const forms = new Set<string>()
  const add = (secret: string): void => {
    for (const form of formsOf(secret)) forms.add(form)
  }
  for (const secret of options.secrets) add(secret)
  const redactValues = (text: string): string => {
    let result = ''
    let at = 0
    for (const span of findSpans(text, [...forms])) {
      result += text.slice(at, span.start) + REDACTED
      at = span.end
    }
    return result + text.slice(at)
  }
  return {
    add,
    redactValues,
    redactShapes,
    redact: (text) => redactShapes(redactValues(text)),
    forms: () => [...forms],
  }
}
