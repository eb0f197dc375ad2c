const MAX_RUNS = 200
const MAX_RUN_CHARS = 8_000

/** Something in another notation, as text. */
interface DecodedRun {
  readonly at: number
  readonly text: string
}

/** What stands in a text in another notation: base64, base32, hexadecimal, percent and character escapes. */
export function decodeRuns(text: string): readonly DecodedRun[] {
  return [
    ...runs(text, ALPHANUMERIC, fromAlphanumeric),
    ...(text.includes('%') ? runs(text, PERCENT, fromPercent) : []),
    ...(text.includes('&#') ? runs(text, ENTITIES, fromEntities) : []),
    ...(/\\[ux]/.test(text) ? runs(text, ESCAPES, fromEscapes) : []),
  ]
}

const ALPHANUMERIC =
  /(?<![A-Za-z0-9+/_-])(?:[A-Za-z0-9+/_-]{24,}(?:\r?\n[A-Za-z0-9+/_-]{16,})*|[A-Za-z0-9+/_-]{8,23}(?:\r?\n[A-Za-z0-9+/_-]{8,23}){2,}(?:\r?\n[A-Za-z0-9+/_-]{1,22})?)={0,6}/g
const PERCENT = /(?:%[0-9a-f]{2}){6,}[\w %.,'-]{0,200}/gi
const ENTITIES = /(?:&#(?:\d{2,6}|x[0-9a-f]{2,5});[\w ]{0,3}){4,}[\w .,'-]{0,200}/gi
const ESCAPES = /(?:\\u[0-9a-f]{4}|\\x[0-9a-f]{2}){4,}[\w .,'-]{0,200}/gi

function runs(text: string, pattern: RegExp, decode: (run: string) => string | null): DecodedRun[] {
  const found: DecodedRun[] = []
  let tried = 0
  for (const match of text.matchAll(pattern)) {
    if (++tried > MAX_RUNS) break
    const decoded = decode(match[0].slice(0, MAX_RUN_CHARS))
    if (decoded !== null && readsAsText(decoded)) found.push({ at: match.index, text: decoded })
  }
  return found
}

function fromAlphanumeric(run: string): string {
  const digits = run.replace(/[\s=]+/g, '')
  const text = fromDigits(digits)
  // What is encoded once more comes out as one word.
  return /^[A-Za-z0-9+/_-]{24,}={0,6}$/.test(text) ? fromDigits(text.replaceAll('=', '')) : text
}

function fromDigits(digits: string): string {
  if (/^(?:[0-9a-f]{2})+$/i.test(digits)) return Buffer.from(digits, 'hex').toString()
  return /^[A-Z2-7]+$/.test(digits) ? fromBase32(digits) : Buffer.from(digits, 'base64').toString()
}

/** Bytes of pictures and hashes come out as nonsense. */
function readsAsText(text: string): boolean {
  const letters = text.match(/[a-z ]/gi)?.length ?? 0
  return letters >= text.length * 0.75 && text.includes(' ')
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

function fromBase32(run: string): string {
  let bits = ''
  for (const letter of run) bits += ALPHABET.indexOf(letter).toString(2).padStart(5, '0')
  const bytes = bits.match(/.{8}/g) ?? []
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2))).toString()
}

function fromPercent(run: string): string | null {
  try {
    return decodeURIComponent(run)
  } catch {
    return null
  }
}

function fromEntities(run: string): string {
  return run.replace(/&#(x?)([0-9a-f]+);/gi, (_, hex: string, digits: string) => letter(digits, hex === '' ? 10 : 16))
}

function fromEscapes(run: string): string {
  return run.replace(/\\(?:u|x)([0-9a-f]{4}|[0-9a-f]{2})/gi, (_, digits: string) => letter(digits, 16))
}

function letter(digits: string, radix: number): string {
  const code = Number.parseInt(digits, radix)
  return code <= 0x10ffff ? String.fromCodePoint(code) : ''
}

const TURNED_HINTS: readonly string[] = Object.freeze([
  'vafgehpgvba',
  'cebzcg',
  'ehyr',
  'qverpgvir',
  'noitcurtsni',
  'tpmorp',
  'elur',
  'evitcerid',
  'enilediug',
])
const SHIFTED = /\b(?:vtaber|qvfertneq|sbetrg|bireevqr)\s+(?:\w+\s+){1,4}(?:vafgehpgvba|cebzcg|ehyr|qverpgvir)s?/i
const REVERSED =
  /\bs?(?:noitcurtsni|tpmorp|elur|evitcerid|enilediug)\s+(?:\w+\s+){1,4}(?:erongi|dragersid|tegrof|edirrevo)\b/i

/** Where the words of an order stand shifted by thirteen letters or written backwards; -1 when they do not. */
export function findTurnedAround(text: string): number {
  if (!TURNED_HINTS.some((hint) => text.includes(hint))) return -1
  const [shifted, reversed] = [text.search(SHIFTED), text.search(REVERSED)]
  return shifted >= 0 && reversed >= 0 ? Math.min(shifted, reversed) : Math.max(shifted, reversed)
}
