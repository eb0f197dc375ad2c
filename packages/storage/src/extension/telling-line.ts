const SHOWN_CHARS = 300
const SPEAKS_OF_FAILURE =
  /\b(?:error|err!|fail(?:ed|ure)?|denied|refus(?:ed|es)|cannot|can't|could not|unable|not found|not permitted|not allowed|not supported|no such|no module|missing|invalid|unknown|unrecognized|unsupported|required|requires|already in use|already exists|conflict|fatal|externally-managed|mismatch|exceeded|expired|untrusted)\b|\bE[A-Z]{4,}\b/i
/** Begins what tells more further down. */
const HEADING = /^(?:Traceback \(most recent call last\)|error(?: occurred)?|failed|fatal)\s*:?\s*\.*$/i
/** Words that many failures share. */
const COMMON = new Set(
  'error errors err failed failure fatal code exit exited status command the a an to of in on is was not with for and by at from this that line file process returned npm node see log complete run'.split(
    ' ',
  ),
)
const MIN_TELLING = 2
const MIN_LETTERS = 12
const COLOURS = /\u001b\[[\d;]*[A-Za-z]/g

/** The line of what a program printed that tells this failure from others, at most 300 characters; `null` where none does. */
export function tellingLine(output: string): string | null {
  const lines = output
    .slice(0, 20_000)
    .replace(COLOURS, '')
    .split('\n')
    .map((line) => line.trim().slice(0, SHOWN_CHARS))
    .filter((line) => line !== '' && !HEADING.test(line) && tells(line))
  return lines.find((line) => SPEAKS_OF_FAILURE.test(line)) ?? lines.at(-1) ?? null
}

function tells(line: string): boolean {
  const words = line.toLowerCase().match(/\p{L}[\p{L}\p{N}_-]+/gu) ?? []
  const telling = new Set(words.filter((word) => !COMMON.has(word)))
  return telling.size >= MIN_TELLING && [...telling].join('').length >= MIN_LETTERS
}
