import { estimateTokens, type TextSource } from '@hermes/contracts/conversation'

/** What a part of the system text is about. Several parts may have one name. */
export type LayerName =
  | 'identity'
  | 'platform'
  | 'environment'
  | 'ways of working'
  | 'tool use'
  | 'model'
  | 'skills'
  | 'extensions'
  | 'project'
  | 'memory'
  | 'instructions'

/** One part of a system text. */
export interface PromptLayer {
  readonly name: LayerName
  /** Where it comes from, for a person: a file, or `built in`. */
  readonly source: string
  readonly text: string
  /** Whose words they are, where others may have written them. Default: not known. */
  readonly sources?: readonly TextSource[]
}

/** A system text with what it is made of; the text is that of the layers, a blank line between them. */
export interface SystemPrompt {
  readonly text: string
  readonly layers: readonly PromptLayer[]
  /** What was left out or cut and why, one line each; told once when the session begins. Default none. */
  readonly problems?: readonly string[]
}

/** What an agent is told first: a text, or one whose layers are known. */
export type SystemSource = string | SystemPrompt | (() => string | SystemPrompt | Promise<string | SystemPrompt>)

/** The most tokens of each layer, whatever there is room for. */
export const LAYER_TOKENS: Readonly<Record<LayerName, number>> = Object.freeze({
  identity: 6_000,
  platform: 500,
  environment: 500,
  'ways of working': 1_000,
  'tool use': 500,
  model: 500,
  skills: 4_000,
  // They have a limit of their own, in bytes.
  extensions: 32_000,
  project: 16_000,
  memory: 3_000,
  instructions: 16_000,
})

/** Which layers get smaller when all together are too much, the first one first. @see 000 section 11 */
const GIVES_WAY: readonly LayerName[] = Object.freeze([
  'memory',
  'skills',
  'extensions',
  'project',
  'identity',
  'instructions',
])

/** The most tokens of all layers together. */
export const MOST_PROMPT_TOKENS = 32_000

const LEAST_TOKENS = 100
const HEAD_SHARE = 0.7
const TAIL_SHARE = 0.2

/**
 * Cuts each layer to its budget, then those of least priority until all fit `maxTokens`; what is cut keeps its head and tail. A text has
 * no more tokens than characters, so the usual prompt is not even measured.
 */
export function fitLayers(layers: readonly PromptLayer[], maxTokens: number = MOST_PROMPT_TOKENS): SystemPrompt {
  const problems: string[] = []
  const fitted = layers.map((layer) => cutLayer(layer, LAYER_TOKENS[layer.name], problems))
  if (fitted.reduce((sum, { text }) => sum + text.length, 0) > maxTokens) shrink(fitted, maxTokens, problems)
  const text = fitted.map((layer) => layer.text).join('\n\n')
  return { text, layers: fitted, ...(problems.length === 0 ? {} : { problems }) }
}

function shrink(layers: PromptLayer[], maxTokens: number, problems: string[]): void {
  let excess = layers.reduce((sum, { text }) => sum + estimateTokens(text), 0) - maxTokens
  for (const name of GIVES_WAY) {
    for (const [index, layer] of layers.entries()) {
      if (excess <= 0) return
      if (layer.name !== name) continue
      const tokens = estimateTokens(layer.text)
      layers[index] = cutLayer(layer, Math.max(LEAST_TOKENS, tokens - excess), problems)
      excess -= tokens - estimateTokens(layers[index].text)
    }
  }
}

function cutLayer(layer: PromptLayer, maxTokens: number, problems: string[]): PromptLayer {
  if (layer.text.length <= maxTokens) return layer
  const tokens = estimateTokens(layer.text)
  if (tokens <= maxTokens) return layer
  problems.push(`${layer.source} was cut to about ${maxTokens} of its ${tokens} tokens in the system text.`)
  return { ...layer, text: cutHeadTail(layer.text, Math.floor((layer.text.length * maxTokens) / tokens)) }
}

/** Text of at most about `maxChars`: 70 % of it head, 20 % tail, and a mark between them that says how much is missing. */
export function cutHeadTail(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  const head = text.slice(0, Math.floor(maxChars * HEAD_SHARE)).toWellFormed()
  const tail = text.slice(text.length - Math.floor(maxChars * TAIL_SHARE)).toWellFormed()
  return `${head}\n\n[… ${text.length - head.length - tail.length} characters left out; read the file for the rest …]\n\n${tail}`
}
