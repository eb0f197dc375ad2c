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
export function findInvisible(text: string): number {
  const plain = text.includes('\u{1f3f4}') ? text.replace(REGION_FLAG, (flag) => ' '.repeat(flag.length)) : text
  const places = [HIDING, TEARING, ROW].map((pattern) => plain.search(pattern)).filter((place) => place >= 0)
  return places.length === 0 ? -1 : Math.min(...places)
}

/** Where backspaces or terminal codes take text out of sight; -1 when they do not. */
export function findConcealed(text: string): number {
  const backspaces = text.indexOf('\b\b\b')
  return backspaces >= 0 ? backspaces : text.includes('\u001b[') ? text.search(CONCEAL) : -1
}

const CONCEAL = /\u001b\[(?:[0-9;]*;)?8m/

/** `text` without what is not seen. */
export function stripInvisible(text: string): string {
  return text.replace(UNSEEN, '')
}
