import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { errorLine, type Logger } from '@hermes/contracts'
import { writePrivate } from '@hermes/files'
import { SCANNER } from '@hermes/safety'
import type { SkillHead } from '../format/skill.js'

/** What was read of a SKILL.md while its facts were `state`. */
export interface CachedHead {
  readonly state: string
  readonly head: SkillHead | null
  /** Why there is no head. */
  readonly why: string
  /** What the scanner says of its description; `null` for nothing. */
  readonly rule: string | null
}

/** Of the form of the file, and of the scanner: what either changed in is read anew. */
const VERSION = `3 ${SCANNER}`

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
    const heads = JSON.stringify([...this.#heads])
    await writePrivate(this.#file, `${stampOf(heads)}\n${heads}`).catch((error: unknown) =>
      this.#logger.warn('The index of skills could not be kept.', { error: errorLine(error) }),
    )
  }
}

/** A file is believed by its sum: looking at the parts of each of hundreds of heads would take as long as reading them. */
async function read(file: string): Promise<Map<string, CachedHead>> {
  try {
    const text = await readFile(file, 'utf8')
    const end = text.indexOf('\n')
    const heads = text.slice(end + 1)
    return new Map(text.slice(0, end) === stampOf(heads) ? (JSON.parse(heads) as [string, CachedHead][]) : [])
  } catch {
    return new Map()
  }
}

const stampOf = (heads: string) => `${VERSION} ${createHash('sha256').update(heads).digest('hex')}`
