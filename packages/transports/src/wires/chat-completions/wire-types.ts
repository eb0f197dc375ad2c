import type { JsonObject, JsonValue } from '@hermes/contracts'

/** Marks the end of a prefix that the provider keeps; some gateways pass it on. */
export interface CacheControl {
  readonly type: 'ephemeral'
  readonly ttl?: '1h'
}

/** A content part as the wire has it. */
export type WirePart =
  | { readonly type: 'text'; readonly text: string; readonly cache_control?: CacheControl }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } }
  | { readonly type: 'input_audio'; readonly input_audio: { readonly data: string; readonly format: string } }
  | { readonly type: 'file'; readonly file: { readonly filename: string; readonly file_data: string } }

/** A call as the wire replays it. */
export interface WireToolCall {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
  /** What the endpoint itself attached to the call. */
  readonly extra_content?: JsonValue
}

/** A message as the wire has it. */
export type WireMessage =
  | { readonly role: 'system' | 'developer'; readonly content: string | readonly WirePart[] }
  | { readonly role: 'user'; readonly content: string | readonly WirePart[] }
  | {
      readonly role: 'assistant'
      readonly content: string | null | readonly WirePart[]
      readonly reasoning_content?: string
      readonly reasoning?: string
      readonly reasoning_details?: readonly JsonObject[]
      readonly tool_calls?: readonly WireToolCall[]
    }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string | readonly WirePart[] }

/** Token counts as servers report them; all of it optional in practice. */
export interface WireUsage {
  readonly prompt_tokens?: number | null
  readonly completion_tokens?: number | null
  readonly prompt_tokens_details?: {
    readonly cached_tokens?: number | null
    readonly cache_write_tokens?: number | null
  } | null
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number | null } | null
  readonly cost?: number | null
}

/** A piece of a call. Servers leave out any of it, repeat ids, or send arguments as an object. */
export interface WireCallDelta {
  readonly index?: number | null
  readonly id?: string | null
  readonly function?: { readonly name?: string | null; readonly arguments?: unknown } | null
  readonly extra_content?: JsonValue
}

/** What a choice carries, as delta or as whole message. */
export interface WireDelta {
  readonly content?: string | readonly { readonly type?: string; readonly text?: string }[] | null
  readonly refusal?: string | null
  readonly reasoning_content?: string | null
  readonly reasoning?: string | null
  readonly reasoning_details?: readonly JsonObject[] | null
  readonly tool_calls?: readonly WireCallDelta[] | null
  readonly function_call?: { readonly name?: string | null; readonly arguments?: unknown } | null
}

/** One event of a stream, or a whole completion: they differ in `delta` and `message` only. */
export interface WireChunk {
  readonly choices?: readonly {
    readonly delta?: WireDelta | null
    readonly message?: WireDelta | null
    readonly finish_reason?: string | null
  }[]
  readonly usage?: WireUsage | null
  /** The one it was made at. */
  readonly service_tier?: string | null
  readonly error?: unknown
}
