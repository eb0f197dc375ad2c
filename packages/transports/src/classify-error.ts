import { HermesError } from '@hermes/contracts'
import type { ErrorClass, ErrorReason } from '@hermes/contracts/model'
import type { ErrorFacts } from './error-facts.js'
import { errorFacts, isNoTls, isUntrusted } from './error-facts.js'
import type { Topic } from './prose.js'
import { hasCodeOf, speaksOf, windowIn } from './prose.js'
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
  'content-policy-blocked': { shouldFallback: true },
  'provider-policy-blocked': {},
  'format-error': { shouldFallback: true },
  'thinking-signature': { shouldFallback: true, repair: 'drop-reasoning' },
  'long-context-tier': { shouldCompress: true },
  'llama-cpp-grammar-pattern': { shouldFallback: true, repair: 'simplify-schemas' },
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
 * classified before. What vendors write is read by one file per wire, `wires/NAME/prose.ts`. Never throws.
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

/** Whether a server refused a request only because it was asked to stream or to report usage while streaming. */
export function refusesStreaming(error: unknown): boolean {
  const { status, message } = errorFacts(error)
  if (status === null || status < 400 || status >= 500 || status === 429) return false
  return speaksOf('streaming', message)
}

/** Whether a server refused a request only because it was asked to show what the model thinks. */
export function refusesSummaries(error: unknown): boolean {
  const { status, message } = errorFacts(error)
  return status === 400 && speaksOf('summaries', message)
}

/** Whether a server refused a request only because of the marks for its cache. */
export function refusesCaching(error: unknown): boolean {
  const { status, message } = errorFacts(error)
  return (status === 400 || status === 403) && speaksOf('caching', message)
}

