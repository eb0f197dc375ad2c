/** How far into a page its own word on its encoding may stand. @see https://html.spec.whatwg.org/#prescan-a-byte-stream-to-determine-its-encoding */
const PRESCAN_BYTES = 1_024

/**
 * The text of bytes: by the mark they begin with, else as the server says, else as the page itself does, else UTF-8. An encoding that is
 * unknown, or that they cannot be in, gives way to the next.
 */
export function decodeText(bytes: Uint8Array, charset: string): string {
  const head = Buffer.from(bytes.subarray(0, PRESCAN_BYTES)).toString('latin1')
  const declared = /<meta[^>]+charset\s*=\s*["']?([\w:.-]+)|^<\?xml[^>]+encoding\s*=\s*["']([\w:.-]+)/i.exec(head)
  const labels = [markOf(bytes), charset, declared?.[1] ?? declared?.[2] ?? '']
  for (const label of labels) {
    const text = label === '' ? null : decoded(bytes, label)
    if (text !== null) return text
  }
  return decoded(bytes, 'utf-8') ?? new TextDecoder('windows-1252').decode(bytes)
}

function markOf(bytes: Uint8Array): string {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  return bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : ''
}

/** `null` where the encoding is unknown, or more than a few of the bytes are none of it: the end of a page may be cut off. */
function decoded(bytes: Uint8Array, label: string): string | null {
  try {
    const text = new TextDecoder(label).decode(bytes)
    return text.split('\ufffd').length - 1 > text.length / 500 + 1 ? null : text
  } catch {
    return null
  }
}
