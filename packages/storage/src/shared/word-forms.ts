const MIN_CHARS = 4
const PLAIN = /^[a-z]+$/
const DOUBLED = /([bdgklmnprt])\1$/
const SHORT = /^[^aeiou]*[aeiou][bdgklmnprt]$/

/**
 * The forms in which an English word may have been said: `painting` is also `paint`, `paints` and `painted`. Made by rule, so some of them
 * are no words; the index has none of those. The word itself comes first. Others, and words of less than four letters, stay alone.
 */
export function wordForms(word: string): readonly string[] {
  if (word.length < MIN_CHARS || !PLAIN.test(word)) return [word]
  return [...new Set([word, ...basesOf(word).flatMap(inflected)])]
}

/** What the word may be a form of. */
function basesOf(word: string): readonly string[] {
  const without = (ending: string) => word.slice(0, -ending.length)
  const bases = word.endsWith('ied') || word.endsWith('ies') ? [`${without('ies')}y`] : []
  for (const ending of ['ing', 'ed']) {
    const stem = without(ending)
    if (!word.endsWith(ending) || stem.length < 3) continue
    bases.push(stem, `${stem}e`)
    if (DOUBLED.test(stem)) bases.push(stem.slice(0, -1))
  }
  if (bases.length > 0) return bases
  if (/(?:[sxz]|ch|sh)es$/.test(word)) return [without('es'), without('s')]
  return /[^sui]s$/.test(word) ? [without('s')] : [word]
}

function inflected(base: string): readonly string[] {
  if (base.length < 3) return []
  if (/[^aeiou]y$/.test(base)) {
    const stem = base.slice(0, -1)
    return [base, `${stem}ies`, `${stem}ied`, `${base}ing`]
  }
  if (base.endsWith('e')) return [base, `${base}s`, `${base}d`, `${base.slice(0, -1)}ing`]
  const doubled = SHORT.test(base) ? [`${base}${base.at(-1)}ing`, `${base}${base.at(-1)}ed`] : []
  const plural = /(?:[sxzo]|ch|sh)$/.test(base) ? `${base}es` : `${base}s`
  return [base, plural, `${base}ed`, `${base}ing`, ...doubled]
}
