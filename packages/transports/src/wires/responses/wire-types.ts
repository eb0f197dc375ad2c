import type { JsonObject } from '@hermes/contracts'

/** A content part of what a user or a tool says. */
export type WirePart =
  | { readonly type: 'input_text'; readonly text: string }
  | { readonly type: 'input_image'; readonly image_url: string; readonly detail: 'auto' }
  | { readonly type: 'input_file'; readonly filename: string; readonly file_data: string }

/** A thought as it goes back: what the server sealed, without the id under which it kept nothing. */
export interface WireThought {
  readonly type: 'reasoning'
  readonly summary: readonly unknown[]
  readonly encrypted_content: string
}

/** An input item as the wire has it. */
export type WireItem =
  | { readonly type: 'message'; readonly role: 'user'; readonly content: readonly WirePart[] }
  | {
      readonly type: 'message'
      readonly role: 'assistant'
      readonly content: readonly { readonly type: 'output_text'; readonly text: string }[]
      readonly phase?: string
    }
  | WireThought
  | { readonly type: 'function_call'; readonly call_id: string; readonly name: string; readonly arguments: string }
  | {
      readonly type: 'function_call_output'
      readonly call_id: string
      readonly output: string | readonly WirePart[]
    }

/** What `replay` of a reasoning part holds: a whole reasoning item, or what kind of message the next text was. */
export type WireReplay = JsonObject & ({ readonly type: 'reasoning' } | { readonly type: 'message' })

/** Token counts as servers report them; all of it optional in practice. */
export interface WireUsage {
  readonly input_tokens?: number | null
  readonly output_tokens?: number | null
  readonly input_tokens_details?: {
    readonly cached_tokens?: number | null
    readonly cache_write_tokens?: number | null
  } | null
  readonly output_tokens_details?: { readonly reasoning_tokens?: number | null } | null
  readonly cost?: number | null
}

/** An item of an answer, at its start or whole; kinds that are not asked for are passed over. */
export interface WireOutputItem {
  readonly type: string
  readonly call_id?: string | null
  readonly name?: string | null
  readonly arguments?: string | null
  readonly phase?: string | null
  readonly encrypted_content?: string | null
  readonly summary?: readonly { readonly text?: string | null }[] | null
  readonly content?: readonly { readonly text?: string | null; readonly refusal?: string | null }[] | null
}

/** A whole answer, or its head or end in a stream. */
export interface WireResponse {
  readonly status?: string | null
  readonly output?: readonly WireOutputItem[] | null
  readonly usage?: WireUsage | null
  readonly error?: { readonly code?: string | null; readonly message?: string | null } | null
  readonly incomplete_details?: { readonly reason?: string | null } | null
  /** The one it was made at. */
  readonly service_tier?: string | null
}

/** One event of a stream. Servers leave out what is optional in practice: indexes, ids, and whole events. */
export interface WireEvent {
  readonly type: string
  readonly output_index?: number | null
  readonly item_id?: string | null
  readonly summary_index?: number | null
  readonly content_index?: number | null
  readonly delta?: string | null
  readonly item?: WireOutputItem | null
  readonly response?: WireResponse | null
  readonly code?: string | null
  readonly message?: string | null
}

/** A Responses request, its keys in a fixed order. */
export interface WireRequest {
  readonly model: string
  readonly store: false
  readonly instructions?: string
  readonly input: readonly WireItem[]
  readonly tools?: readonly {
    readonly type: 'function'
    readonly name: string
    readonly description: string
    readonly parameters: object
    readonly strict: false
  }[]
  readonly tool_choice?: 'auto' | 'none' | 'required' | { readonly type: 'function'; readonly name: string }
  readonly text?: { readonly format: JsonObject }
  readonly reasoning?: { readonly effort?: string; readonly summary?: 'auto' }
  readonly include?: readonly 'reasoning.encrypted_content'[]
  readonly max_output_tokens?: number
  readonly temperature?: number
  readonly service_tier?: 'priority' | 'flex'
  readonly stream?: true
}
