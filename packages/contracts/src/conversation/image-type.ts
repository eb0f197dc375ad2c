const SIGNATURES = [
  ['image/png', '\u0089PNG\r\n\u001A\n', 0],
  ['image/jpeg', '\u00FF\u00D8\u00FF', 0],
  ['image/gif', 'GIF8', 0],
  ['image/webp', 'WEBP', 8],
] as const

/** The most bytes of an image that goes into a conversation; endpoints that take less get a smaller copy. */
export const MAX_IMAGE_BYTES = 10 * 1024 * 1024

/** The IANA media type of an image that models take (PNG, JPEG, GIF, WebP), by its first bytes; `null` for everything else. Pure. */
export function imageType(bytes: Uint8Array): string | null {
  const beginning = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 12)).toString('latin1')
  const found = SIGNATURES.find(([, signature, at]) => beginning.startsWith(signature, at))
  return found?.[0] ?? null
}
