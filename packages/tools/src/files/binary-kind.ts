import { isUtf8 } from 'node:buffer'

type Signature = readonly [kind: string, hex: string, offset?: number]

const ascii = (text: string) => Buffer.from(text, 'latin1').toString('hex')

const SIGNATURES: readonly Signature[] = [
  ['PNG image', '89504e470d0a1a0a'],
  ['JPEG image', 'ffd8ff'],
  ['GIF image', ascii('GIF8')],
  ['WebP image', ascii('WEBP'), 8],
  ['TIFF image', '49492a00'],
  ['TIFF image', '4d4d002a'],
  ['icon', '00000100'],
  ['PDF document', ascii('%PDF-')],
  ['ZIP archive or Office document', '504b0304'],
  ['gzip archive', '1f8b'],
  ['bzip2 archive', ascii('BZh')],
  ['xz archive', 'fd377a585a00'],
  ['7-Zip archive', '377abcaf271c'],
  ['Zstandard archive', '28b52ffd'],
  ['RAR archive', ascii('Rar!')],
  ['tar archive', ascii('ustar'), 257],
  ['ELF executable', '7f454c46'],
  ['Mach-O executable', 'cffaedfe'],
  ['Java class or universal Mach-O', 'cafebabe'],
  ['WebAssembly module', '0061736d'],
  ['SQLite database', ascii('SQLite format 3')],
  ['MP4 video', ascii('ftyp'), 4],
  ['Matroska or WebM video', '1a45dfa3'],
  ['AVI video', ascii('AVI '), 8],
  ['WAV audio', ascii('WAVE'), 8],
  ['MP3 audio', ascii('ID3')],
  ['Ogg audio', ascii('OggS')],
  ['FLAC audio', ascii('fLaC')],
  ['WOFF font', ascii('wOF')],
  ['TrueType font', '0001000000'],
  ['Parquet data', ascii('PAR1')],
  ['Windows executable', ascii('MZ')],
  ['BMP image', ascii('BM')],
]

const PARITY_BYTES = 512

/** How much of a file's start {@link sniff} wants to see, in bytes. */
const SNIFF_BYTES = 8192

/** How to decode a file, or what kind of binary it is. */
export type Sniffed =
  | { readonly type: 'text'; readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be'; readonly bomBytes: number }
  | { readonly type: 'binary'; readonly kind: string }

/** Tells text from binary by a file's start. Text is UTF-8, or UTF-16 by its mark or its zero bytes; others are never guessed. */
export function sniff(start: Uint8Array): Sniffed {
  const bytes = Buffer.from(start.buffer, start.byteOffset, Math.min(start.length, SNIFF_BYTES))
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return { type: 'text', encoding: 'utf-16le', bomBytes: 2 }
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return { type: 'text', encoding: 'utf-16be', bomBytes: 2 }
  if (bytes.subarray(0, 5).toString('latin1') === '%PDF-') return { type: 'binary', kind: 'PDF document' }
  if (!bytes.includes(0) && isUtf8Start(bytes)) {
    return { type: 'text', encoding: 'utf-8', bomBytes: bytes.subarray(0, 3).toString('hex') === 'efbbbf' ? 3 : 0 }
  }
  const encoding = unmarkedUtf16(bytes)
  return encoding === null ? { type: 'binary', kind: kindOf(bytes) } : { type: 'text', encoding, bomBytes: 0 }
}

/** Every other byte of such a text is mostly zero, and none of its characters is a control character. */
function unmarkedUtf16(bytes: Buffer): 'utf-16le' | 'utf-16be' | null {
  const start = bytes.subarray(0, PARITY_BYTES & ~1)
  const zeros = (from: number) => start.filter((byte, index) => index % 2 === from && byte === 0).length
  const pairs = start.length >> 1
  const [even, odd] = [zeros(0), zeros(1)]
  if (pairs < 4 || Math.min(even, odd) > 0 || Math.max(even, odd) < pairs * 0.8) return null
  const encoding = odd > 0 ? 'utf-16le' : 'utf-16be'
  const text = new TextDecoder(encoding).decode(start.subarray(0, pairs * 2))
  return /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.test(text) ? null : encoding
}

/** Up to three bytes at the end may belong to a character that goes on behind the sample. */
function isUtf8Start(bytes: Buffer): boolean {
  const cuts = bytes.length < SNIFF_BYTES ? [0] : [0, 1, 2, 3]
  return cuts.some((cut) => isUtf8(bytes.subarray(0, bytes.length - cut)))
}

function kindOf(bytes: Buffer): string {
  for (const [kind, hex, offset = 0] of SIGNATURES) {
    if (bytes.subarray(offset, offset + hex.length / 2).toString('hex') === hex) return kind
  }
  return bytes.includes(0) ? 'binary data' : 'text in an encoding other than UTF-8, or binary data'
}
