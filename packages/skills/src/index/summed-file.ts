// A file of the cache with a sum over it: what is damaged, or of another form, is as if it were not there.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { writePrivate } from '@hermes/files'

/** What a file holds, if it was written whole and under the same `version`; `null` for any other. Never throws. */
export function readSummed(file: string, version: string): string | null {
  try {
    const text = readFileSync(file, 'utf8')
    const end = text.indexOf('\n')
    const kept = text.slice(end + 1)
    return text.slice(0, end) === sumOf(kept, version) ? kept : null
  } catch {
    return null
  }
}

/** Writes it whole. Rejects as the disk does. */
export async function writeSummed(file: string, version: string, kept: string): Promise<void> {
  await writePrivate(file, `${sumOf(kept, version)}\n${kept}`)
}

const sumOf = (kept: string, version: string) => createHash('sha256').update(`${version}\n`).update(kept).digest('hex')
