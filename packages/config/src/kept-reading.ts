// What was read of config.yaml and permissions.yaml, so that the next start needs no YAML: the library that reads it costs a start two milliseconds and more.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { writePrivate } from '@hermes/files'
import { isMap, type Path } from './check-field.js'
import { readText } from './files.js'
import { homeLayout } from './home.js'
import { parseYaml, type ReadYaml } from './yaml-file.js'

/** Another one where this or the library reads a text otherwise than before. */
const FORM = 1
/** Of more values than that nobody keeps where each stands. */
const MOST_PLACES = 5_000

/** What a text says, and from where that is known. */
export interface KnownYaml extends ReadYaml {
  /** Whether it comes from what was kept. */
  readonly isKept: boolean
}

interface Kept {
  readonly sum: string
  readonly value: unknown
  /** By path: line and column of the value, those of its key, and how a number is written. */
  readonly places: Readonly<Record<string, readonly [number, number, number, number, source?: string]>>
}

/** A file of a home and the text it has. */
interface OfHome {
  readonly home: string
  readonly name: 'config' | 'permissions'
  readonly text: string
}

/** Where the copies of configurations are that loaded cleanly, and what was read. */
export function copyFolder(home: string): string {
  return join(homeLayout(home).backups, 'config')
}

const fileOf = ({ home, name }: OfHome) => join(copyFolder(home), `${name}.yaml.read`)

/** The text stays out of it: it may hold keys, and two files would have them. */
const sumOf = (text: string) => createHash('sha256').update(`${FORM}\n${text}`).digest('hex')

/** What the text says: from what was kept of it, else by reading it. Never rejects. */
export async function readYaml(from: OfHome): Promise<KnownYaml> {
  const kept = await keptReading(from)
  return kept ?? { ...(await parseYaml(from.text)), isKept: false }
}

async function keptReading(from: OfHome): Promise<KnownYaml | null> {
  try {
    const { sum, value, places } = JSON.parse((await readText(fileOf(from))) ?? 'null') as Kept
    if (sum !== sumOf(from.text)) return null
    const placeAt = (path: Path) => {
      const key = JSON.stringify(path)
      return Object.hasOwn(places, key) ? places[key] : undefined
    }
    const nearest = (path: Path) => {
      for (let length = path.length; length >= 0; length--) {
        const place = placeAt(path.slice(0, length))
        if (place) return place
      }
      return START
    }
    const at = (line: number, column: number) => ({ line, column })
    return {
      ...{ isKept: true, value, fault: null },
      locate: (path) => at(nearest(path)[0], nearest(path)[1]),
      locateKey: (path) => at((placeAt(path) ?? START)[2], (placeAt(path) ?? START)[3]),
      sourceOf: (path) => placeAt(path)?.[4],
    }
  } catch {
    return null
  }
}

const START = [1, 1, 1, 1] as const

/** Keeps what a text was read as, unless it is kept, says less than the text, or is very much. Rejects as the disk does. */
export async function keepReading(from: OfHome, yaml: KnownYaml): Promise<void> {
  if (yaml.isKept) return
  const places: [string, Kept['places'][string]][] = []
  const look = (item: unknown, path: Path) => {
    if (places.length > MOST_PLACES) return
    const [place, key] = [yaml.locate(path), yaml.locateKey(path)]
    const source = yaml.sourceOf(path)
    const numbers = [place.line, place.column, key.line, key.column] as const
    places.push([JSON.stringify(path), source === undefined ? numbers : [...numbers, source]])
    if (Array.isArray(item)) for (const [index, one] of item.entries()) look(one, [...path, index])
    else if (isMap(item)) for (const [name, one] of Object.entries(item)) look(one, [...path, name])
  }
  look(yaml.value, [])
  if (places.length > MOST_PLACES) return
  const kept: Kept = { sum: sumOf(from.text), value: yaml.value, places: Object.fromEntries(places) }
  const text = JSON.stringify(kept)
  if (isDeepStrictEqual((JSON.parse(text) as Kept).value, yaml.value)) await writePrivate(fileOf(from), text)
}
