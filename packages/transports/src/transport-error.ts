import { HermesError } from '@hermes/contracts'
import type { ErrorClass } from '@hermes/contracts/model'
import { findProvider } from './catalogue.js'
import type { ClassifyContext } from './classify-error.js'
import { classifyError, namedWindow } from './classify-error.js'
import type { ErrorFacts } from './error-facts.js'
import { errorFacts, isNoTls, isUntrusted } from './error-facts.js'

/** Where a failed call went. */
export interface CallTarget {
  readonly provider: string
  /** What messages call it. Default: the provider. */
  readonly name?: string
  readonly baseUrl: string
  readonly model: string
  /** What the wire adds to the base URL. Default `/chat/completions`. */
  readonly path?: string
  /** Taken out of the message should the server have echoed it. */
  readonly credential?: string | null
  /** Where the key is from: a variable, a file, a command that lists it. Default: the first variable of the provider. */
  readonly keySource?: string | undefined
}

const MAX_VENDOR_CHARS = 300
/** Keys in an address that a server or a program repeats. */
const IN_ADDRESS =
  /([?&](?:key|api[_-]?key|access_token|token|sig|signature)=|:\/\/(?=[^\s/@]{1,200}@))[^&\s"'#<>/@]+/gi

/**
 * The one error for a failed call: code `transport.` plus the reason with underscores, one clear line, and `details` with
 * `provider`, `model`, `status`, `requestId`, `retryAfterMs`, `repair` and `contextTokens` (the window that a refusal names) where they are known. A {@link HermesError} passes unchanged.
 */
export function toTransportError(error: unknown, target: CallTarget, context: ClassifyContext = {}): HermesError {
  const own = ownError(error)
  if (own) return own
  const verdict = classifyError(error, context)
  const facts = errorFacts(error)
  const replay = facts.codes.includes('replay_mismatch')
  return new HermesError(replay ? facts.message : line(verdict, facts, target), {
    code: replay ? 'transport.replay_mismatch' : `transport.${verdict.reason.replaceAll('-', '_')}`,
    retryable: verdict.retryable,
    details: {
      provider: target.provider,
      model: target.model,
      ...(facts.status === null ? {} : { status: facts.status }),
      ...(facts.requestId === null ? {} : { requestId: facts.requestId }),
      ...(verdict.retryAfterMs === undefined ? {} : { retryAfterMs: verdict.retryAfterMs }),
      ...(verdict.repair === undefined ? {} : { repair: verdict.repair }),
      ...(isTooLong(verdict) ? namedTokens(error) : {}),
      ...(verdict.reason === 'connection' ? patienceWith(facts, target) : {}),
    },
    cause: error,
  })
}

/** What was refused on our side, which a client that sends for others wraps as a broken connection. */
function ownError(error: unknown): HermesError | null {
  if (HermesError.isInstance(error)) return error
  return error instanceof Error && error.cause !== undefined ? ownError(error.cause) : null
}

const NO_SUCH_HOST = ['ENOTFOUND', 'EAI_AGAIN']
const NOBODY_THERE = ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENETDOWN', 'EADDRNOTAVAIL', ...NO_SUCH_HOST]
const LOOPBACK = /^(?:localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/i

/** Where nobody listens, a server of one's own is not running and a name is misspelled; other networks may come back, no certificate gets better. */
function patienceWith({ causes }: ErrorFacts, { baseUrl }: CallTarget): { readonly giveUpAfterMs?: number } {
  if (causes.some((cause) => isUntrusted(cause) || isNoTls(cause))) return { giveUpAfterMs: 3_000 }
  if (!NOBODY_THERE.some((code) => causes.includes(code))) return {}
  const isHere = URL.canParse(baseUrl) && LOOPBACK.test(new URL(baseUrl).hostname)
  const isFinal = isHere || NO_SUCH_HOST.some((code) => causes.includes(code))
  return { giveUpAfterMs: isFinal ? 3_000 : 15_000 }
}

function isTooLong({ reason }: ErrorClass): boolean {
  return reason === 'context-overflow' || reason === 'long-context-tier'
}

function namedTokens(error: unknown): { readonly contextTokens?: number } {
  const contextTokens = namedWindow(error)
  return contextTokens === null ? {} : { contextTokens }
}

/** The name of an endpoint at the beginning of a sentence: ids stay as they are written. */
export function nameFirst({ provider, name = provider }: CallTarget): string {
  return name.startsWith('the ') ? `T${name.slice(1)}` : name
}

function line(verdict: ErrorClass, facts: ErrorFacts, target: CallTarget): string {
  const { name = target.provider, model } = target
  const baseUrl = shownAddress(target.baseUrl)
  const first = nameFirst(target)
  const status = facts.status === null ? '' : ` (${facts.status})`
  const text = vendorWords(facts.message, target.credential)
  switch (verdict.reason) {
    case 'auth':
      if (facts.status !== 401 && verdict.repair === undefined) return forbiddenLine(facts, target)
      return `${first} refused the API key${status}; check that it is complete and meant for ${baseUrl}${keySource(target)}. It says: ${text}`
    case 'auth-permanent':
      return forbiddenLine(facts, target)
    case 'billing':
      return `${first} wants payment before it answers${status}: ${text}`
    case 'rate-limit':
      return `${first} limits how often it may be asked${status}${wait(verdict)}: ${text}`
    case 'overloaded':
      return `${first} is overloaded${status}${wait(verdict)}; try again later.`
    case 'server-error':
      return `${first} answered${facts.status === null ? '' : ` ${facts.status}`} (internal error): ${text}`
    case 'timeout':
      return `${first} at ${baseUrl} did not answer in time${status}.`
    case 'connection':
      return connectionLine(facts, target)
    case 'context-overflow':
      return `The conversation is too long for ${model}${status}: ${text}`
    case 'payload-too-large':
      return `The request is larger than ${name} accepts${status}.`
    case 'image-too-large':
      return `An image is larger than ${name} accepts${status}: ${text}`
    case 'model-not-found':
      return `${first} has no model "${model}"${status}: ${text}`
    case 'content-policy-blocked':
      return `${first} refused the request under its usage policy${status}: ${text}`
    case 'provider-policy-blocked':
      return `Your privacy settings at ${name} leave nobody who serves ${model}${status}: ${text}`
    case 'thinking-signature':
      return `${first} could not verify an earlier thought of the model${status}: ${text}`
    case 'long-context-tier':
      return `A conversation this long takes a tier for long contexts that the account at ${name} has not${status}: ${text}`
    case 'llama-cpp-grammar-pattern':
      return `The server made no grammar of the tools' schemas${status}: ${text}`
    case 'format-error':
      if (facts.status === 404)
        return `Nothing answers at ${baseUrl}${pathOf(target)} (404); check the base URL, ${addressHint(target)}.`
      return `${first} did not accept the request${status}: ${text}`
    case 'malformed-response':
      return `${first} sent an answer that is not valid JSON.`
    case 'unknown':
      return `The call to ${name} failed${status}: ${text}`
    default:
      return verdict.reason satisfies never
  }
}

function forbiddenLine({ status, message }: ErrorFacts, target: CallTarget): string {
  const { model, credential } = target
  const code = status === null ? '' : ` (${status})`
  return `${nameFirst(target)} does not let this API key${keySource(target)} use ${model}${code}; use another key or model. It says: ${vendorWords(message, credential)}`
}

/** Where the key is, or such a key usually is; nowhere in particular where the endpoint is any. */
function keySource({ provider, keySource: namedSource }: CallTarget): string {
  const known = provider === 'custom' ? null : findProvider(provider)
  const source = namedSource ?? known?.keyVariables[0] ?? known?.sharedKeyVariables[0]
  return source === undefined ? '' : ` (${source})`
}

/** What to look for in a base URL that does not work. */
export function addressHint(target: CallTarget): string {
  const path = pathOf(target)
  return path.startsWith('/v1/') ? `to which ${path} is added` : 'which usually ends in /v1'
}

function pathOf({ path = '/chat/completions' }: CallTarget): string {
  return path
}

function connectionLine({ causes }: ErrorFacts, { provider, name = provider, ...target }: CallTarget): string {
  const baseUrl = shownAddress(target.baseUrl)
  const proxy = causes.find((cause) => cause.startsWith('The proxy '))
  if (proxy !== undefined)
    return `${proxy}, which is on the way to ${baseUrl}; check HTTPS_PROXY, ALL_PROXY and NO_PROXY.`
  if (causes.includes('ECONNREFUSED')) return `Nothing is listening at ${baseUrl}; is the server running?`
  if (causes.includes('ENOTFOUND') || causes.includes('EAI_AGAIN'))
    return `The host of ${baseUrl} cannot be found; check the address and the network.`
  if (causes.includes('HPE_HEADER_OVERFLOW')) return `${baseUrl} answered with longer headers than are read (16 kB).`
  const certificate = causes.find(isUntrusted)
  if (certificate !== undefined)
    return `The certificate of ${baseUrl} is not trusted (${certificate}); check the address, or name the authority that signed it in NODE_EXTRA_CA_CERTS.`
  if (causes.some(isNoTls)) return `${baseUrl} speaks no TLS; an address of http:// may be meant.`
  return `The connection to ${name} at ${baseUrl} broke.`
}

function wait({ retryAfterMs }: ErrorClass): string {
  return retryAfterMs === undefined ? '' : `, next in ${Math.ceil(retryAfterMs / 1_000)} s`
}

const KEY_SHAPES = /\b(?:sk|pk|rk|gsk|xai|hf|key)[-_][\w*.-]{6,}|\bAIza[\w-]{20,}|\bBearer\s+\S+/g

function vendorWords(message: string, credential: string | null | undefined): string {
  let text = message
    .replace(/^\d{3} /, '')
    .replace(/\s+/g, ' ')
    .trim()
  if (credential) text = text.replaceAll(credential, '[key]')
  text = text.replace(KEY_SHAPES, '[key]').replace(IN_ADDRESS, '$1[key]')
  if (/^<(?:!doctype|html)/i.test(text)) return 'it answered with a web page.'
  return text.length > MAX_VENDOR_CHARS ? `${text.slice(0, MAX_VENDOR_CHARS)}…` : text
}

/** An address fit for a message: without user, password, query and fragment, which may hold a key. */
export function shownAddress(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : null
  if (!url || !/^https?:$/.test(url.protocol)) return address.replace(/(^|\/\/)[^\s/@]*@/, '$1').replace(/[?#].*$/s, '')
  const isPlain = url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  return isPlain ? address : `${url.origin}${url.pathname}`
}
