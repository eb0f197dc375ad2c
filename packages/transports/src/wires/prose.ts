/** What the words of an error can be about. */
export type Topic =
  | 'content-policy'
  | 'provider-policy'
  | 'thinking-signature'
  | 'sealed-thought'
  | 'long-context-tier'
  | 'grammar'
  | 'schema'
  | 'entitlement'
  | 'key'
  | 'key-dead'
  | 'billing'
  | 'plan'
  | 'usage-limit'
  | 'transient'
  | 'rate'
  | 'overloaded'
  | 'no-room'
  | 'context'
  | 'payload'
  | 'image'
  | 'no-images'
  /** Recordings or files, which the model or its server takes none of. */
  | 'no-attachments'
  | 'tool-content'
  | 'model-missing'
  | 'unsupported'
  | 'streaming'
  | 'summaries'
  | 'caching'

/** How the servers of one wire say things. Each wire has one such file; nobody else reads what vendors write. */
export interface Prose {
  readonly words: Readonly<Partial<Record<Topic, RegExp>>>
  /** Codes, in lower case. */
  readonly codes: Readonly<Partial<Record<Topic, readonly string[]>>>
  /** Where a number in the first group is the window of the model, in tokens. */
  readonly windows: readonly RegExp[]
}
