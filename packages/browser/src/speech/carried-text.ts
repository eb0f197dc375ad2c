// Whether what is sent carries a text, as it is or in the ways in which texts are usually hidden.

/** A run of a longer text that is as long as this gives it away. */
const WINDOW = 12
const STRIDE = 6
/** Shorter texts stand in anything. */
const SHORTEST = 6
/** Of one request; what is longer is judged by its beginning. */
const MOST_SENT = 64_000

/** Pieces that give texts away, by their lengths. */
export type Pieces = Map<number, Set<string>>

/** Adds what gives a text away: its runs, or the whole of a short one. */
export function addPieces(text: string, pieces: Pieces): void {
  const plain = lettersOf(text)
  if (plain.length < SHORTEST) return
  const length = Math.min(plain.length, WINDOW)
  const known = pieces.get(length) ?? new Set()
  pieces.set(length, known)
  for (let at = 0; at + length <= plain.length; at += STRIDE) known.add(plain.slice(at, at + length))
}

/** Whether a text that is sent holds one of the pieces: plain, percent-encoded, base64, hexadecimal or backwards. */
export function carries(sent: string, pieces: Pieces): boolean {
  return pieces.size > 0 && spellings(sent.slice(0, MOST_SENT)).some((one) => holds(lettersOf(one), pieces))
}

function holds(plain: string, pieces: Pieces): boolean {
  for (const [length, known] of pieces)
    for (let at = 0; at + length <= plain.length; at++) if (known.has(plain.slice(at, at + length))) return true
  return false
}

/** Letters and digits alone, so that neither signs between them nor capitals matter. */
function lettersOf(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '')
}

function spellings(sent: string): readonly string[] {
  const plain = decoded(decoded(sent))
  const forwards = [plain, plain.replaceAll('+', ' '), unescaped(plain), ...unpacked(plain)]
  return [...forwards, ...forwards.map((text) => [...text].reverse().join(''))]
}

/** Percent signs that stand for something; others stay. */
function decoded(text: string): string {
  return text.replace(/(?:%[\da-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'))
}

function unescaped(text: string): string {
  return text.replace(/\\u([\da-f]{4})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
}

/** What runs of base64 and of hexadecimal digits stand for. */
function unpacked(text: string): readonly string[] {
  const packed = [...text.matchAll(/[\w+/-]{8,}/g)].map(([run]) => Buffer.from(run, 'base64').toString('utf8'))
  const digits = [...text.matchAll(/(?:[\da-f]{2}){6,}/gi)].map(([run]) => Buffer.from(run, 'hex').toString('utf8'))
  return [packed.join(' '), digits.join(' ')]
}
