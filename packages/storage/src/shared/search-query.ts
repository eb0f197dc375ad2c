import { indexWords, isUnspaced, pairs, splitUnspaced } from './index-text.js'
import { wordForms } from './word-forms.js'
import { distinctParts, partExpression, toWordPart, type WordPart, type WordsOfParts } from './word-parts.js'

/** Longer queries are cut: nobody types them, and marking thousands of matches takes seconds. */
const MAX_CHARS = 500

/** Each is looked up. More of them in a question add nothing. */
const MAX_ANY_TERMS = 24

/** A prefix of two letters is looked up as all prefixes of three that begin with it; shorter ones would be most of the index. */
const MIN_PREFIX_CHARS = 2
/** Prefixes of so many letters have entries in the index. */
const INDEXED_PREFIX_CHARS = 3
const THIRD_LETTERS = [...'abcdefghijklmnopqrstuvwxyz0123456789']

/** What to look for and what to mark. */
export interface SearchQuery {
  /** An FTS5 expression. */
  readonly expression: string
  /** How many words and phrases it is made of. */
  readonly size: number
  /** What a snippet marks. */
  readonly terms: readonly SearchTerm[]
  /** The same, easier to answer; `null` where there is no such thing. */
  readonly loose: LooseQuery | null
  /** Of words typed with a star in front: their words are to be found first. */
  readonly parts: readonly WordPart[]
  /** What may be looked for inside words where no message has the word itself. */
  readonly guesses: readonly WordPart[]
  /** Any of these in place of all of them; none where something is to be left out. */
  readonly any: readonly AnyTerm[]
  /** Nothing but words, so that a message with some of them is an answer too. */
  readonly isPlain: boolean
}

/** A word or phrase that may be missing. */
export interface AnyTerm {
  /** An FTS5 expression. */
  readonly expression: string
  /** The words it stands for, as the index has them; none for phrases, beginnings and scripts without blanks. */
  readonly forms: readonly string[]
}

/** A query with shorter prefixes: it finds all that the whole one finds and more, newest first without gathering anything before. */
export interface LooseQuery {
  readonly expression: string
  /** What is to be checked of each hit: it has words that begin with all of these. Letters and digits of ASCII. */
  readonly prefixes: readonly string[]
}

/** A word or phrase as it was typed, without its quotes and stars. */
export interface SearchTerm {
  readonly text: string
  readonly isPrefix: boolean
  /** It may stand inside words. Default false. */
  readonly isPart?: boolean
  /** Other forms of the word that are marked too. */
  readonly forms?: readonly string[]
}

interface Term extends SearchTerm {
  readonly part: WordPart | null
  readonly guess: WordPart | null
}

/**
 * What a person typed; `null` when no word is left. Every term is quoted, so nothing in it is syntax: hyphens, colons and brackets
 * only separate words. Left over quotes and operators without a term on both sides go. Operators bind from the left, AND and NOT
 * before OR. With `words` the parts of words that they tell of are looked for as those words; other parts are taken for whole words.
 */
export function parseSearchQuery(query: string, words?: WordsOfParts): SearchQuery | null {
  const expression: string[] = []
  const loosened: string[] = []
  const prefixes: string[] = []
  const terms: SearchTerm[] = []
  const [parts, guesses]: [WordPart[], WordPart[]] = [[], []]
  const any = new Map<string, AnyTerm>()
  let [hasNot, isPlain] = [false, true]
  let operator: string | null = null
  for (const token of tokens(query)) {
    if (token === 'AND' || token === 'OR' || token === 'NOT') {
      operator = token
      isPlain &&= token === 'OR'
      hasNot ||= token === 'NOT'
      continue
    }
    const term = toTerm(token)
    if (term === null) continue
    const { text, isPrefix, part, guess } = term
    const isWanted = operator !== 'NOT' || expression.length === 0
    const expanded = expand(term, words)
    const loosest = toAnyTerm(term)
    const { forms } = loosest
    if (isWanted) terms.push(expanded === null ? { text, isPrefix, forms } : { text, isPrefix: false, isPart: true })
    if (any.size < MAX_ANY_TERMS) any.set(loosest.expression, loosest)
    isPlain &&= part === null && !token.startsWith('"')
    if (part) parts.push(part)
    if (guess && isWanted) guesses.push(guess)
    const isLoosened = isWanted && expanded === null && isLongPrefix(term)
    if (isLoosened) prefixes.push(text.toLowerCase())
    const shortened = isLoosened ? { ...term, text: text.slice(0, INDEXED_PREFIX_CHARS) } : term
    const joint = expression.length > 0 ? [operator ?? 'AND'] : []
    expression.push(...joint, expanded ?? toExpression(term))
    loosened.push(...joint, expanded ?? toExpression(shortened))
    operator = null
  }
  if (expression.length === 0) return null
  const joined = expression.join(' ')
  const isLoose = prefixes.length > 0 && !expression.includes('OR')
  const loose = isLoose ? { expression: loosened.join(' '), prefixes } : null
  const size = joined.split('"').length >> 1
  return {
    expression: joined,
    size,
    terms,
    loose,
    parts: distinctParts(parts),
    guesses: distinctParts(guesses),
    any: hasNot ? [] : [...any.values()],
    isPlain,
  }
}

