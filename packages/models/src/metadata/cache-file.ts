import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isJsonObject, type JsonObject } from '@hermes/contracts'

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
  const temporary = `${file}.${randomUUID()}.tmp`
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    await writeFile(temporary, JSON.stringify(value), { mode: 0o600 })
    await rename(temporary, file)
  } catch {
    await rm(temporary, { force: true }).catch(() => undefined)
  }
}
