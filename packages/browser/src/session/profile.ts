import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writePrivate } from '@hermes/files'
import type { BrowserContext } from 'playwright-core'
import type { ZoneKind } from './zone.js'

type StorageState = Awaited<ReturnType<BrowserContext['storageState']>>

/** A page that does not answer any more holds no session up. */
const KEPT_WITHIN_MS = 5_000

/** Cookies and storage that outlive sessions, under a name that the person chose; pages of the public web and near ones apart. */
export class Profile {
  readonly #folder: string
  readonly #name: string

  constructor(folder: string, name: string) {
    this.#folder = folder
    this.#name = name
  }

  /** What was left the last time; `undefined` at first, or where it cannot be read. */
  async load(kind: ZoneKind): Promise<StorageState | undefined> {
    try {
      return JSON.parse(await readFile(this.#path(kind), 'utf8')) as StorageState
    } catch {
      return undefined
    }
  }

  /** Never rejects: what cannot be kept is lost with the session. */
  async keep(kind: ZoneKind, context: BrowserContext): Promise<void> {
    try {
      const late = AbortSignal.timeout(KEPT_WITHIN_MS)
      const isLate = new Promise<never>((_, reject) => late.addEventListener('abort', () => reject(late.reason)))
      const state = await Promise.race([context.storageState(), isLate])
      await writePrivate(this.#path(kind), JSON.stringify(state))
    } catch {}
  }

  #path(kind: ZoneKind): string {
    return join(this.#folder, `${this.#name}-${kind}.json`)
  }
}
