/** What a family of models takes. */
export interface ModelFamily {
  /** Found in the names of its models. */
  readonly names: RegExp
  /** The most that may be asked for. */
  readonly maxOutputTokens: number
  /** How thinking is asked for: the model decides how much, a number of tokens, or not at all. */
  readonly thinking: 'adaptive' | 'budget' | 'none'
  /** Thinks unless told otherwise, and then shows its thoughts only when asked to. */
  readonly thinksByDefault?: true
  /** Takes `temperature`. */
  readonly sampling?: true
  /** Takes a schema that its answers fit. */
  readonly formats?: true
  /** Can be asked to answer faster, at a higher price. */
  readonly fast?: true
}

const FAMILIES: readonly ModelFamily[] = Object.freeze([
  {
    names: /claude-(?:fable|mythos)/,
    maxOutputTokens: 128_000,
    thinking: 'adaptive',
    thinksByDefault: true,
    formats: true,
  },
  {
    names: /claude-opus-[5-9]/,
    maxOutputTokens: 128_000,
    thinking: 'adaptive',
    thinksByDefault: true,
    formats: true,
    fast: true,
  },
  {
    names: /claude-sonnet-[5-9]/,
    maxOutputTokens: 128_000,
    thinking: 'adaptive',
    thinksByDefault: true,
    formats: true,
  },
  { names: /claude-haiku-[5-9]/, maxOutputTokens: 64_000, thinking: 'adaptive', thinksByDefault: true, formats: true },
  { names: /claude-opus-4[.-]8\b/, maxOutputTokens: 128_000, thinking: 'adaptive', formats: true, fast: true },
  { names: /claude-opus-4[.-][7-9]\b/, maxOutputTokens: 128_000, thinking: 'adaptive', formats: true },
  { names: /claude-sonnet-4[.-][7-9]\b/, maxOutputTokens: 64_000, thinking: 'adaptive', formats: true },
  { names: /claude-opus-4[.-]6\b/, maxOutputTokens: 128_000, thinking: 'adaptive', sampling: true, formats: true },
  { names: /claude-sonnet-4[.-]6\b/, maxOutputTokens: 64_000, thinking: 'adaptive', sampling: true, formats: true },
  {
    names: /claude-(?:opus|sonnet|haiku)-4[.-]5\b/,
    maxOutputTokens: 64_000,
    thinking: 'budget',
    sampling: true,
    formats: true,
  },
  { names: /claude-opus-4/, maxOutputTokens: 32_000, thinking: 'budget', sampling: true },
  { names: /claude-sonnet-4|claude-3[.-]7/, maxOutputTokens: 64_000, thinking: 'budget', sampling: true },
  { names: /claude-3[.-]5/, maxOutputTokens: 8_192, thinking: 'none', sampling: true },
  { names: /claude-3/, maxOutputTokens: 4_096, thinking: 'none', sampling: true },
  { names: /claude/, maxOutputTokens: 64_000, thinking: 'adaptive' },
  { names: /minimax/, maxOutputTokens: 131_072, thinking: 'budget', sampling: true },
  { names: /(?:)/, maxOutputTokens: 32_000, thinking: 'budget', sampling: true },
] as const satisfies readonly ModelFamily[])

/** The family of a model; the last one fits every name. */
export function familyOf(model: string): ModelFamily {
  const name = model.toLowerCase()
  return FAMILIES.find(({ names }) => names.test(name))!
}
