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
export function foldLookAlikes(text: string): string {
  return text.normalize('NFKC').replace(/[^\x00-\x7f]/gu, (letter) => LOOK_ALIKES.get(letter) ?? letter)
}

/** Whether letters of other scripts could stand in for Latin ones: both in one word, or letters made for show. */
export function mayHaveLookAlikes(text: string): boolean {
  return DRESSED.test(text)
}

const DRESSED =
  /[a-z][\u0250-\u02af\u0370-\u03ff\u0400-\u052f\u0531-\u058f\u1d00-\u1d7f\ua720-\ua7ff]|[\u0250-\u02af\u0370-\u03ff\u0400-\u052f\u0531-\u058f\u1d00-\u1d7f\ua720-\ua7ff][a-z]|[\u0131\u0251-\u02af\u1d00-\u1d7f]{3}|[\u2460-\u24ff\uff21-\uff5a]{3}|[\u{1d400}-\u{1d7ff}\u{1f130}-\u{1f189}]{3}|[\u0400-\u04ff]{3}/iu

const DIGITS: readonly (readonly [digit: string, letter: string])[] = Object.freeze(
  Object.entries({ 0: 'o', 1: 'i', 3: 'e', 4: 'a', 5: 's', 7: 't', '@': 'a', $: 's' }),
)

/** A text with letters for the digits that stand in for them. */
export function foldDigits(text: string): string {
  return DIGITS.reduce((folded, [digit, letter]) => folded.replaceAll(digit, letter), text)
}

/** A text without anything between its letters: words drawn apart or cut up read as one row then. */
export function squeeze(text: string): string {
  return text.replace(/[\s._*·-]+/g, '')
}

/** A pattern for `word` that also takes what {@link foldDigits} and {@link squeeze} would make into it. */
export function looseForm(word: string): string {
  const letters = [...word].map((letter) => {
    const digits = DIGITS.filter(([, stood]) => stood === letter).map(([digit]) => digit)
    return digits.length === 0 ? letter : `[${letter}${digits.join('')}]`
  })
  return letters.join('[\\s._*·-]*')
}

const SPACED = /(?<!\w)(?:\w[ ._*-]){4,}\w(?!\w)(?:\s{2,}(?:\w[ ._*-])+\w(?!\w))*/g
const CUT_UP = /(?<![\w.])\w{1,5}(?:[._*·-]\w{1,5}){2,}(?![\w.])|(?<![\w.])\w{1,5}[._*·-]\w{1,5}(?![\w.])/g

/** Words whose letters were drawn apart, or that were cut up, closed again. */
export function closeUp(text: string): string {
  const closed = text.replace(SPACED, (row) =>
    row
      .split(/\s{2,}/)
      .map((word) => word.replace(/[ ._*-]/g, ''))
      .join(' '),
  )
  return closed.replace(CUT_UP, (word) => word.replace(/[._*·-]/g, ''))
}
