// What a long result says that is worth more than the fact that it was long: errors, versions, paths, addresses, settings, numbers, and what
// the agent took up later.
const MOST_LINES = 2_000
const LINE_CHARS = 180
/** Of lines that differ in their numbers alone so many are told. */
const MOST_ALIKE = 2

const PROBLEM =
  /\b(?:error|fail(?:ed|ure|s)?|fatal|panic|exception|traceback|warn(?:ing)?|denied|refused|cannot|can't|could not|unable|not found|no such|missing|expected|undefined|timed? ?out|conflict|deprecated)\b/i
/** As systems and programs name them. */
const NAMED_PROBLEM = /\bE[A-Z]{4,}\b|[a-z](?:Error|Exception)\b/
const FACTS: readonly RegExp[] = [
  // A version, an address of a machine.
  /\bv?\d+\.\d+(?:\.\d+)*\b/,
  // A path or an address.
  /(?:^|[\s"'`(=])(?:~|\.{1,2})?\/[\w.-]+\/[\w./-]+|\b[\w-]+\/[\w./-]*\.\w|\b[a-z][a-z0-9+.-]*:\/\/\S+|\b[\w.-]+:\d{2,5}\b/i,
  // A setting, a field.
  /^["']?[\w.$-]+["']?\s*[:=]\s*\S/,
  // A hash, an id, a sum.
  /\b(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b|\b\d{2,}\b/,
]
/** Where a tool numbers the lines. */
const NUMBERED = /^\s*\d+[|:\t]\s?/
const WORD = /[\w./:@-]{4,80}/g

/** Words by which a later line shows that it goes back to a result: names of things, not of the language. */
export function namesIn(text: string): readonly string[] {
  return (text.match(WORD) ?? [])
    .filter((word) => /[\d./:@_-]|[a-z][A-Z]/.test(word))
    .map((word) => word.replace(/[.:]+$/, ''))
}

/** A line of a result. */
interface Fact {
  readonly at: number
  readonly text: string
  readonly worth: number
}

/** The lines of a result that say something, the one that says most first. `taken`: names that the agent used elsewhere. */
export function factsIn(text: string, taken: ReadonlySet<string>): readonly Fact[] {
  const alike = new Map<string, number>()
  const lines: Fact[] = []
  for (const [at, whole] of linesOf(text).entries()) {
    const line = whole.replace(NUMBERED, '').trim().slice(0, LINE_CHARS).toWellFormed()
    if (line.length < 3) continue
    const shape = line.replace(/\d+/g, '0')
    const count = (alike.get(shape) ?? 0) + 1
    alike.set(shape, count)
    const worth = count > MOST_ALIKE ? 0 : worthOf(line, taken)
    if (worth > 0) lines.push({ at, text: line, worth })
  }
  return lines.sort((one, other) => other.worth - one.worth || one.at - other.at)
}

/** Those that say most, in the order of the result, in at most `maxChars`. */
export function chosenFacts(facts: readonly Fact[], maxChars: number): readonly string[] {
  const kept: Fact[] = []
  let left = maxChars
  for (const fact of facts) {
    if (left < fact.text.length) continue
    left -= fact.text.length
    kept.push(fact)
  }
  return kept.sort((one, other) => one.at - other.at).map((fact) => fact.text)
}

/** Of very many the first and the last. */
function linesOf(text: string): readonly string[] {
  const lines = text.split('\n')
  return lines.length <= MOST_LINES ? lines : [...lines.slice(0, MOST_LINES / 2), ...lines.slice(-MOST_LINES / 2)]
}

function worthOf(line: string, taken: ReadonlySet<string>): number {
  const isTaken = taken.size > 0 && namesIn(line).some((name) => taken.has(name))
  const facts = FACTS.filter((pattern) => pattern.test(line)).length
  return (PROBLEM.test(line) || NAMED_PROBLEM.test(line) ? 4 : 0) + (isTaken ? 3 : 0) + Math.min(facts, 2)
}
