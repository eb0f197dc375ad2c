const LATIN_WITH_MARKS = /[\u00c0-\u024f\u1e00-\u1eff]/
const IS_ASCII = /^[\0-\x7f]*$/
/** As many as a letter has in any script, and more than people type (UAX #15 calls such texts stream-safe). */
const MARKS_BEYOND = /(\p{M}{30})\p{M}+/gu

/** Takes the accents off Latin letters without moving any of them. */
export function withoutAccents(text: string): string {
  if (!LATIN_WITH_MARKS.test(text)) return text
  const plain = new Map<number, number>()
  const codes = new Uint16Array(text.length)
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const isLatin = (code >= 0xc0 && code <= 0x24f) || (code >= 0x1e00 && code <= 0x1eff)
    codes[at] = isLatin ? (plain.get(code) ?? baseOf(code, plain)) : code
  }
  return Buffer.from(codes.buffer).toString('utf16le')
}

function baseOf(code: number, plain: Map<number, number>): number {
  const base = String.fromCharCode(code).normalize('NFD').charCodeAt(0)
  plain.set(code, base)
  return base
}

/** `normalize`, which sorts the marks of each letter, in time that grows with the length: marks beyond the thirtieth of a letter go. */
export function normalized(text: string, form: 'NFC' | 'NFD'): string {
  return IS_ASCII.test(text) ? text : text.replace(MARKS_BEYOND, '$1').normalize(form)
}
