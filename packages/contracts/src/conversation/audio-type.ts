/** The IANA media type of a recording that models take (WAV, MP3), by its first twelve bytes; `null` for everything else. Pure. */
export function audioType(bytes: Uint8Array): string | null {
  const beginning = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 12)).toString('latin1')
  if (beginning.startsWith('RIFF') && beginning.startsWith('WAVE', 8)) return 'audio/wav'
  return /^(?:ID3|\u00FF[\u00FB\u00F3\u00F2\u00FA])/.test(beginning) ? 'audio/mpeg' : null
}
