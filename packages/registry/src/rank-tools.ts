import type { JsonObject } from '@hermes/contracts'
import type { ToolDefinition } from '@hermes/contracts/tool'

// BM25 with the usual constants; the name counts as much as several mentions in the description.
const K1 = 1.2
const B = 0.75
const NAME_WEIGHT = 4

/**
 * The definitions that fit `query`, best first: those named exactly, by themselves or by their set, or else by the words of set, name,
 * description and parameters.
 */
export function rankTools(
  all: readonly { readonly toolset: string; readonly definition: ToolDefinition }[],
  query: string,
): readonly ToolDefinition[] {
  const requested = new Set(query.split(/[\s,]+/))
  const named = all.filter(({ toolset, definition }) => requested.has(definition.name) || requested.has(toolset))
  // A tool and a set may have the same name; the tool comes first.
  if (named.length > 0)
    return named
      .map(({ definition }) => definition)
      .toSorted((left, right) => Number(requested.has(right.name)) - Number(requested.has(left.name)))
  const documents = all.map(({ toolset, definition }) => ({
    tool: definition,
    words: [...toWords(toolset), ...wordsOf(definition)],
  }))
  const average = documents.reduce((sum, { words }) => sum + words.length, 0) / Math.max(1, documents.length)
  const terms = [...new Set(toWords(query))]
  const weights = terms.map((term) => {
    const holding = documents.filter(({ words }) => words.includes(term)).length
    return { term, holding, weight: Math.log(1 + (all.length - holding + 0.5) / (holding + 0.5)) }
  })
  const known = weights.filter(({ holding }) => holding > 0)
  const score = (words: readonly string[]) =>
    known.reduce((sum, { term, weight }) => {
      const count = words.filter((word) => word === term).length
      return sum + (weight * count * (K1 + 1)) / (count + K1 * (1 - B + (B * words.length) / average))
    }, 0)
  return documents
    .map(({ tool, words }) => ({ tool, points: score(words) }))
    .filter(({ points }) => points > 0)
    .sort((left, right) => right.points - left.points || (left.tool.name < right.tool.name ? -1 : 1))
    .map(({ tool }) => tool)
}

function wordsOf({ name, description, parameters }: ToolDefinition): readonly string[] {
  const properties = parameters['properties']
  const keys = typeof properties === 'object' && properties !== null ? Object.keys(properties as JsonObject) : []
  const ofName = toWords(name)
  return [
    ...Array.from({ length: NAME_WEIGHT }, () => ofName).flat(),
    ...toWords(description),
    ...keys.flatMap(toWords),
  ]
}

function toWords(text: string): readonly string[] {
  const words = text
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu)
  return (words ?? []).map(stem)
}

/** "issues" and "issue", "listing" and "list", "repositories" and "repository" meet; no more is asked of it. */
function stem(word: string): string {
  if (word.length <= 3) return word
  const singular = word.replace(/ies$/, 'y').replace(/(?<=[^s])s$/, '')
  return singular.replace(/(?<=\w{3})(?:ing|ed)$/, '').replace(/(?<=\w{3})e$/, '')
}
