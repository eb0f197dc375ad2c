/** Tags, zero-width letters, marks that turn the direction around, control characters: what a person does not see and a model reads. */
const UNSEEN =
  /[\u{E0000}-\u{E007F}\u200B-\u200F\u202A-\u202E\u2060-\u2064\u2066-\u206F\uFEFF\u00AD]|[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/gu

/** Text of a server without what nobody sees, at most `maxChars` long. */
export function cleanText(text: string, maxChars: number): string {
  const clean = text.replace(UNSEEN, '').toWellFormed()
  return clean.length <= maxChars ? clean : `${clean.slice(0, maxChars).toWellFormed()}…`
}

/** The same on one line. */
export function cleanLine(text: string, maxChars: number): string {
  return cleanText(text.replace(/\s+/g, ' ').trim(), maxChars)
}
