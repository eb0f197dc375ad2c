import type { Script, Word } from './script.js'

const MAX_BRACE_WORDS = 64
/** Of all that a word with braces stands for. */
const MAX_BRACE_CHARS = 100_000

/** Collects the pieces of one word; an expansion with blanks in it, or braces, can make several of them. */
export class WordBuilder {
  /** Braces stood for more words, or longer ones, than are followed. */
  overflowed = false
  /** Characters that braces stood for. */
  added = 0
  readonly #done: Word[] = []
  #text = ''
  #mask = ''
  #dynamic = false
  #splits = false
  #started = false
  #scripts: Script[] = []

  add(text: string, mask: 'u' | 'q' | 'd'): void {
    this.#started = true
    this.#text += text
    this.#mask += mask.repeat(text.length)
  }

  /** Adds an expansion whose value is not known, as it was written. */
  addUnknown(source: string, options: { readonly quoted: boolean; readonly scripts?: readonly Script[] }): void {
    this.add(source, 'd')
    this.#dynamic = true
    this.#splits ||= !options.quoted
    this.#scripts.push(...(options.scripts ?? []))
  }

  /** Adds a known value; outside quotes the signs of `separators`, blanks by default, end words. */
  addValue(value: string, quoted: boolean, separators = ' \t\n'): void {
    const parts = quoted || separators === '' ? [value] : splitAt(value, separators)
    parts.forEach((part, index) => {
      if (index > 0) this.breakWord()
      if (part !== '' || quoted) this.add(part, 'd')
    })
  }

  breakWord(): void {
    if (this.#started) this.#done.push(this.#word())
    this.#text = this.#mask = ''
    this.#started = this.#dynamic = this.#splits = false
    this.#scripts = []
  }

  finish(): Word[] {
    this.breakWord()
    return this.#done.flatMap((word) => {
      const { words, isWhole } = expandBraces(word)
      this.overflowed ||= !isWhole
      if (words.length > 1) this.added += words.reduce((sum, { text }) => sum + text.length, 0)
      return words
    })
  }

  #word(): Word {
    // A quoted tilde is an ordinary file name.
    const literalTilde = this.#text.startsWith('~') && this.#mask.startsWith('q')
    return {
      text: literalTilde ? `./${this.#text}` : this.#text,
      mask: literalTilde ? `qq${this.#mask}` : this.#mask,
      dynamic: this.#dynamic,
      splits: this.#splits,
      scripts: this.#scripts,
    }
  }
}

function splitAt(value: string, separators: string): readonly string[] {
  const parts = ['']
  for (const sign of value) {
    if (!separators.includes(sign)) parts.push(`${parts.pop()}${sign}`)
    else if (parts.at(-1) !== '' || parts.length === 1) parts.push('')
  }
  return parts
}

/** `a{b,c}` becomes `ab` and `ac`; ranges such as `{1..9}` stay. */
function expandBraces(word: Word): { readonly words: Word[]; readonly isWhole: boolean } {
  let done: Word[] = []
  let open: Word[] = [word]
  const isTooMuch = () =>
    open.length + done.length > MAX_BRACE_WORDS || (open.length > 1 && open.length * word.text.length > MAX_BRACE_CHARS)
  while (open.length > 0 && !isTooMuch()) {
    const next: Word[] = []
    for (const item of open) {
      const parts = firstBrace(item)
      if (parts === 'too-much') return { words: [...done, ...open], isWhole: false }
      if (parts) next.push(...parts)
      else done = [...done, item]
    }
    open = next
  }
  return { words: [...done, ...open], isWhole: open.length === 0 }
}

/** The words that the outermost of the first braces with a comma in them stand for, found in one pass; `null` where there are none. */
function firstBrace(word: Word): readonly Word[] | 'too-much' | null {
  const open: number[][] = []
  let found: { readonly cuts: readonly number[]; readonly end: number } | null = null
  for (let at = 0; at < word.text.length; at++) {
    if (plain(word, at, '{')) open.push([at])
    else if (plain(word, at, ',')) open.at(-1)?.push(at)
    else if (plain(word, at, '}')) {
      const cuts = open.pop()
      if (cuts && cuts.length > 1 && (found === null || cuts[0]! < found.cuts[0]!)) found = { cuts, end: at }
    }
  }
  if (found === null) return null
  const { cuts, end } = found
  if (cuts.length * (word.text.length - (end - cuts[0]!)) + word.text.length > MAX_BRACE_CHARS) return 'too-much'
  return cuts.map((cut, index) => splice(word, cuts[0]!, cut + 1, cuts[index + 1] ?? end, end + 1))
}

function plain(word: Word, at: number, character: string): boolean {
  return word.text[at] === character && word.mask[at] === 'u'
}

function splice(word: Word, head: number, from: number, to: number, tail: number): Word {
  const cut = (text: string) => text.slice(0, head) + text.slice(from, to) + text.slice(tail)
  return { ...word, text: cut(word.text), mask: cut(word.mask) }
}
