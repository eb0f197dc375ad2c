import type {
  ContentBlock,
  ConverseStreamCommandInput,
  ConverseStreamOutput,
  Message,
  SystemContentBlock,
  TokenUsage,
  Tool,
  ToolUseBlock,
} from '@aws-sdk/client-bedrock-runtime'

// The SDK's own types; importing them loads nothing.
export type WireRequest = ConverseStreamCommandInput
export type WireMessage = Message & { content: ContentBlock[] }
export type WireBlock = ContentBlock
export type WireSystem = SystemContentBlock
export type WireTool = Tool
export type WireJson = NonNullable<ToolUseBlock['input']>
export type WireUsage = TokenUsage
export type WireEvent = ConverseStreamOutput

/** A thought as it is kept for replay: the server's own words in JSON, bytes as base64. */
export type WireThought =
  | { readonly reasoningText: { readonly text: string; readonly signature: string } }
  | { readonly redactedContent: string }

/** Bytes: as the SDK reads them from a stream, or as base64 in an answer that came in one piece. */
export type WireBytes = Uint8Array | string

/** A thought, or a piece of one. */
export interface WireReasoning {
  readonly text?: string | undefined
  readonly signature?: string | undefined
  readonly redactedContent?: WireBytes | undefined
}

/** A block of an answer that came in one piece; kinds that are not asked for are passed over. */
interface WireAnswerBlock {
  readonly text?: string
  readonly toolUse?: { readonly toolUseId?: string; readonly name?: string; readonly input?: unknown }
  readonly reasoningContent?: {
    readonly reasoningText?: { readonly text?: string; readonly signature?: string }
    readonly redactedContent?: WireBytes
  }
}

/** An answer that came in one piece. */
export interface WireAnswer {
  readonly output?: { readonly message?: { readonly content?: readonly WireAnswerBlock[] } }
  readonly stopReason?: string
  readonly usage?: Partial<WireUsage>
}