function classifyOwn(error: HermesError): ErrorClass {
  const own = OWN_CODES[error.code]
  if (own) return complete({ ...own, retryable: error.retryable })
  const reason = error.code.replace(/^transport\./, '').replaceAll('_', '-')
  const { retryAfterMs, giveUpAfterMs, repair } = error.details
  return complete({
    reason: Object.hasOwn(DEFAULTS, reason) ? (reason as ErrorReason) : 'unknown',
    retryable: error.retryable,
    ...(typeof retryAfterMs === 'number' ? { retryAfterMs } : {}),
    ...(typeof giveUpAfterMs === 'number' ? { giveUpAfterMs } : {}),
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
/** From here on a refusal without a reason most likely has this one. */
const RATHER_FULL = 0.4
const BARE_WORDS = 30

/**
 * What the size of the conversation says: a server that drops the connection of a nearly full one most likely ran out of context, and
 * so did one that refuses without a reason; a TLS hiccup never means that.
 */
function refine(verdict: ErrorClass, facts: ErrorFacts, context: ClassifyContext): ErrorClass {
  const { conversationTokens, windowTokens } = context
  if (!conversationTokens || !windowTokens) return verdict
  const fullness = conversationTokens / windowTokens
  const isBare = facts.status === 400 && facts.codes.length === 0 && facts.message.length < BARE_WORDS
  if (verdict.reason === 'format-error' && isBare && verdict.repair === undefined && fullness >= RATHER_FULL)
    return complete({ reason: 'context-overflow' })
  const droppedLate =
    facts.causes.some((cause) => DROPPED.test(cause)) && !facts.causes.some((cause) => TLS.test(cause))
  if (verdict.reason === 'connection' && droppedLate && fullness >= NEARLY_FULL)
    return complete({ reason: 'context-overflow' })
  return verdict
}

const TLS = /\bssl\b|\btls\b|certificate|decryption failed|bad record mac/i
const DROPPED =
  /ECONNRESET|EPIPE|socket hang up|other side closed|UND_ERR_SOCKET|terminated|premature|stream_cut|truncated event/i
const TIMED_OUT = /ETIMEDOUT|ESOCKETTIMEDOUT|UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT|TimeoutError|timed? ?out/i
const UNREACHABLE =
  /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL|ERR_PROXY|fetch failed|APIConnectionError|network/i
const MALFORMED = /SyntaxError|malformed|unexpected (?:token|end of json)|not valid json|\bchecksum\b/i

/**
 * First what single vendors say, then the status with what the words make of it, then codes, then words, then what the network
 * layer says: TLS before a connection that was dropped.
 */
function decide(facts: ErrorFacts): Verdict {
  return special(facts) ?? (facts.status === null ? null : byStatus(facts, facts.status)) ?? byCause(facts)
}

/** What single vendors say that the general rules would misread. */
function special(facts: ErrorFacts): Verdict | null {
  const { status, message, codes } = facts
  if (codes.includes('replay_mismatch')) return { reason: 'format-error', retryable: false }
  if (isAbout('sealed-thought', facts) && (status === 400 || hasCodeOf('sealed-thought', codes)))
    return { reason: 'thinking-signature' }
  if (status === null || status < 400) return null
  // Resellers answer with other statuses, 429 among them.
  if (status < 500 && speaksOf('thinking-signature', message)) return { reason: 'thinking-signature' }
  if ((status === 429 || status === 400) && speaksOf('long-context-tier', message))
    return { reason: 'long-context-tier' }
  if (speaksOf('grammar', message)) return { reason: 'llama-cpp-grammar-pattern' }
  if (status < 500 && speaksOf('entitlement', message)) return { reason: 'auth' }
  return null
}

function byStatus(facts: ErrorFacts, status: number): Verdict | null {
  const says = (topic: Topic) => isAbout(topic, facts)
  switch (status) {
    case 401:
      return speaksOf('key-dead', facts.message)
        ? { reason: 'auth-permanent' }
        : { reason: 'auth', repair: 'refresh-credential' }
    case 402:
      return says('usage-limit') && says('transient') ? { reason: 'rate-limit' } : { reason: 'billing' }
    case 403:
      // Most often it is one model, place or network that is refused: the key may be good for others, and for this one later.
      return policy(facts) ?? (says('billing') ? { reason: 'billing' } : (ofUsage(facts) ?? { reason: 'auth' }))
    case 404:
      if (says('billing')) return { reason: 'billing' }
      if (says('no-images')) return NO_IMAGES
      if (says('no-attachments')) return NO_ATTACHMENTS
      return policy(facts) ?? (says('model-missing') ? { reason: 'model-not-found' } : { reason: 'format-error' })
    case 408:
    case 504:
    case 522:
    case 524:
      return { reason: 'timeout' }
    case 413:
      return says('context') ? { reason: 'context-overflow' } : { reason: 'payload-too-large' }
    case 429:
      return limited(facts)
    case 503:
    case 529:
      return { reason: 'overloaded' }
    default:
      if (status < 400) return null
      return status >= 500 ? failedInside(facts) : refused(facts)
  }
}

function refused(facts: ErrorFacts): Verdict {
  return byCodes(facts) ?? byWords(facts) ?? { reason: 'format-error' }
}

/** What an account may use: it comes back by itself, or by paying. */
function ofUsage(facts: ErrorFacts): Verdict | null {
  const says = (topic: Topic) => isAbout(topic, facts)
  if (says('usage-limit') && says('transient')) return { reason: 'rate-limit' }
  if (says('plan') || /quota/i.test(facts.message)) return { reason: 'billing' }
  return says('usage-limit') ? { reason: 'rate-limit' } : null
}

function limited(facts: ErrorFacts): Verdict {
  const says = (topic: Topic) => isAbout(topic, facts)
  if (hasCodeOf('key-dead', facts.codes)) return { reason: 'auth-permanent' }
  const isPaidFor = says('billing') || says('plan')
  if (hasCodeOf('billing', facts.codes) || (isPaidFor && !says('transient'))) return { reason: 'billing' }
  if (says('context') && !says('transient')) return { reason: 'context-overflow' }
  return says('overloaded') ? { reason: 'overloaded' } : { reason: 'rate-limit' }
}

/** Some servers fail where they should refuse. */
function failedInside(facts: ErrorFacts): Verdict {
  if (facts.codes.includes('invalid_request_error')) return refused(facts)
  if (isAbout('context', facts)) return { reason: 'context-overflow' }
  if (isAbout('billing', facts) && !isAbout('transient', facts)) return { reason: 'billing' }
  if (isAbout('no-attachments', facts)) return NO_ATTACHMENTS
  if (speaksOf('no-room', facts.message)) return { reason: 'model-not-found' }
  if (isAbout('unsupported', facts)) return { reason: 'format-error', repair: 'strip-unsupported' }
  return isAbout('overloaded', facts) ? { reason: 'overloaded' } : { reason: 'server-error' }
}

/** Content that one provider refuses another may take; a data policy is the user's own wish, so it is obeyed. */
function policy(facts: ErrorFacts): Verdict | null {
  if (isAbout('provider-policy', facts)) return { reason: 'provider-policy-blocked' }
  return isAbout('content-policy', facts) ? { reason: 'content-policy-blocked' } : null
}

function isAbout(topic: Topic, { codes, message }: ErrorFacts): boolean {
  return hasCodeOf(topic, codes) || speaksOf(topic, message)
}

const NO_IMAGES: Verdict = { reason: 'format-error', repair: 'drop-images' }
const NO_ATTACHMENTS: Verdict = { reason: 'format-error', repair: 'drop-attachments' }

/** In the order in which one counts more than the next: names of parameters sound like the names of limits. */
const MEANINGS: readonly (readonly [Topic, Verdict])[] = Object.freeze([
  ['context', { reason: 'context-overflow' }],
  ['payload', { reason: 'payload-too-large' }],
  ['image', { reason: 'image-too-large' }],
  ['no-images', NO_IMAGES],
  ['no-attachments', NO_ATTACHMENTS],
  ['tool-content', { reason: 'format-error', repair: 'strip-unsupported' }],
  ['schema', { reason: 'format-error', repair: 'simplify-schemas' }],
  ['model-missing', { reason: 'model-not-found' }],
  ['key', { reason: 'auth', repair: 'refresh-credential' }],
  ['billing', { reason: 'billing' }],
  ['provider-policy', { reason: 'provider-policy-blocked' }],
  ['content-policy', { reason: 'content-policy-blocked' }],
  ['unsupported', { reason: 'format-error', repair: 'strip-unsupported' }],
  ['rate', { reason: 'rate-limit' }],
  ['overloaded', { reason: 'overloaded' }],
] as const)

function byCodes({ codes }: ErrorFacts): Verdict | null {
  return MEANINGS.find(([topic]) => hasCodeOf(topic, codes))?.[1] ?? null
}

function byWords(facts: ErrorFacts): Verdict | null {
  const says = (topic: Topic) => speaksOf(topic, facts.message)
  const classified = MEANINGS.find(([topic]) => says(topic))?.[1] ?? ofUsage(facts)
  // Many that limit the rate for a while also name the page where more of it is sold.
  return classified?.reason === 'billing' && says('rate') && says('transient') ? { reason: 'rate-limit' } : classified
}

function byCause(facts: ErrorFacts): Verdict {
  const any = (pattern: RegExp) => [...facts.causes, facts.message].some((cause) => pattern.test(cause))
  const classified = byCodes(facts) ?? (facts.isAnswer ? byWords(facts) : null)
  if (classified) return classified
  if (facts.causes.some((cause) => isUntrusted(cause) || isNoTls(cause))) return { reason: 'connection' }
  if (any(TLS) || any(TIMED_OUT)) return { reason: 'timeout' }
  if (any(DROPPED) || any(UNREACHABLE)) return { reason: 'connection' }
  return byWords(facts) ?? (any(MALFORMED) ? { reason: 'malformed-response' } : { reason: 'unknown' })
}

/** Where longer conversations take a tier of their own, it begins here; in tokens. */
const LONG_CONTEXT_TOKENS = 200_000

/** The window of a model that a refusal names or means, in tokens; `null` when there is none. Never throws. */
export function namedWindow(error: unknown): number | null {
  const { message, codes } = errorFacts(error)
  const named = windowIn(message)
  if (named !== null && !codes.includes(String(named))) return named
  return speaksOf('long-context-tier', message) ? LONG_CONTEXT_TOKENS : null
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
