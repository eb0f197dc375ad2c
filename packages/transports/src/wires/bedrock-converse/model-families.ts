/** What a family of models takes on this wire, whose models come from many makers. */
export interface ConverseFamily {
  /** Found in the ids of its models, whatever region or maker stands before. */
  readonly names: RegExp
  /** The longest time for which the provider keeps a prefix with marks; without it marks are refused. */
  readonly cacheTtl?: '5m' | '1h'
  /** How reasoning is asked for. Default: not at all. */
  readonly reasoning?: 'claude' | 'nova' | 'effort'
  /** Refuses requests that define tools, or hold calls. */
  readonly withoutTools?: true
  /** Takes a status with the result of a tool. */
  readonly resultStatus?: true
}

const CLAUDE = { reasoning: 'claude', resultStatus: true } as const

const FAMILIES: readonly ConverseFamily[] = Object.freeze([
  {
    names: /claude-(?:3-(?:opus|sonnet|haiku)|3-5-sonnet-20240620|v2|instant)/,
    reasoning: 'claude',
    resultStatus: true,
  },
  { names: /claude-(?:3|(?:opus|sonnet)-4-(?:1-)?\d{8})/, ...CLAUDE, cacheTtl: '5m' },
  { names: /claude/, ...CLAUDE, cacheTtl: '1h' },
  { names: /nova-2/, cacheTtl: '5m', reasoning: 'nova', resultStatus: true },
  { names: /nova/, cacheTtl: '5m', resultStatus: true },
  { names: /gpt-oss/, reasoning: 'effort' },
  { names: /deepseek\.r1|titan-text|llama3-(?:8b|70b)-|mistral-7b|mixtral-8x7b/, withoutTools: true },
  { names: /(?:)/ },
] as const satisfies readonly ConverseFamily[])

/** The family of a model; the last one fits every name. */
export function familyOf(model: string): ConverseFamily {
  const name = model.toLowerCase()
  return FAMILIES.find(({ names }) => names.test(name))!
}
