import { HermesError } from '@hermes/contracts'
import type { ErrorClass, ErrorReason } from '@hermes/contracts/model'
import { type ErrorFacts, errorFacts } from './error-facts.js'
import { rateLimits, refusedUntilMs } from './rate-limits.js'

/** What is known about the call that failed; all of it optional. */
export interface ClassifyContext {
  /** Milliseconds since the epoch, for dates in Retry-After. Default: the time now. */
  readonly nowMs?: number
  /** The size of the conversation and of the model's window: a server that hangs up on a nearly full one means "too long". */
  readonly conversationTokens?: number
  readonly windowTokens?: number
}

type Verdict = Pick<ErrorClass, 'reason'> & Partial<ErrorClass>

const DEFAULTS: Readonly<Record<ErrorReason, Partial<ErrorClass>>> = {
  auth: { shouldRotateCredential: true, shouldFallback: true },
  'auth-permanent': { shouldRotateCredential: true, shouldFallback: true },
  billing: { shouldRotateCredential: true, shouldFallback: true },
  'rate-limit': { retryable: true, shouldRotateCredential: true, shouldFallback: true },
  overloaded: { retryable: true, shouldFallback: true },
  'server-error': { retryable: true, shouldFallback: true },
  timeout: { retryable: true, shouldFallback: true, repair: 'rebuild-client' },
  connection: { retryable: true, shouldFallback: true, repair: 'rebuild-client' },
  'context-overflow': { shouldCompress: true },
  'payload-too-large': { shouldCompress: true },
  'image-too-large': { repair: 'shrink-images' },
  'model-not-found': { shouldFallback: true },
  'policy-blocked': {},
  'format-error': { shouldFallback: true },
  'malformed-response': { retryable: true, shouldFallback: true },
  unknown: { retryable: true, shouldFallback: true },
}

/** Codes of our own that are not simply a reason with underscores. */
const OWN_CODES: Readonly<Record<string, Verdict>> = {
  'transport.stalled': { reason: 'timeout' },
  'transport.stream_cut': { reason: 'connection' },
  'transport.wrong_address': { reason: 'format-error' },
  'transport.replay_mismatch': { reason: 'format-error' },
}

/**
 * What to do about a failed model call. Takes whatever was thrown: an SDK's error, a network error, or a `transport.*` error that was
 * classified before. This file is the only place that reads vendors' prose. Never throws.
 */
export function classifyError(error: unknown, context: ClassifyContext = {}): ErrorClass {
  if (HermesError.isInstance(error)) return refine(classifyOwn(error), errorFacts(error), context)
  const facts = errorFacts(error)
  const retryAfterMs = retryAfter(facts, context.nowMs ?? Date.now())
  return refine(complete({ ...decide(facts), ...(retryAfterMs === null ? {} : { retryAfterMs }) }), facts, context)
}

/** The headers of the response behind a failed call, names in lower case; empty when there was none. Never throws. */
export function responseHeaders(error: unknown): Readonly<Record<string, string>> {
  const { headers } = errorFacts(HermesError.isInstance(error) ? error.cause : error)
  return headers ? Object.fromEntries(headers) : {}
}

/** Bedrock grants streaming apart from asking at all. */
const STREAM_PERMISSION = /not authorized.{0,40}InvokeModelWithResponseStream/

/** Whether a server refused a request only because it was asked to stream or to report usage while streaming. */
export function refusesStreaming(error: unknown): boolean {
  const { status, message } = errorFacts(error)
  if (status === null || status < 400 || status >= 500 || status === 429) return false
  if (STREAM_PERMISSION.test(message)) return true
  return (
    /\bstream(?:ing|_options)?\b/i.test(message) &&
    /support|unknown|unrecognized|extra|not allowed|invalid|must be (?:verified|false)/i.test(message)
  )
}

/** Whether a server refused a request only because it was asked to show what the model thinks. */
export function refusesSummaries(error: unknown): boolean {
  const { status, message } = errorFacts(error)
  return status === 400 && /reasoning[ ._]summar/i.test(message)
}

/** Whether a server refused a request only because of the marks for its cache. */
export function refusesCaching(error: unknown): boolean {
  const { status, message } = errorFacts(error)
  return (status === 400 || status === 403) && /cache_?point|prompt caching/i.test(message)
}

function classifyOwn(error: HermesError): ErrorClass {
  const own = OWN_CODES[error.code]
  if (own) return complete({ ...own, retryable: error.retryable })
  const reason = error.code.replace(/^transport\./, '').replaceAll('_', '-')
  const { retryAfterMs, repair } = error.details
  return complete({
    reason: Object.hasOwn(DEFAULTS, reason) ? (reason as ErrorReason) : 'unknown',
    retryable: error.retryable,
    ...(typeof retryAfterMs === 'number' ? { retryAfterMs } : {}),
    ...(typeof repair === 'string' ? { repair: repair as ErrorClass['repair'] } : {}),
  })
}

