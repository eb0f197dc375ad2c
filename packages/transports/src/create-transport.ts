import { type Clock, HermesError, type JsonObject, systemClock } from '@hermes/contracts'
import type { Transport, WireApi } from '@hermes/contracts/model'
import { findProvider, type ProviderQuirks } from './catalogue.js'
import { detectApi } from './detect-api.js'
import { shownAddress } from './transport-error.js'
import { anthropicMessages } from './wires/anthropic-messages/anthropic-messages.js'
import { bedrockConverse } from './wires/bedrock-converse/bedrock-converse.js'
import { chatCompletions } from './wires/chat-completions/chat-completions.js'
import { limitBodies } from './wires/limited-bodies.js'
import { responses } from './wires/responses/responses.js'
import { renameTools } from './wires/tool-names.js'
import type { WireOptions } from './wires/wire-options.js'
import { WireTransport } from './wires/wire-transport.js'

/** One endpoint and how to talk to it. */
export interface TransportOptions {
  /** For messages and stamps, and for quirks when the catalogue knows it. */
  readonly provider: string
  /** What messages call it. Default: the provider, and `the model server` for `custom`. */
  readonly name?: string | undefined
  /** Without `/chat/completions` or `/responses`, usually ending in `/v1`; for `anthropic-messages` without `/v1/messages`. */
  readonly baseUrl: string
  /** Default: judged by provider, address and model. */
  readonly api?: WireApi
  /** Decides the wire where a provider serves its models on several. */
  readonly model?: string
  /** Sent with each request, after and above the provider's own. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Further fields of each request body on the wires of OpenAI and of Bedrock, after and above the provider's own. */
  readonly body?: JsonObject | undefined
  /** Default: the global one at the time of the call. */
  readonly fetch?: typeof fetch
  /** Default: those of the provider in the catalogue. */
  readonly quirks?: ProviderQuirks
  /** Until the first byte of an answer. Default 600,000. */
  readonly timeoutMs?: number
  /** Without text, reasoning or a piece of a call, keep-alives not counted. Default 180,000. */
  readonly stallTimeoutMs?: number
  /** How long a provider with marks for its cache keeps a prefix. Default `5m`. */
  readonly cacheTtl?: '5m' | '1h'
  /** Where the key is from, for messages about a key that is refused. Default: the variable of the provider. */
  readonly keySource?: string | undefined
  readonly clock?: Clock
}

const DEFAULT_TIMEOUT_MS = 600_000
const DEFAULT_STALL_TIMEOUT_MS = 180_000

/**
 * Makes the wire to one endpoint. Touches no network and loads no SDK before the first request.
 * @throws HermesError `transport.bad_base_url` for an address that is none.
 */
export function createTransport(options: TransportOptions): Transport {
  const { provider, fetch, clock = systemClock } = options
  const baseUrl = options.baseUrl.replace(/\/+$/, '')
  if (!/^https?:$/.test(URL.canParse(baseUrl) ? new URL(baseUrl).protocol : ''))
    throw new HermesError(
      `"${shownAddress(options.baseUrl)}" is not a base URL; it looks like https://api.example.com/v1.`,
      {
        code: 'transport.bad_base_url',
      },
    )
  const api = options.api ?? detectApi({ provider, baseUrl, model: options.model ?? '' })
  const known = options.quirks ?? findProvider(provider)?.quirks ?? {}
  const { timeoutMs = DEFAULT_TIMEOUT_MS, stallTimeoutMs = DEFAULT_STALL_TIMEOUT_MS } = options
  const quirks = options.body ? { ...known, body: { ...known.body, ...options.body } } : known
  const wire: WireOptions = {
    provider,
    name: options.name ?? (provider === 'custom' ? 'the model server' : provider),
    baseUrl,
    headers: { ...quirks.headers, ...options.headers },
    quirks,
    timeoutMs,
    stallTimeoutMs,
    cacheTtl: options.cacheTtl ?? '5m',
    keySource: options.keySource,
    clock,
    fetch: limitBodies(fetch, { answerIdleMs: timeoutMs, refusalIdleMs: stallTimeoutMs }),
  }
  return renameTools(openWire(api, wire), quirks.reservedToolNames ?? [])
}

function openWire(api: WireApi, options: WireOptions): Transport {
  switch (api) {
    case 'chat-completions':
      return new WireTransport(api, options, chatCompletions(options))
    case 'anthropic-messages': {
      const withoutVersion = { ...options, baseUrl: options.baseUrl.replace(/\/v1$/, '') }
      return new WireTransport(api, withoutVersion, anthropicMessages(withoutVersion))
    }
    case 'responses':
      return new WireTransport(api, options, responses(options))
    case 'bedrock-converse':
      return new WireTransport(api, options, bedrockConverse(options))
    default:
      return api satisfies never
  }
}
