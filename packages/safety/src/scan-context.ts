import { decodeRuns, findTurnedAround } from './scan/encoded.js'
import { steeringIn } from './scan/patterns.js'

/** Letters of other scripts that look like Latin ones. Compatibility forms (full width, mathematical, circled) are left to NFKC. */
const LOOK_ALIKES = new Map(
  Object.entries({
    a: 'аαɑᴀ',
    b: 'ʙЬ',
    c: 'сϲᴄ',
    d: 'ԁᴅ',
    e: 'еєεҽᴇ',
    f: 'ꜰƒ',
    g: 'ɡɢ',
    h: 'һʜ',
    i: 'іιıɪ',
    j: 'јᴊ',
    k: 'кκᴋ',
    l: 'ӏⅼʟ',
    m: 'мᴍ',
    n: 'ոɴη',
    o: 'оοօᴏσ',
    p: 'рρᴘ',
    q: 'ԛǫ',
    r: 'гʀ',
    s: 'ѕꜱ',
    t: 'тτᴛ',
    u: 'υսᴜ',
    v: 'νѵᴠ',
    w: 'ԝωᴡ',
    x: 'хχ',
    y: 'уүʏγ',
    z: 'ᴢ',
    A: 'АΑ',
    B: 'ВΒ',
    C: 'СϹ',
    E: 'ЕΕ',
    H: 'НΗ',
    I: 'ІΙ',
    J: 'Ј',
    K: 'КΚ',
    M: 'МΜ',
    N: 'Ν',
    O: 'ОΟ',
    P: 'РΡ',
    S: 'Ѕ',
    T: 'ТΤ',
    X: 'ХΧ',
    Y: 'УΥ',
    Z: 'Ζ',
  }).flatMap(([latin, others]) => [...others].map((other) => [other, latin] as const)),
)

/** The text a reader takes it for, where letters of other scripts stand in for Latin ones. */
function foldLookAlikes(text: string): string {
  return text.normalize('NFKC').replace(/[^\x00-\x7f]/gu, (letter) => LOOK_ALIKES.get(letter) ?? letter)
}

/** Whether letters of other scripts could stand in for Latin ones: both in one word, or letters made for show. */
function mayHaveLookAlikes(text: string): boolean {
  return DRESSED.test(text)
}

const DRESSED =
  /[a-z][\u0250-\u02af\u0370-\u03ff\u0400-\u052f\u0531-\u058f\u1d00-\u1d7f\ua720-\ua7ff]|[\u0250-\u02af\u0370-\u03ff\u0400-\u052f\u0531-\u058f\u1d00-\u1d7f\ua720-\ua7ff][a-z]|[\u0131\u0251-\u02af\u1d00-\u1d7f]{3}|[\u2460-\u24ff\uff21-\uff5a]{3}|[\u{1d400}-\u{1d7ff}\u{1f130}-\u{1f189}]{3}|[\u0400-\u04ff]{3}/iu

const DIGITS: readonly (readonly [digit: string, letter: string])[] = Object.freeze(
  Object.entries({ 0: 'o', 1: 'i', 3: 'e', 4: 'a', 5: 's', 7: 't', '@': 'a', $: 's' }),
)

/** A text with letters for the digits that stand in for them. */
function foldDigits(text: string): string {
  return DIGITS.reduce((folded, [digit, letter]) => folded.replaceAll(digit, letter), text)
}

/** A text without anything between its letters: words drawn apart or cut up read as one row then. */
function squeeze(text: string): string {
  return text.replace(/[\s._*·-]+/g, '')
}

/** A pattern for `word` that also takes what {@link foldDigits} and {@link squeeze} would make into it. */
function looseForm(word: string): string {
  const letters = [...word].map((letter) => {
    const digits = DIGITS.filter(([, stood]) => stood === letter).map(([digit]) => digit)
    return digits.length === 0 ? letter : `[${letter}${digits.join('')}]`
  })
  return letters.join('[\\s._*·-]*')
}

const SPACED = /(?<!\w)(?:\w[ ._*-]){4,}\w(?!\w)(?:\s{2,}(?:\w[ ._*-])+\w(?!\w))*/g
const CUT_UP = /(?<![\w.])\w{1,5}(?:[._*·-]\w{1,5}){2,}(?![\w.])|(?<![\w.])\w{1,5}[._*·-]\w{1,5}(?![\w.])/g

/** What shows a part of a word in bold. */
const EMPHASIS = /(?<=\w)[*_]{1,3}(?=\w)|(?<=\w)[*_]{2,3}(?!\w)/g

/** Words whose letters were drawn apart, or that were cut up, closed again. */
function closeUp(text: string): string {
  const closed = text.replace(SPACED, (row) =>
    row
      // Where something else stands between the letters, a space stands between words.
      .split(/[._*-]/.test(row) ? /\s+/ : /\s{2,}/)
      .map((word) => word.replace(/[ ._*-]/g, ''))
      .join(' '),
  )
  return closed.replace(EMPHASIS, '').replace(CUT_UP, (word) => word.replace(/[._*·-]/g, ''))
}

/** Something in a text that tries to steer the agent behind the user's back. */
export interface ContextFinding {
  /** Stable name, for example `override-instructions`. */
  readonly rule: string
  /** Counted from 1. */
  readonly line: number
}

/**
 * Looks for attempts to take over the agent in text from outside: in the text as it is, without invisible characters, with look-alike
 * letters folded and words closed up, and in what it holds encoded. Pure; of the order of a millisecond for 100,000 characters.
 * A rule is reported once, where it first applies. @see 001 section 12.9
 */
