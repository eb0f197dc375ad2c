import { type IndexedMessage, indexWords, pairUp, partsOfNames } from '../../shared/index-text.js'

/** What a message has beyond this is not searched. */
const MAX_CHARS = 1_000_000
/** The server takes a megabyte, positions included. */
const MAX_BYTES = 900_000
/** Words further back are found, but in no phrase. */
const MAX_POSITION = 16_383
const MAX_POSITIONS = 255

/**
 * The words of a message as a `tsvector`. They are the words that SQLite's index knows, made here: the parser of the server takes
 * paths, hyphens and addresses for single words, and knows no scripts without blanks.
 */
export function messageWords({
  content,
  tool_name,
  tool_calls,
}: Omit<IndexedMessage, 'session_id' | 'source'>): string {
  const text = [content, tool_name, tool_calls].filter(Boolean).join('\n').slice(0, MAX_CHARS)
  return toVector(`${pairUp(text)} ${partsOfNames(text).join(' ')}`)
}

/** Any text as a `tsvector`. */
export function textWords(text: string): string {
  return toVector(pairUp(text))
}

function toVector(text: string): string {
  const positions = new Map<string, number[]>()
  let bytes = 0
  let position = 0
  for (const word of indexWords(text)) {
    position++
    let places = positions.get(word)
    if (places === undefined) {
      bytes += Buffer.byteLength(word) + 8
      if (bytes > MAX_BYTES) break
      positions.set(word, (places = []))
    }
    if (position > MAX_POSITION || places.length >= MAX_POSITIONS) continue
    places.push(position)
    bytes += 2
  }
  return [...positions]
    .map(([word, places]) => `'${word}'${places.length === 0 ? '' : `:${places.join(',')}`}`)
    .join(' ')
}

/**
 * An expression of the word index of SQLite, as `parseSearchQuery` makes it, as a `tsquery`. Both let NOT bind before AND and that
 * before OR.
 */
export function toTsQuery(expression: string): string {
  const operators: Readonly<Record<string, string>> = { AND: '&', OR: '|', NOT: '& !', '(': '(', ')': ')' }
  return [...expression.matchAll(/"([^"]*)"(\*?)|[()]|AND|OR|NOT/g)]
    .map(([token, words, star]) => operators[token] ?? toPhrase(words!, star === '*'))
    .join(' ')
}

/** The words and phrases of such an expression, each as a `tsquery`. */
export function phrasesOf(expression: string): readonly string[] {
  return [...expression.matchAll(/"([^"]*)"(\*?)/g)].map(([, words, star]) => toPhrase(words!, star === '*'))
}

/** Words that follow each other; the last one may be a beginning. */
function toPhrase(text: string, isPrefix: boolean): string {
  return `(${indexWords(text)
    .map((word, at, words) => `'${word}'${isPrefix && at === words.length - 1 ? ':*' : ''}`)
    .join(' <-> ')})`
}