function complete(verdict: Verdict): ErrorClass {
  return {
    retryable: false,
    shouldCompress: false,
    shouldRotateCredential: false,
    shouldFallback: false,
    ...DEFAULTS[verdict.reason],
    ...verdict,
  }
}

const NEARLY_FULL = 0.6

/** A server that drops the connection of a nearly full conversation most likely ran out of context; a TLS hiccup never means that. */
function refine(verdict: ErrorClass, facts: ErrorFacts, context: ClassifyContext): ErrorClass {
  if (verdict.reason !== 'connection' || !context.conversationTokens || !context.windowTokens) return verdict
  const droppedLate =
    facts.causes.some((cause) => DROPPED.test(cause)) && !facts.causes.some((cause) => TLS.test(cause))
  if (!droppedLate || context.conversationTokens < NEARLY_FULL * context.windowTokens) return verdict
  return complete({ reason: 'context-overflow' })
}

const THINKING_SIGNATURE =
  /signature.{0,40}thinking|thinking.{0,60}signature|thinking.{0,80}(?:cannot be modified|must remain|bound to)|expected .{0,3}thinking|(?:prefix|model)_binding_mismatch/i
const SEALED_THOUGHT =
  /encrypted content.{0,80}(?:could not be|not be verified|decrypted)|of type .reasoning. was provided without/i
const LONG_CONTEXT_TIER = /long context.{0,80}(?:extra usage|tier|credits)|extra usage.{0,60}long context/i
const GRAMMAR = /(?:parse|generate|convert).{0,40}grammar|unable to generate parser|json schema conversion failed/i
const CONTEXT =
  /context[ _-]?(?:length|window|size|limit)|maximum context|prompt is too long|too many (?:input )?tokens|input (?:is|token count).{0,40}(?:too long|exceeds)|exceeds? .{0,30}(?:max(?:imum)?|limit).{0,20}tokens|reduce the length|exceeds the available context|request too large for .{0,80}tokens/i
const IMAGE = /image.{0,60}(?:too large|exceeds|maximum|dimension|size)|(?:too large|exceeds).{0,40}image/i
const MODEL_MISSING =
  /model.{0,120}(?:not found|does not exist|not exist|is not (?:available|supported|a valid)|unknown|unavailable|no longer)|(?:no such|unknown|invalid|unsupported) model|no endpoints found|try pulling it|model identifier is invalid|on-demand throughput isn.t supported/i
const POLICY =
  /data policy|privacy settings|guardrail|content (?:management )?policy|content_policy|flagged|moderation|safety system|prohibited/i
const BILLING =
  /insufficient (?:credit|quota|balance|funds)|exceeded your current quota|out of credits|credit balance|billing|payment required|more credits|top up|specified (?:api |workspace )*usage limits|spend(?:ing)? (?:limit|cap)/i
const SPENT = /^insufficient_quota$|spend_limit_reached$/
const USAGE_LIMIT = /usage limit|quota|limit (?:reached|exceeded)|rate limit/i
const TRANSIENT = /try(?:ing)? again|retry|resets? (?:at|in)|per (?:minute|hour|day)|temporar|later/i
const KEY =
  /api[ _-]?key.{0,40}(?:invalid|not valid|incorrect|missing|expired)|(?:invalid|incorrect|missing) (?:api[ _-]?key|credential|token)|unauthori[sz]ed/i
const KEY_DEAD = /revoked|deactivated|disabled|suspended|terminated/i
const RATE = /rate limit|too many requests|requests per (?:minute|second|day)|tokens per minute/i
const OVERLOADED = /overloaded|over capacity|at capacity|temporarily unavailable/i
const UNSUPPORTED =
  /(?:unsupported|unknown|unrecognized|unexpected|extra) (?:parameter|value|argument|field|input)|not supported (?:with|by) this model|does not support/i
const TLS = /\bssl\b|\btls\b|certificate|decryption failed|bad record mac/i
const DROPPED =
  /ECONNRESET|EPIPE|socket hang up|other side closed|UND_ERR_SOCKET|terminated|premature|stream_cut|truncated event/i
const TIMED_OUT = /ETIMEDOUT|ESOCKETTIMEDOUT|UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT|TimeoutError|timed? ?out/i
const UNREACHABLE =
  /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL|fetch failed|APIConnectionError|network/i
const MALFORMED = /SyntaxError|malformed|unexpected (?:token|end of json)|not valid json|\bchecksum\b/i

function decide(facts: ErrorFacts): Verdict {
  return special(facts) ?? (facts.status === null ? byCause(facts) : byStatus(facts, facts.status))
}

/** Patterns of single providers that would be misread by the general rules. */
function special({ status, message, codes }: ErrorFacts): Verdict | null {
  if (codes.includes('replay_mismatch')) return { reason: 'format-error', retryable: false }
  if (codes.includes('invalid_encrypted_content') || (status === 400 && SEALED_THOUGHT.test(message)))
    return { reason: 'format-error', repair: 'drop-reasoning' }
  // Resellers answer with other statuses, 429 among them.
  if (status !== null && status >= 400 && status < 500 && THINKING_SIGNATURE.test(message))
    return { reason: 'format-error', repair: 'drop-reasoning' }
  if (status === 429 && LONG_CONTEXT_TIER.test(message)) return { reason: 'context-overflow' }
  if (status !== null && status >= 400 && GRAMMAR.test(message))
    return { reason: 'format-error', repair: 'simplify-schemas' }
  return null
}

