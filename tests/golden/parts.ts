// Long texts that many requests share are stored once, in a file named after what they are and their hash.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = join(import.meta.dirname, 'parts')
const NAME = /<((?:system|tools|text) [0-9a-f]{12})>/g
const HASH_CHARS = 12
/** A text in a line of JSON that is long enough to be stored once. */
const LONG_TEXT = /"(?:[^"\\]|\\.){1000,}"/g

/** Texts of this run that no file holds yet, by name. */
const known = new Map<string, string>()

/** The name that stands for a text in a golden file. */
export function fold(kind: 'system' | 'tools' | 'text', text: string): string {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, HASH_CHARS)
  const name = `${kind} ${hash}`
  known.set(name, text)
  return `<${name}>`
}

/** A line of JSON with names in place of long texts. */
export function foldLongTexts(line: string): string {
  return line.replace(LONG_TEXT, (text) => `"${fold('text', text.slice(1, -1).replaceAll('\\n', '\n'))}"`)
}

/** The names in a golden text. */
export function partNames(text: string): readonly string[] {
  return [...new Set([...text.matchAll(NAME)].map(([, name]) => name!))]
}

/** What a name stands for. */
export function partText(name: string): string {
  const text = known.get(name)
  if (text !== undefined) return text
  const path = pathOf(name)
  return existsSync(path) ? readFileSync(path, 'utf8').slice(0, -1) : `(the part ${name} is not stored)`
}

/** Stores the parts that a golden text names. */
export function storeParts(text: string): void {
  mkdirSync(FOLDER, { recursive: true })
  for (const name of partNames(text)) writeFileSync(pathOf(name), `${partText(name)}\n`)
}

function pathOf(name: string): string {
  return join(FOLDER, `${name.replace(' ', '-')}.txt`)
}