/** `null` for what is looked for as it is. */
function expand({ part, guess }: Term, words: WordsOfParts | undefined): string | null {
  const wanted = [part, guess].find((one) => one !== null && words?.has(one.key))
  return wanted ? partExpression(wanted, words!.get(wanted.key)!) : null
}

function isLongPrefix({ text, isPrefix }: SearchTerm): boolean {
  return isPrefix && text.length > INDEXED_PREFIX_CHARS && /^[a-z\d]+$/i.test(text)
}

/** `painting?` is looked for as `painting`, `paint`, `paints` and `painted`; the `'s` of `Anna's` goes. */
function toAnyTerm(term: Term): AnyTerm {
  const words = indexWords(term.text)
  const [word] = words
  const isOne = words.length === 1 || (words.length === 2 && words[1] === 's')
  if (term.isPrefix || !isOne || isUnspaced(term.text)) return { expression: toExpression(term), forms: [] }
  const forms = wordForms(word!)
  return {
    expression: group(
      forms.map((form) => `"${form}"`),
      'OR',
    ),
    forms,
  }
}

/** Quoted phrases and words; a quote without its partner separates words. Letters for private use may stand for facets. */
function tokens(query: string): string[] {
  const text = query
    .slice(0, MAX_CHARS)
    .toWellFormed()
    .replaceAll(/[\0\p{Co}]/gu, ' ')
  return text.match(/"[^"]*"|[^\s"]+/gu) ?? []
}

/** Marks and symbols are no words to the index: a term of nothing else would match nothing. */
function toTerm(token: string): Term | null {
  const words = token.replaceAll('"', ' ').trim()
  if (!/[\p{L}\p{N}]/u.test(words)) return null
  const isQuoted = token.startsWith('"')
  const isPrefix = words.endsWith('*') && !isQuoted
  const text = isPrefix ? words.replace(/\*+$/, '') : words
  if (isQuoted) return { text, isPrefix, part: null, guess: null }
  if (!text.startsWith('*'))
    return { text, isPrefix, part: null, guess: isPrefix ? null : toWordPart({ text, hasStar: false, isGuess: true }) }
  const behind = text.replace(/^\*+/, '')
  return { text: behind, isPrefix, part: toWordPart({ text: behind, hasStar: isPrefix, isGuess: false }), guess: null }
}

function toExpression({ text, isPrefix }: SearchTerm): string {
  if (isUnspaced(text)) return unspaced(text, isPrefix)
  if (!isPrefix || text.length < MIN_PREFIX_CHARS) return `"${text}"`
  if (!/^[a-z\d]{2}$/i.test(text)) return `"${text}"*`
  return group([`"${text}"`, ...THIRD_LETTERS.map((letter) => `"${text}${letter}"*`)], 'OR')
}

/** Runs of a script without blanks are phrases of pairs; what stands between them is looked for beside them. */
function unspaced(text: string, isPrefix: boolean): string {
  const parts = splitUnspaced(text).filter((part) => /[\p{L}\p{N}]/u.test(part))
  const phrases = parts.map((part, index) => {
    if (!isUnspaced(part)) return `"${part}"${isPrefix && index === parts.length - 1 ? '*' : ''}`
    return [...part].length === 1 ? `"${part}"*` : `"${pairs(part).join(' ')}"`
  })
  return group(phrases, 'AND')
}

function group(parts: readonly string[], operator: 'AND' | 'OR'): string {
  return parts.length === 1 ? parts[0]! : `(${parts.join(` ${operator} `)})`
}
