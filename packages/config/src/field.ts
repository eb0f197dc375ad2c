/** What one key of `config.yaml` may hold. */
export type Field =
  | { readonly type: 'text'; readonly default?: string }
  /** A text; a number is a mistake. */
  | { readonly type: 'name'; readonly default?: string }
  | { readonly type: 'number'; readonly min: number; readonly max?: number; readonly default?: number }
  /** A number above 0 and at most 1. */
  | { readonly type: 'share'; readonly default?: number }
  /** A number above 0, with decimals. */
  | { readonly type: 'amount'; readonly default?: number }
  /** A number with decimals within both bounds. */
  | { readonly type: 'decimal'; readonly min: number; readonly max: number; readonly default?: number }
  | { readonly type: 'boolean'; readonly default?: boolean }
  /** `words` maps what may be written to what it means. */
  | { readonly type: 'choice'; readonly words: Readonly<Record<string, string>>; readonly default?: string }
  /** Nothing, rather than an empty list, when the file holds nothing and it is `optional`. */
  | { readonly type: 'texts'; readonly default?: readonly string[]; readonly optional?: boolean }
  /** Left as it is for whoever reads it. */
  | { readonly type: 'any' }
  /** Anything inside. */
  | { readonly type: 'list' }
  | { readonly type: 'map' }
  /** A map with free names. */
  | { readonly type: 'record'; readonly of: Field }
  | Section

/** A map with known keys; others are kept as they are. */
export interface Section {
  readonly type: 'section'
  readonly fields: Readonly<Record<string, Field>>
  /** The key meant when the file holds a plain text instead of a map. */
  readonly shorthand?: string
  /** Other names of keys. */
  readonly aliases?: Readonly<Record<string, string>>
  /** Nothing, rather than a map of defaults, when the file holds nothing. Default `false`. */
  readonly optional?: boolean
  /** Other keys are mistakes. Default `false`: they are kept. */
  readonly isClosed?: boolean
}
