/** Marks the end of a prefix that the provider keeps. */
export interface CacheControl {
  readonly type: 'ephemeral'
  readonly ttl?: '1h'
}

interface Markable {
  readonly cache_control?: CacheControl
}

export interface WireText extends Markable {
  readonly type: 'text'
  readonly text: string
}

export interface WireImage extends Markable {
  readonly type: 'image'
  readonly source: { readonly type: 'base64'; readonly media_type: string; readonly data: string }
}

export interface WireDocument extends Markable {
  readonly type: 'document'
  readonly source: { readonly type: 'base64' | 'text'; readonly media_type: string; readonly data: string }
  readonly title?: string
}

interface WireToolUse extends Markable {
  readonly type: 'tool_use'
  readonly id: string
  readonly name: string
  readonly input: object
}

export interface WireToolResult extends Markable {
  readonly type: 'tool_result'
  readonly tool_use_id: string
  readonly content: readonly (WireText | WireImage)[]
  readonly is_error?: true
}

/** A thought exactly as the server sent it; takes no cache mark. */
export type WireThinking =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }

/** A content block as the wire has it. */
export type WireBlock = WireText | WireImage | WireDocument | WireToolUse | WireToolResult | WireThinking

/** A message as the wire has it. */
export interface WireMessage {
  readonly role: 'user' | 'assistant'
  readonly content: readonly WireBlock[]
}

interface WireTool extends Markable {
  readonly name: string
  readonly description: string
  readonly input_schema: object
}

/** Token counts; input is what was neither read from the cache nor written to it. */
export interface WireUsage {
  readonly input_tokens?: number | null
  readonly output_tokens?: number | null
  readonly cache_read_input_tokens?: number | null
  readonly cache_creation_input_tokens?: number | null
  readonly output_tokens_details?: { readonly thinking_tokens?: number | null } | null
  /** The one it was made at. */
  readonly speed?: string | null
}

/** A block of an answer, at its start or whole; kinds that are not asked for are passed over. */
export interface WireAnswerBlock {
  readonly type: string
  readonly id?: string
  readonly name?: string
  readonly text?: string
  readonly thinking?: string
  readonly signature?: string
  readonly data?: string
  readonly input?: unknown
}

/** A whole answer, or the head of a streamed one. */
export interface WireAnswer {
  readonly type?: string
  readonly content?: readonly WireAnswerBlock[]
  readonly stop_reason?: string | null
  readonly usage?: WireUsage | null
  readonly error?: unknown
}

/** A piece of a block. */
export interface WireBlockDelta {
  readonly type: string
  readonly text?: string
  readonly thinking?: string
  readonly signature?: string
  readonly partial_json?: string
}

/** One event of a stream. */
export type WireEvent =
  | { readonly type: 'message_start'; readonly message: WireAnswer }
  | { readonly type: 'content_block_start'; readonly index: number; readonly content_block: WireAnswerBlock }
  | { readonly type: 'content_block_delta'; readonly index: number; readonly delta: WireBlockDelta }
  | { readonly type: 'content_block_stop'; readonly index: number }
  | {
      readonly type: 'message_delta'
      readonly delta: { readonly stop_reason?: string | null }
      readonly usage?: WireUsage | null
    }
  | { readonly type: 'message_stop' }
  | { readonly type: 'ping' }

/** How much a model thinks: as it sees fit, or up to a budget of tokens. */
export type Thinking =
  | { readonly type: 'adaptive'; readonly display: 'summarized' }
  | { readonly type: 'enabled'; readonly budget_tokens: number }

/** A messages request, its keys in a fixed order. */
export interface WireRequest {
  readonly model: string
  readonly max_tokens: number
  readonly system?: readonly WireText[]
  readonly messages: readonly WireMessage[]
  readonly tools?: readonly WireTool[]
  readonly tool_choice?: { readonly type: 'auto' | 'none' | 'any' } | { readonly type: 'tool'; readonly name: string }
  readonly thinking?: Thinking
  readonly output_config?: {
    readonly effort?: 'low' | 'medium' | 'high'
    readonly format?: { readonly type: 'json_schema'; readonly schema: object }
  }
  readonly temperature?: number
  readonly speed?: 'fast'
  readonly stream?: true
}
