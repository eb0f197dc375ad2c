import { readFile, stat } from 'node:fs/promises'
import { isJsonObject, type JsonObject } from '@hermes/contracts'
import { writePrivate } from '@hermes/files'

/** A JSON object in the home's cache; empty when it is missing or damaged: a cache can always be made again. */
export async function readCache(file: string): Promise<JsonObject> {
  try {
    if (!(await stat(file)).isFile()) return {}
    const value: unknown = JSON.parse(await readFile(file, 'utf8'))
    return isJsonObject(value) ? value : {}
  } catch {
    return {}
  }
}

/** Replaces a file of the cache whole; a reader sees the old one or the new one. A home that cannot be written to is left alone. */
export async function writeCache(file: string, value: object): Promise<void> {
  await writePrivate(file, JSON.stringify(value)).catch(() => undefined)
}