export function scanContext(text: string): readonly ContextFinding[] {
  const findings = new Findings(text)
  const lower = text.toLowerCase()
  for (const { rule, at } of steeringIn(text, lower)) findings.add(rule, at)
  findings.add('invisible-text', findConcealed(text))
  const seen = /[^\x00-\x7f]/.test(text) ? asSeen(text, findings) : lower
  findings.addDisguised(seen)
  for (const run of decodeRuns(text))
    if (!steeringIn(run.text, run.text.toLowerCase()).next().done) findings.add('encoded-instructions', run.at)
  findings.add('encoded-instructions', findTurnedAround(lower))
  return findings.list
}

/** The text as a reader takes it, in lower case. */
function asSeen(text: string, findings: Findings): string {
  findings.add('invisible-text', findInvisible(text))
  const stripped = stripInvisible(text)
  if (stripped !== text && findings.list.length === 0) findings.addWhere('invisible-text', stripped)
  if (!mayHaveLookAlikes(stripped)) return stripped.toLowerCase()
  const folded = foldLookAlikes(stripped)
  if (findings.list.length === 0) findings.addWhere('look-alike-letters', folded)
  return folded.toLowerCase()
}

/** Letters, or bits of words, that all stand apart: nothing tells where a word ends. */
const IN_BITS = /(?<![a-z0-9])(?:[a-z0-9]{1,3}[\s._*·-]{1,3}){5,}[a-z0-9]{1,3}(?![a-z0-9])/g

/** An order to forget, with nothing between its letters. */
const SQUEEZED =
  /(?:ignore|disregard|forget|override|bypass)(?:all|any|every|of|the|your|these|previous|prior|above|earlier){1,5}(?:instruction|prompt|rule|directive|guideline|order)|(?:ignore|disregard|forget)(?:the|all|your)*(?:instruction|rule|prompt)s?(?:above|before)|youarenow(?:an?)?(?:unrestricted|free)|donottelltheuser/

/** How each of those begins, before its digits are folded and its gaps taken out: most texts hold nothing of the kind. */
const SQUEEZED_STARTS = new RegExp(
  ['ignore', 'disregard', 'forget', 'override', 'bypass', 'youarenow', 'donottelltheuser'].map(looseForm).join('|'),
)

class Findings {
  readonly list: ContextFinding[] = []
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  add(rule: string, at: number, text = this.#text): void {
    if (at < 0 || this.list.some((finding) => finding.rule === rule)) return
    this.list.push({ rule, line: text.slice(0, at).split('\n').length })
  }

  /** What only shows in another form of the text; that has the same lines. */
  addWhere(rule: string, form: string): void {
    for (const { at } of steeringIn(form, form.toLowerCase())) this.add(rule, at, form)
  }

  /** Words with digits for letters, drawn apart or cut up. What is plain to see is found without this. */
  addDisguised(seen: string): void {
    if (this.list.length > 0 || !SQUEEZED_STARTS.test(seen)) return
    const folded = foldDigits(seen)
    if (!SQUEEZED.test(squeeze(folded))) return
    this.addWhere('look-alike-letters', folded)
    if (this.list.length === 0) this.addWhere('look-alike-letters', closeUp(folded))
    if (this.list.length > 0) return
    for (const { 0: row, index } of folded.matchAll(IN_BITS))
      if (SQUEEZED.test(squeeze(row))) this.add('look-alike-letters', index, folded)
  }
}

/** What stands in the prompt in place of a file with findings. */
export function blockedContext(name: string, findings: readonly ContextFinding[]): string {
  const list = findings.map(({ rule, line }) => `${rule} in line ${line}`).join(', ')
  return `[BLOCKED: ${name} was left out because it may carry a prompt injection (${list}). Tell the user if it matters.]`
}

/** Characters that are never seen and have no business in a text: they carry words past a reader, or turn the order of what is shown. */
const HIDING =
  /\u034f|[\u17b4\u17b5]|[\u180b-\u180e]|[\u115f\u1160\u202a-\u202e\u2061-\u2064\u2066-\u206f\u3164\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/u
// Joiners and marks of direction belong to several scripts, zero-width spaces to line breaks, a byte order mark opens a file; none
// of them stands between Latin letters.
const TEARING =
  /(?<=[\x21-\x7e])[\u061c\u200b-\u200f\u2060\ufeff](?=[\x21-\x7e])|(?<=[\x20-\x7e])(?:\u200c|\u200d|\ufeff)(?=[\x20-\x7e])/
// A row of them spells bits or bytes; by itself a variation selector follows an emoji.
const ROW = /[\u200b-\u200d\u2060\ufeff]{3}|[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{3}/u
// The three flags of parts of the United Kingdom are spelt with tag characters.
const REGION_FLAG =
  /\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}/gu
const UNSEEN =
  /\u034f|[\u17b4\u17b5]|[\u180b-\u180e]|[\ufe00-\ufe0f]|[\u00ad\u061c\u115f\u1160\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|[\u{e0100}-\u{e01ef}]/gu

/** Where text stands that is not seen; -1 when there is none. */
function findInvisible(text: string): number {
  const plain = text.includes('\u{1f3f4}') ? text.replace(REGION_FLAG, (flag) => ' '.repeat(flag.length)) : text
  const places = [HIDING, TEARING, ROW].map((pattern) => plain.search(pattern)).filter((place) => place >= 0)
  return places.length === 0 ? -1 : Math.min(...places)
}

/** Where backspaces or terminal codes take text out of sight; -1 when they do not. */
function findConcealed(text: string): number {
  const backspaces = text.indexOf('\b\b\b')
  return backspaces >= 0 ? backspaces : text.includes('\u001b[') ? text.search(CONCEAL) : -1
}

const CONCEAL = /\u001b\[(?:[0-9;]*;)?8m/

/** `text` without what is not seen. */
function stripInvisible(text: string): string {
  return text.replace(UNSEEN, '')
}
