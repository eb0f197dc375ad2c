import type { ModelRequest } from '@hermes/contracts/model'

type Effort = NonNullable<ModelRequest['reasoningEffort']>

/** What a family of models takes. */
export interface ModelFamily {
  /** Found in the names of its models. */
  readonly names: RegExp
  /** Whether its models think: always, when an effort is asked for, or never. */
  readonly thinks: 'always' | 'when-asked' | 'never'
  /** The efforts that may be asked for, least first; none where the model takes no word about it. */
  readonly efforts: readonly Effort[]
  /** Takes `temperature`. */
  readonly sampling?: true
}

const ALL: readonly Effort[] = ['minimal', 'low', 'medium', 'high']

const FAMILIES: readonly ModelFamily[] = Object.freeze([
  { names: /gpt-[5-9][^/]*-chat/, thinks: 'never', efforts: [] },
  { names: /gpt-[34]|chatgpt/, thinks: 'never', efforts: [], sampling: true },
  { names: /gpt-5-pro/, thinks: 'always', efforts: ['high'] },
  { names: /gpt-[5-9][.\d]*-pro/, thinks: 'always', efforts: ['medium', 'high'] },
  { names: /gpt-5(?:-mini|-nano)?(?:-20\d\d-\d\d-\d\d)?$/, thinks: 'always', efforts: ALL },
  { names: /gpt-[5-9]|gpt-oss|codex|(?:^|\/)o\d/, thinks: 'always', efforts: ['low', 'medium', 'high'] },
  { names: /grok-3-mini/, thinks: 'always', efforts: ['low', 'high'] },
  { names: /grok-4\.(?:20-multi|[3-9])/, thinks: 'always', efforts: ['low', 'medium', 'high'], sampling: true },
  { names: /grok-4|grok-code/, thinks: 'always', efforts: [], sampling: true },
  { names: /(?:)/, thinks: 'when-asked', efforts: ALL, sampling: true },
] as const satisfies readonly ModelFamily[])

/** The family of a model; the last one fits every name. */
export function familyOf(model: string): ModelFamily {
  const name = model.toLowerCase()
  return FAMILIES.find(({ names }) => names.test(name))!
}

/** The effort of a family that comes next to the one asked for: the same, else the next higher one, else its highest. */
export function effortOf(requested: Effort, { efforts }: ModelFamily): Effort | undefined {
  return efforts.find((effort) => ALL.indexOf(effort) >= ALL.indexOf(requested)) ?? efforts.at(-1)
}