function byStatus(facts: ErrorFacts, status: number): Verdict {
  const { message, codes } = facts
  switch (status) {
    case 401:
      return KEY_DEAD.test(message) ? { reason: 'auth-permanent' } : { reason: 'auth', repair: 'refresh-credential' }
    case 402:
      return USAGE_LIMIT.test(message) && TRANSIENT.test(message) ? { reason: 'rate-limit' } : { reason: 'billing' }
    case 403:
      if (POLICY.test(message)) return { reason: 'policy-blocked' }
      return BILLING.test(message) ? { reason: 'billing' } : { reason: 'auth-permanent' }
    case 404:
      if (POLICY.test(message)) return { reason: 'policy-blocked' }
      return namesModel(facts) ? { reason: 'model-not-found' } : { reason: 'format-error' }
    case 408:
    case 504:
      return { reason: 'timeout' }
    case 413:
      return { reason: 'payload-too-large' }
    case 429:
      if (codes.some((code) => SPENT.test(code)) || (BILLING.test(message) && !TRANSIENT.test(message)))
        return { reason: 'billing' }
      return CONTEXT.test(message) && !TRANSIENT.test(message)
        ? { reason: 'context-overflow' }
        : { reason: 'rate-limit' }
    case 503:
    case 529:
      return { reason: 'overloaded' }
    default:
      if (status >= 500) return CONTEXT.test(message) ? { reason: 'context-overflow' } : { reason: 'server-error' }
      return byWords(facts) ?? { reason: 'format-error' }
  }
}

function namesModel({ codes, message }: ErrorFacts): boolean {
  return codes.includes('model_not_found') || MODEL_MISSING.test(message) || /^model: \S+$/.test(message)
}

function byWords(facts: ErrorFacts): Verdict | null {
  const { message, codes } = facts
  if (codes.includes('context_length_exceeded') || CONTEXT.test(message)) return { reason: 'context-overflow' }
  if (IMAGE.test(message) || codes.some((code) => /^image_(?:file_)?too_large$/.test(code)))
    return { reason: 'image-too-large' }
  if (namesModel(facts)) return { reason: 'model-not-found' }
  if (KEY.test(message)) return { reason: 'auth' }
  if (codes.some((code) => SPENT.test(code)) || BILLING.test(message)) return { reason: 'billing' }
  if (POLICY.test(message) || codes.some((code) => /policy/.test(code))) return { reason: 'policy-blocked' }
  if (UNSUPPORTED.test(message)) return { reason: 'format-error', repair: 'strip-unsupported' }
  if (RATE.test(message)) return { reason: 'rate-limit' }
  if (OVERLOADED.test(message)) return { reason: 'overloaded' }
  return null
}

function byCause(facts: ErrorFacts): Verdict {
  const any = (pattern: RegExp) => facts.causes.some((cause) => pattern.test(cause))
  if (any(TLS) || any(TIMED_OUT)) return { reason: 'timeout' }
  if (any(DROPPED) || any(UNREACHABLE)) return { reason: 'connection' }
  return byWords(facts) ?? (any(MALFORMED) ? { reason: 'malformed-response' } : { reason: 'unknown' })
}

const IN_WORDS =
  /(?:try again|retry|resets?) (?:in|after) (\d+(?:\.\d+)?) ?(ms|milliseconds?|s|sec(?:ond)?s?|m|min(?:ute)?s?)\b/i

/** How long the server asked to wait: a header in milliseconds, seconds or as a date; else what the message says. */
function retryAfter({ headers, message }: ErrorFacts, nowMs: number): number | null {
  const exact = Number(headers?.get('retry-after-ms') ?? Number.NaN)
  if (exact >= 0) return exact
  const header = headers?.get('retry-after')?.trim()
  if (header) {
    if (/^\d+(?:\.\d+)?$/.test(header)) return Number(header) * 1_000
    const atMs = Date.parse(header)
    if (!Number.isNaN(atMs)) return Math.max(0, atMs - nowMs)
  }
  const words = IN_WORDS.exec(message)
  if (!words) return resetOf(headers, nowMs)
  const unit = words[2]!.toLowerCase()
  const scale = unit.startsWith('ms') || unit.startsWith('milli') ? 1 : unit.startsWith('m') ? 60_000 : 1_000
  return Number(words[1]) * scale
}

/** Headers that tell of limits say when those that are used up begin anew. */
function resetOf(headers: Headers | null, nowMs: number): number | null {
  if (!headers) return null
  const untilMs = refusedUntilMs(rateLimits(Object.fromEntries(headers), nowMs), nowMs)
  return untilMs === null ? null : untilMs - nowMs
}
