import { merge } from 'node-diff3'

const MAX_BYTES = 2 ** 20
// Time grows with the square of lines that are equal.
const MAX_LINES = 5_000
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Three states of one file. */
interface Versions {
  readonly base: Uint8Array
  readonly ours: Uint8Array
  readonly theirs: Uint8Array
}

/** Both changes to a text in one, line by line; `null` when they touch the same lines, or it is no text or a very long one. */
export function mergeText({ base, ours, theirs }: Versions): Buffer | null {
  const [baseLines, ourLines, theirLines] = [linesOf(base), linesOf(ours), linesOf(theirs)]
  if (!baseLines || !ourLines || !theirLines) return null
  const { conflict, result } = merge(ourLines, baseLines, theirLines)
  return conflict ? null : Buffer.from(result.join('\n'))
}

function linesOf(bytes: Uint8Array): string[] | null {
  if (bytes.length > MAX_BYTES || bytes.includes(0)) return null
  try {
    const lines = UTF8.decode(bytes).split('\n')
    return lines.length > MAX_LINES ? null : lines
  } catch {
    return null
  }
}
