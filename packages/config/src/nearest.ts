/** The name most like `name`; `null` when `atMost` edits do not lead to one. */
export async function nearest(
  name: string,
  names: readonly string[],
  atMost = Number.POSITIVE_INFINITY,
): Promise<string | null> {
  const { distance } = await import('fastest-levenshtein')
  const scored = names.map((candidate) => ({ candidate, edits: distance(name.toLowerCase(), candidate) }))
  const best = scored.toSorted((a, b) => a.edits - b.edits)[0]
  return best && best.edits <= atMost ? best.candidate : null
}

/** The name that `name` is most likely a typing error of; `null` when none is so near. */
export function meantName(name: string, names: readonly string[]): Promise<string | null> {
  return nearest(name, names, Math.min(2, Math.floor(name.length / 3)))
}
