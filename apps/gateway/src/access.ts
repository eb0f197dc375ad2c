import { createHash, timingSafeEqual } from 'node:crypto'
import { ApiError } from './api-error.js'
import type { ApiKey } from './api-keys.js'
import type { Peer } from './peer.js'

/** Who may ask: whoever knows the key of the server or has one of their own, or programs of this machine. */
export type Access = {
  /** Who has this key of their own; `undefined` for nobody. */
  readonly holderOf: (key: string) => Caller | undefined
} & ({ readonly type: 'key'; readonly key: string | null } | { readonly type: 'loopback' })

/** Who asks: `null` is the owner of the home, who has the key of the server. */
export interface Caller {
  readonly person: string | null
  /** The key it came with, where that is one with bounds. */
  readonly key?: ApiKey
}

const OWNER: Caller = { person: null }

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]', '::1'])

/** Whether a host name, with or without brackets, means this machine. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.has(host.toLowerCase())
}

/** The headers access is judged by. */
interface AccessHeaders {
  readonly host: string | undefined
  readonly origin: string | undefined
  readonly authorization: string | undefined
  /** What a browser says of where the request comes from: `sec-fetch-site`. */
  readonly fetchSite: string | undefined
}

/** What else a request is judged by. */
interface AccessBounds {
  /** Asked only where there is no key. */
  readonly peer: () => Promise<Peer>
  /** Origins of web pages that are let in with a key; `*` is all of them. */
  readonly corsOrigins: readonly string[]
}

/**
 * Lets a request pass. With a key or without, a web page must not get in from another origin, nor under another name for this machine. Without
 * one no program does that uses another name, nor a command that the agent runs isolated, which would get what its isolation keeps from it.
 * Resolves with who asks. Rejects with an ApiError 401 or 403.
 */
export async function checkAccess(
  access: Access,
  headers: AccessHeaders,
  { peer, corsOrigins }: AccessBounds,
): Promise<Caller> {
  const input = bearer(headers.authorization)
  const holder = input === undefined ? undefined : access.holderOf(input)
  switch (access.type) {
    case 'key':
      checkOrigin(headers, corsOrigins)
      return holder ?? checkKey(access.key, input)
    case 'loopback':
      checkLocal(headers)
      checkPeer(await peer())
      return holder ?? OWNER
    default:
      return access satisfies never
  }
}

function bearer(authorization = ''): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1]
}

function checkKey(key: string | null, input: string | undefined): Caller {
  // Digests have one length, so the comparison tells nothing about the key.
  if (input !== undefined && key !== null && timingSafeEqual(digest(input), digest(key))) return OWNER
  const message =
    input === undefined
      ? 'No API key was sent. Send the key of this server as: Authorization: Bearer KEY'
      : 'This is not the API key of this server. It is the value of API_SERVER_KEY where the server was started.'
  throw new ApiError(message, { status: 401, code: 'invalid_api_key', headers: { 'www-authenticate': 'Bearer' } })
}

function checkPeer(peer: Peer): void {
  if (peer === 'other') return
  const who = peer === 'isolated' ? 'programs in a sandbox' : 'programs that do not wait for an answer'
  const message = `This server has no key and refuses ${who}. Set API_SERVER_KEY, and send that key.`
  throw new ApiError(message, { status: 403, code: 'isolated_client' })
}

/** A page that a name of its own leads here with is a foreign one too, so that its host has to be this machine or be listed. */
function checkOrigin({ host = '', origin }: AccessHeaders, corsOrigins: readonly string[]): void {
  if (origin === undefined || corsOrigins.includes('*') || corsOrigins.includes(origin)) return
  if (isLoopback(hostName(host)) && isSameOrigin(origin, host)) return
  const message = `This server refuses web pages of other origins, such as "${origin}". It lets in those of gateway.api_server.cors_origins.`
  throw new ApiError(message, { status: 403, code: 'foreign_origin' })
}

const hostName = (host: string) => host.replace(/:\d+$/, '')
const isSameOrigin = (origin: string, host: string) => origin.toLowerCase() === `http://${host.toLowerCase()}`

function checkLocal({ host = '', origin, fetchSite }: AccessHeaders): void {
  if (!isLoopback(hostName(host))) {
    const message = `This server has no key and answers to the names of this machine only, not to "${host}".`
    throw new ApiError(message, { status: 403, code: 'foreign_host' })
  }
  if (fetchSite === 'cross-site' || fetchSite === 'same-site') {
    const message = 'This server has no key and refuses what web pages of other sites send.'
    throw new ApiError(message, { status: 403, code: 'foreign_origin' })
  }
  if (origin === undefined || isSameOrigin(origin, host)) return
  const message = `This server has no key and refuses web pages of other origins, such as "${origin}".`
  throw new ApiError(message, { status: 403, code: 'foreign_origin' })
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
