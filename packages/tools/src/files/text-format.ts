import { sniff } from './binary-kind.js'

/** What has to come back when a text is written to its file again. */
export interface TextFormat {
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be'
  readonly bom: boolean
  /** Whether lines of the first 4 KB end in CRLF. */
  readonly crlf: boolean
}

/** The format of a file that is not there yet. */
export const newFileFormat: TextFormat = Object.freeze({ encoding: 'utf-8', bom: false, crlf: false })

const CRLF_PROBE = 4096

/** Text without byte order mark, and its format; `null` when the bytes would not survive decoding and encoding. */
export function decodeText(bytes: Uint8Array): { readonly text: string; readonly format: TextFormat } | null {
  const sniffed = sniff(bytes)
  if (sniffed.type === 'binary') return null
  const body = bytes.subarray(sniffed.bomBytes)
  try {
    const text = new TextDecoder(sniffed.encoding, { fatal: true, ignoreBOM: true }).decode(body)
    const crlf = text.slice(0, CRLF_PROBE).includes('\r\n')
    return { text, format: { encoding: sniffed.encoding, bom: sniffed.bomBytes > 0, crlf } }
  } catch {
    return null
  }
}

/** The bytes of `text` in `format`; line ends are taken as they are. */
export function encodeText(text: string, format: TextFormat): Uint8Array {
  const marked = format.bom && !text.startsWith('\uFEFF') ? `\uFEFF${text}` : text
  if (format.encoding === 'utf-8') return new TextEncoder().encode(marked)
  const bytes = Buffer.from(marked, 'utf16le')
  return format.encoding === 'utf-16le' ? bytes : bytes.swap16()
}
