import { indexWords, isUnspaced } from './index-text.js'

/** Shorter parts are in most words, and an index of trigrams cannot look for them. */
const MIN_PART_CHARS = 3
/** Each part is looked for in all words there are. More of them in one query are taken for whole words. */
const MAX_PARTS = 4
/** Of words that have a part no more than these are searched for, the most common ones. */
export const MAX_WORDS_OF_PART = 200

/** Nobody can have typed it, and no message has it. */
const NOTHING = '"\ue000\ue000"'

/** What was typed of a word, and what comes behind that word: `*ploy-ser` asks for words that end with `ploy`, followed by `ser`. */
export interface WordPart {
  /** Tells it from other parts. */
  readonly key: string
  /** As it was typed. */
  readonly typed: string
  /** What the word has, as the index has it: small letters and digits. */
  readonly text: string
  /** Whether the word ends with it. Otherwise it may stand anywhere. */
  readonly isEnd: boolean
  /** The words that follow, each whole but for the last. */
  readonly rest: readonly string[]
  readonly isLastPrefix: boolean
}

/** The words that each part of a query was found in, by its key. */
export type WordsOfParts = ReadonlyMap<string, readonly string[]>

/** How it was typed: `hasStar` at its end; a `guess` is made of a word that no message has. */
interface Typed {
  readonly text: string
  readonly hasStar: boolean
  readonly isGuess: boolean
}

/** `null` where whole words are all that can be looked for: what is short, and scripts without blanks, of which any part is found as it is. */
export function toWordPart({ text, hasStar, isGuess }: Typed): WordPart | null {
  const [first, ...rest] = indexWords(text)
  if (first === undefined || isUnspaced(text) || [...text].length < MIN_PART_CHARS) return null
  if (rest.length === 0 && [...first].length < MIN_PART_CHARS) return null
  const isOpen = hasStar || isGuess
  const isEnd = rest.length > 0 || !isOpen
  return { key: `${text} ${isEnd} ${isOpen}`, typed: text, text: first, isEnd, rest, isLastPrefix: isOpen }
}

/** The first few, each once. */
export function distinctParts(parts: readonly WordPart[]): readonly WordPart[] {
  return [...new Map(parts.map((part) => [part.key, part])).values()].slice(0, MAX_PARTS)
}

/** Of small letters, for LIKE. Words have no characters that mean something to it. */
export function likePattern({ text, isEnd }: WordPart): string {
  return isEnd ? `%${text}` : `%${text}%`
}

/** Whether a word of the index has the part. */
export function hasPart(word: string, { text, isEnd }: WordPart): boolean {
  return isEnd ? word.endsWith(text) : word.includes(text)
}

/** FTS5: any of the words that have the part. */
export function partExpression({ rest, isLastPrefix }: WordPart, words: readonly string[]): string {
  if (words.length === 0) return NOTHING
  const star = rest.length > 0 && isLastPrefix ? '*' : ''
  return `(${words.map((word) => `"${[word, ...rest].join(' ')}"${star}`).join(' OR ')})`
}
