import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { isJsonObject } from '@hermes/contracts'
import { writePrivate } from '@hermes/files'

/** What had tainted the session that wrote an entry, by names for a person; by the hash of the entry, so that a mark stays however it comes back. */
export type Marks = ReadonlyMap<string, readonly string[]>

const MOST = 1_000
const MOST_NAMES = 5
/** Of entries whose marks were lost. */
const LOST: readonly string[] = ['what is not known any more']

/** Why no person has confirmed an entry; `null` for one that needs no confirmation. */
export function markOf(marks: Marks, entry: string): readonly string[] | null {
  return marks.get(hash(entry)) ?? null
}

/** Marks for entries of a session that was tainted by `because`; with none, they are taken off. */
export function withMarks(marks: Marks, entries: readonly string[], because: readonly string[]): Marks {
  const changed = new Map(marks)
  for (const entry of entries) {
    changed.delete(hash(entry))
    if (because.length > 0) changed.set(hash(entry), because.slice(-MOST_NAMES))
  }
  return new Map([...changed].slice(-MOST))
}

/** The marks in a file; none where there is no file, and every entry of `all` is marked where it cannot be read any more. */
export async function readMarks(file: string, all: () => Promise<readonly string[]>): Promise<Marks> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) =>
    error.code === 'ENOENT' ? '{"entries":{}}' : '',
  )
  return parse(text) ?? withMarks(new Map(), await all(), LOST)
}

/** @throws HermesError `files.not_writable` */
export async function writeMarks(file: string, marks: Marks): Promise<void> {
  await writePrivate(file, `${JSON.stringify({ version: 1, entries: Object.fromEntries(marks) })}\n`)
}

const hash = (entry: string) => createHash('sha256').update(entry).digest('hex')

function parse(text: string): Marks | null {
  try {
    const { entries } = JSON.parse(text) as { readonly entries?: unknown }
    if (!isJsonObject(entries)) return null
    const names = (value: unknown) => (Array.isArray(value) && value.length > 0 ? value.map(String) : LOST)
    return new Map(Object.entries(entries).map(([key, value]) => [key, names(value)]))
  } catch {
    return null
  }
}
