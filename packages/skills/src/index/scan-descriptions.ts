/** The rule that each of these texts may break; `null` for none. */
export async function scanDescriptions(texts: readonly string[]): Promise<ReadonlyMap<string, string | null>> {
  const rules = new Map<string, string | null>()
  if (texts.length === 0) return rules
  const { scanContext } = await import('@hermes/safety/scan')
  const ruleOf = (text: string) => scanContext(text)[0]?.rule ?? null
  // Hundreds of short texts take ten times as long as one of their length, so each is looked at alone only where a heap of them is not clean.
  for (const heap of heapsOf(texts)) {
    const isClean = ruleOf(heap.join(APART)) === null
    for (const text of heap) rules.set(text, isClean ? null : ruleOf(text))
  }
  return rules
}

/** Neither a word nor a row of letters goes over this. */
const APART = '\n|\n'
/** As short as what the scanner decodes all runs of. */
const MAX_HEAP_CHARS = 3_000

function heapsOf(texts: readonly string[]): readonly (readonly string[])[] {
  const heaps: string[][] = []
  let left = 0
  for (const text of texts) {
    if (text.length > left) {
      heaps.push([])
      left = MAX_HEAP_CHARS
    }
    heaps.at(-1)!.push(text)
    left -= text.length + APART.length
  }
  return heaps
}
