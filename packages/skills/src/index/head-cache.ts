import { readFile } from 'node:fs/promises'
import { errorLine, isJsonObject, type JsonObject, type Logger } from '@hermes/contracts'
import { writePrivate } from '@hermes/files'
import { isSkillHead, type SkillHead } from '../format/skill.js'

/** What was read of a SKILL.md while its facts were `state`. */
export interface CachedHead {
  readonly state: string
  readonly head: SkillHead | null
  /** Why there is no head. */
  readonly why: string
}

const VERSION = 2

/** What heads said, by folder, in memory and in a file of the cache. A file that is damaged is one that is not there. */
export class HeadCache {
  readonly #file: string
  readonly #logger: Logger
  #heads: Map<string, CachedHead> | null = null
  #isChanged = false

  constructor(file: string, logger: Logger) {
    this.#file = file
    this.#logger = logger
  }

  async open(): Promise<void> {
    this.#heads ??= await read(this.#file)
  }

  /** What is known of a folder whose SKILL.md has these facts. */
  get(folder: string, state: string): CachedHead | undefined {
    const known = this.#heads?.get(folder)
    return known?.state === state ? known : undefined
  }

  set(folder: string, cached: CachedHead): void {
    this.#heads?.set(folder, cached)
    this.#isChanged = true
  }

  /** Writes the file anew where something was learnt. A cache that cannot be written costs time, nothing else. */
  async save(): Promise<void> {
    if (!this.#isChanged || !this.#heads) return
    this.#isChanged = false
    const heads = Object.fromEntries(this.#heads)
    await writePrivate(this.#file, JSON.stringify({ version: VERSION, heads })).catch((error: unknown) =>
      this.#logger.warn('The index of skills could not be kept.', { error: errorLine(error) }),
    )
  }
}

async function read(file: string): Promise<Map<string, CachedHead>> {
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'))
    if (!isJsonObject(value) || value['version'] !== VERSION || !isJsonObject(value['heads'])) return new Map()
    return new Map(
      Object.entries(value['heads']).filter((entry): entry is [string, CachedHead & JsonObject] => isCached(entry[1])),
    )
  } catch {
    return new Map()
  }
}

function isCached(value: unknown): boolean {
  if (!isJsonObject(value) || typeof value['state'] !== 'string' || typeof value['why'] !== 'string') return false
  return value['head'] === null ? value['why'] !== '' : isSkillHead(value['head'])
}
