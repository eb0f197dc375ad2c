import { formsOf, REDACTED } from './forms.js'
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
  shape(/\b(?:xox[a-z]|xapp-\d)-[A-Za-z0-9-]{10,}/g),
  shape(/\bAIza[0-9A-Za-z_-]{30,}/g),
  shape(/\b(?:npm|hf|pypi|dop_v1|sk_live|rk_live|sk_test|whsec)[_-][A-Za-z0-9_-]{20,}/g),
  shape(/\b(?:gsk|xai|pplx|r8|fw|tvly|nvapi|lin_api|shpat|ntn|glsa|dckr_pat|figd|sbp)[_-][A-Za-z0-9]{20,}/g),
  shape(/\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}/g),
  shape(/\bya29\.[A-Za-z0-9_-]{20,}/g),
  shape(/\b[MNO][A-Za-z0-9_-]{23,26}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}/g),
  shape(/\bAGE-SECRET-KEY-1[0-9A-Z]{20,}/g),
  shape(
    /(\bhooks\.slack\.com\/[a-z]{4,20}\/|\bdiscord(?:app)?\.com\/api\/webhooks\/\d{5,25}\/)[A-Za-z0-9_/-]{20,}/g,
    KEPT,
  ),
  shape(/\b((?:AccountKey|SharedAccessKey|sig)=)[A-Za-z0-9+/%=]{20,}/gi, KEPT),
  shape(/\b((?:set-)?cookie:\s{0,3})[^\r\n"']{8,}/gi, KEPT),
  shape(/\b(bot)\d{3,12}:[A-Za-z0-9_-]{10,}/gi, KEPT),
  shape(/\b\d{8,10}:[A-Za-z0-9_-]{35}\b/g),
  shape(/\b(?:[srp]k|fal|exa)_(?=[A-Za-z_-]{0,40}\d)[A-Za-z0-9_-]{16,}/g),
  shape(/\bhv[sbr]\.[A-Za-z0-9_-]{20,}/g),
  shape(/([?&](?:key|api[_-]?key|access_token|auth|sig|signature|client_secret|code)=)[^&\s"'#<>]{6,}/gi, KEPT),
  shape(/\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]*/g),
  shape(/\b((?:Bearer|Basic|Token) +)[A-Za-z0-9._~+/=-]{12,}/gi, KEPT),
  shape(/(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@"'<>]{0,100}:)[^\s/"'<>]{1,200}(?=@)/gi, KEPT),
  shape(/(\b[a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/:@"'<>]{12,200}(?=@)/gi, KEPT),
  shape(
    /((?:password|passwd|passphrase|secret|token(?!(?:s|_?(?:count|limit|budget|usage))[A-Za-z0-9_-]{0,20}["']?\s{0,3}[=:]\s{0,3}["']?\d)|api[_-]?key|access[_-]?key|private[_-]?key|credential)[A-Za-z0-9_-]{0,20}["']?\s{0,3}[=:]\s{0,3}["']?)(?!\[REDACTED\]|\$[\w{(]|(?:null|true|false|none|undefined)\b|[A-Za-z_$][\w.$]{0,60}\([^()\n]{0,80}\))[^\s"'&,;]{4,}/gi,
    KEPT,
  ),
])

/** Replaces what looks like a secret: known key prefixes, bearer tokens, PEM keys, `password=…`. Guesses, so not for conversations. */
function redactShapes(text: string): string {
  return SHAPES.reduce((result, { pattern, replacement }) => result.replace(pattern, replacement), text)
}
