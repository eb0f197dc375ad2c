import { isJsonObject } from '@hermes/contracts'
import { writePrivate } from '@hermes/files'
import { MEMORY_TARGETS, type MemoryTarget, readMemoryFile } from './memory-files.js'

/** One change of a store, kept so that it can be undone. */
export interface MemoryRecord {
  readonly atMs: number
  readonly target: MemoryTarget
  /** Who made it, for example a session id or `command line`. */
  readonly origin: string
  /** The file before and after. */
  readonly before: string
  readonly after: string
}

const KEPT = 100
/** Of files that hold nonsense fewer changes are kept, the newest always. */
const KEPT_CHARS = 20_000_000
const MAX_BYTES = 100_000_000

/** The changes that a file of JSON lines holds, oldest first; lines that are none are skipped. */
export async function readHistory(file: string): Promise<readonly MemoryRecord[]> {
  const text = await readMemoryFile(file, MAX_BYTES).catch(() => '')
  return text.split('\n').flatMap((line) => {
    try {
      const record: unknown = JSON.parse(line)
      return isRecord(record) ? [record] : []
    } catch {
      return []
    }
  })
}

function isRecord(value: unknown): value is MemoryRecord {
  if (!isJsonObject(value)) return false
  const { atMs, target, origin, before, after } = value
  const isKnown = MEMORY_TARGETS.some((known) => known === target)
  return isKnown && Number.isSafeInteger(atMs) && [origin, before, after].every((text) => typeof text === 'string')
}

/** Keeps the newest hundred, or as many as take 20 MB. */
export async function writeHistory(file: string, records: readonly MemoryRecord[]): Promise<void> {
  let chars = 0
  const lines = records
    .slice(-KEPT)
    .map((record) => `${JSON.stringify(record)}\n`)
    .reverse()
    .filter(({ length }, index) => (chars += length) <= KEPT_CHARS || index === 0)
  await writePrivate(file, lines.reverse().join(''))
}
