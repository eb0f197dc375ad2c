/** The windows of model families, in tokens; the longest name found in a model's name counts. */
const WINDOWS: Readonly<Record<string, number>> = {
  claude: 200_000,
  'claude-opus-4-6': 1_000_000,
  'claude-opus-4-7': 1_000_000,
  'claude-opus-4-8': 1_000_000,
  'claude-sonnet-4-6': 1_000_000,
  'claude-opus-5': 1_000_000,
  'claude-sonnet-5': 1_000_000,
  'claude-fable-5': 1_000_000,
  'gpt-4': 8_192,
  'gpt-4o': 128_000,
  'gpt-4-turbo': 128_000,
  'gpt-4.1': 1_047_576,
  'gpt-5': 400_000,
  'gpt-5.4': 1_050_000,
  'gpt-5.5': 1_050_000,
  'gpt-5.6': 1_050_000,
  'gpt-6': 1_050_000,
  'gpt-oss': 131_072,
  gemini: 1_048_576,
  gemma: 131_072,
  deepseek: 128_000,
  'deepseek-v4': 1_000_000,
  qwen: 131_072,
  minimax: 204_800,
  glm: 202_752,
  'glm-5': 1_000_000,
  grok: 131_072,
  'grok-4': 256_000,
  'grok-4-fast': 2_000_000,
  'grok-4-1-fast': 2_000_000,
  kimi: 262_144,
  llama: 131_072,
  mistral: 131_072,
}

/** Families that their vendors alone run. */
const HOSTED = /(?:^|[/:])(?:claude|gpt-(?!oss|j|neo|2)|chatgpt|o\d(?:-|$)|gemini|grok-[34])/i

/** Whether a model cannot have been loaded on a machine of one's own. */
export function isHosted(model: string): boolean {
  return HOSTED.test(model)
}

/** Servers of one's own load models with a small part of their window, but with no less than this. */
const LEAST_SHARE = 1 / 32
const LEAST_TOKENS = 1_024

/** Whether a model can have so small a window: numbers in the words of an error may mean something else. */
export function isPlausibleWindow(model: string, tokens: number): boolean {
  return tokens >= Math.max(LEAST_TOKENS, (familyWindow(model) ?? 0) * LEAST_SHARE)
}

/** The window of the family a model belongs to, judged by its name; `undefined` for none. */
export function familyWindow(model: string): number | undefined {
  const name = model.toLowerCase().replace(/(claude[\w-]*\d)\.(\d)/, '$1-$2')
  const found = Object.keys(WINDOWS).filter((family) => name.includes(family))
  return WINDOWS[found.toSorted((a, b) => b.length - a.length)[0] ?? '']
}
