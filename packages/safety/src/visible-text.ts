// Control characters, what changes the direction of text or has no width, and breaks of lines that only some programs know.
// Fillers are letters and marks, and show nothing either.
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]|\u034f|\u17b4|\u17b5/gu

/**
 * `text` with an escape such as `\u202e` in the place of each sign that a screen obeys or leaves out, so that whoever is asked about it
 * sees all of it. Line feeds and tabs stay.
 */
export function visibleText(text: string): string {
  return text.replace(HIDDEN, (sign) => (sign === '\n' || sign === '\t' ? sign : escapeOf(sign.codePointAt(0)!)))
}

function escapeOf(code: number): string {
  const digits = code.toString(16)
  if (code < 0x100) return `\\x${digits.padStart(2, '0')}`
  return code < 0x10000 ? `\\u${digits.padStart(4, '0')}` : `\\u{${digits}}`
}
