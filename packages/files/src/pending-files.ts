import { randomBytes } from 'node:crypto'
import { readdir, readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type HermesError, isJsonObject, type JsonObject } from '@hermes/contracts'
import { writePrivate } from './write-private.js'

const MOST = 100

/** What {@link PendingFiles} are of. */
export interface PendingKind<Item> {
  /** An item of what a file holds; `null` where that is none. */
  readonly read: (value: JsonObject, id: string) => Item | null
  readonly tooMany: (most: number) => HermesError
  /** `word` as it was given, at most 40 characters of it; `open` says what waits. */
  readonly unknown: (word: string, open: string) => HermesError
}

/** Things that wait for the word of a person, a private file each, 100 at most. What is damaged is left out. */
export class PendingFiles<Item extends { readonly id: string; readonly atMs: number }> {
  readonly #directory: string
  readonly #kind: PendingKind<Item>

  constructor(directory: string, kind: PendingKind<Item>) {
    this.#directory = directory
    this.#kind = kind
  }

  /** @throws HermesError of `tooMany`, `files.not_writable` */
  async add(item: Omit<Item, 'id'>): Promise<Item> {
    if ((await this.list()).length >= MOST) throw this.#kind.tooMany(MOST)
    const whole = { id: randomBytes(3).toString('hex'), ...item } as unknown as Item
    await writePrivate(this.#fileOf(whole.id), `${JSON.stringify(whole, null, 2)}\n`)
    return whole
  }

  /** Oldest first. */
  async list(): Promise<readonly Item[]> {
    const names: readonly string[] = await readdir(this.#directory).catch(() => [])
    const files = names.filter((name) => /^[0-9a-f]{6}\.json$/.test(name))
    const all = await Promise.all(files.map((name) => this.#read(join(this.#directory, name))))
    return all.filter((one) => one !== null).toSorted((one, other) => one.atMs - other.atMs)
  }

  /** Those that the words mean: ids, or `all`. @throws HermesError of `unknown` */
  async named(words: readonly string[]): Promise<readonly Item[]> {
    const all = await this.list()
    if (words.length === 1 && words[0] === 'all') return all
    return words.map((word) => {
      const found = all.find(({ id }) => id === word)
      if (found) return found
      const open = all.length === 0 ? 'Nothing waits.' : `What waits: ${all.map(({ id }) => id).join(', ')}.`
      throw this.#kind.unknown(word.slice(0, 40), open)
    })
  }

  async remove(id: string): Promise<void> {
    await rm(this.#fileOf(id), { force: true })
  }

  /** The name of a file is its id: what it says itself could name any other file. */
  async #read(file: string): Promise<Item | null> {
    try {
      const value: unknown = JSON.parse(await readFile(file, 'utf8'))
      return isJsonObject(value) ? this.#kind.read(value, basename(file, '.json')) : null
    } catch {
      return null
    }
  }

  #fileOf(id: string): string {
    return join(this.#directory, `${id}.json`)
  }
}
