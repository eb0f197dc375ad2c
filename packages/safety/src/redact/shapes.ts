import { REDACTED } from './forms.js'

interface Shape {
  readonly pattern: RegExp
  /** `$1` keeps what says which kind of secret stood there. */
  readonly replacement: string
}

const shape = (pattern: RegExp, replacement = REDACTED): Shape => ({ pattern, replacement })
const KEPT = `$1${REDACTED}`

const SHAPES: readonly Shape[] = Object.freeze([
  shape(/-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]{0,10000}?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|$)/g),
  shape(/\bsk-[A-Za-z0-9_-]{16,}/g),
  shape(/\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,})/g),
  shape(/\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g),
  shape(/\bxox[a-z]-[A-Za-z0-9-]{10,}/g),
  shape(/\bAIza[0-9A-Za-z_-]{30,}/g),
  shape(/\b(?:npm|hf|pypi|dop_v1|sk_live|rk_live|sk_test|whsec)[_-][A-Za-z0-9_-]{20,}/g),
  shape(/\b\d{8,10}:[A-Za-z0-9_-]{35}\b/g),
  shape(/\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]*/g),
  shape(/\b((?:Bearer|Basic|Token) +)[A-Za-z0-9._~+/=-]{12,}/gi, KEPT),
  shape(/(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@]{0,100}:)[^\s/@]{1,200}(?=@)/gi, KEPT),
  shape(
    /((?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential)[A-Za-z0-9_-]{0,20}["']?\s{0,3}[=:]\s{0,3}["']?)(?!\[REDACTED\])[^\s"'&,;]{4,}/gi,
    KEPT,
  ),
])

/** Replaces what looks like a secret: known key prefixes, bearer tokens, PEM keys, `password=…`. Guesses, so not for conversations. */
export function redactShapes(text: string): string {
  return SHAPES.reduce((result, { pattern, replacement }) => result.replace(pattern, replacement), text)
}
