import { normalized, withoutAccents } from './accents.js'

/** What the index gets of one message. */
export interface IndexedMessage {
  readonly role: string
  readonly content: string | null
  readonly tool_name: string | null
  readonly tool_calls: string | null
  readonly session_id: string
  readonly source: string
}

/** What a search may be narrowed by without looking at messages. */
export type Facet = 'role' | 'source' | 'session'

/**
 * What a message has beyond this is not searched. Taking in as much lasts some 50 ms; tool results are cut at a tenth of it before
 * they get here.
 */
const MAX_CHARS = 1_000_000
/** Of scripts without blanks, each character of which is a word: as much as results of tools are cut to. */
const MAX_UNSPACED_CHARS = 100_000

// Letters that nobody types: words of the index that begin with them are facets.
const MARKS: Readonly<Record<Facet, string>> = { role: '\ue000', source: '\ue001', session: '\ue002' }
const ANY_MARK = /[\ue000-\ue002]/g

// Thai to Myanmar, Khmer, Hangul, kana, Han. Ranges, because property classes are a hundred times slower on long texts.
const UNSPACED =
  '\\u0e00-\\u0eff\\u1000-\\u109f\\u1100-\\u11ff\\u1780-\\u17ff\\u3005-\\u3007\\u3040-\\u30ff\\u3130-\\u318f\\u3400-\\u4dbf' +
  '\\u4e00-\\u9fff\\ua960-\\ua97f\\uac00-\\ud7ff\\uf900-\\ufaff\\uff66-\\uffdc\\u{20000}-\\u{3ffff}'
const HAS_UNSPACED = new RegExp(`[${UNSPACED}]`, 'u')
const UNSPACED_RUN = new RegExp(`[${UNSPACED}]+`, 'gu')
const ACCENTS = /[\u0300-\u036f]/g
const ENDS_IN_WORD = /[\p{L}\p{N}\p{Co}]$/u
const NAMES = /[\p{L}\p{N}]+/gu
/** Longer ones are no names but data, such as base64 or the letters of a genome. */
const MAX_NAME_CHARS = 200
const HAS_HUMP = /[a-z\d][A-Z]/
const HUMP_INSIDE = /[\p{Ll}\p{N}]\p{Lu}/u
const HUMP = /\p{Lu}?[\p{Ll}\p{N}]+|\p{Lu}+(?!\p{Ll})/gu

/**
 * The text the index takes in for a message. Scripts without blanks become pairs of neighbouring characters, so that any two of
 * them are found; the parts of names like `getUserById` follow the text; facets come last.
 */
export function toIndexText(message: IndexedMessage): string {
  const { role, content, tool_name, tool_calls, session_id, source } = message
  const text = [content, tool_name, tool_calls].filter(Boolean).join('\n').slice(0, MAX_CHARS).replace(ANY_MARK, ' ')
  const facets = [facetWord('role', role), facetWord('source', source), facetWord('session', session_id)]
  return [pairUp(text), ...partsOfNames(text), ...facets].join(' ')
}

/** Small letters without accents, as the index has them. */
function fold(text: string): string {
  return normalized(text, 'NFD').replace(ACCENTS, '').toLowerCase()
}

/** The word that stands for a facet. Two values may share one, so what it finds is to be checked. */
export function facetWord(facet: Facet, value: string): string {
  return MARKS[facet] + value.replace(/[^\p{L}\p{N}]/gu, '').toLowerCase()
}

/** Whether a message has a word that begins with `prefix`, small letters and digits of ASCII, as a look into the index would say. */
export function hasWordWith(
  message: Pick<IndexedMessage, 'content' | 'tool_name' | 'tool_calls'>,
  prefix: string,
): boolean {
  const { content, tool_name, tool_calls } = message
  if (!fold([content, tool_name, tool_calls].join('\n')).includes(prefix)) return false
  const text = fold(toIndexText({ content, tool_name, tool_calls, role: '', source: '', session_id: '' }))
  for (let at = text.indexOf(prefix); at !== -1; at = text.indexOf(prefix, at + 1))
    if (!ENDS_IN_WORD.test(text.slice(Math.max(0, at - 2), at))) return true
  return false
}

/** Whether `text` has characters of a script without blanks. */
export function isUnspaced(text: string): boolean {
  return HAS_UNSPACED.test(text)
}

/** The runs of scripts without blanks, and what is between them. */
export function splitUnspaced(text: string): readonly string[] {
  return text.split(new RegExp(`([${UNSPACED}]+)`, 'u')).filter((part) => part.trim() !== '')
}

/** `部署失败` becomes `部署`, `署失`, `失败`. A single character stays as it is. */
export function pairs(run: string): readonly string[] {
  const characters = [...run]
  return characters.length === 1
    ? characters
    : characters.slice(1).map((character, index) => characters[index]! + character)
}

/**
 * Pairs of neighbouring characters in place of runs of such scripts. The last character follows as a word of its own, so that each
 * character begins one.
 */
export function pairUp(text: string): string {
  if (!isUnspaced(text)) return text
  let left = MAX_UNSPACED_CHARS
  return text.replace(UNSPACED_RUN, (whole) => {
    const run = whole.slice(0, left).toWellFormed()
    left -= run.length
    const words: string[] = []
    let last = ''
    for (const character of run) {
      words.push(last + character)
      last = character
    }
    if (words.length > 1) words.shift()
    return ` ${words.join(' ')} ${last} `
  })
}

/** The parts of names like `getUserById`. Time grows with the length of the text, whatever it is made of. */
export function partsOfNames(text: string): readonly string[] {
  if (!HAS_HUMP.test(text)) return []
  const names = new Set<string>()
  for (const [name] of text.matchAll(NAMES))
    if (name.length <= MAX_NAME_CHARS && HUMP_INSIDE.test(name)) names.add(name)
  return [...new Set([...names].flatMap((name) => name.match(HUMP) ?? []))]
}

/** Longer words are found by their beginnings. */
const MAX_WORD_CHARS = 200
const WORD = /[\p{L}\p{N}\p{M}\p{Co}]+/gu

/** The words of a text as the index has them: in lower case and without accents. They consist of letters, digits and marks, so nothing in them is syntax. */
export function indexWords(text: string): readonly string[] {
  const folded = withoutAccents(normalized(text, 'NFC')).toLowerCase()
  return (folded.match(WORD) ?? []).map((word) => word.slice(0, MAX_WORD_CHARS).toWellFormed())
}
