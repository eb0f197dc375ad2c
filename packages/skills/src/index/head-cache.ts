import { errorLine, type Logger } from '@hermes/contracts'
import { SCANNER } from '@hermes/safety'
import type { SkillHead } from '../format/skill.js'
import { type LookedFolder, nothingAt } from './find-skill-folders.js'
import { readSummed, writeSummed } from './summed-file.js'

/** What was read of a SKILL.md while its facts were `state`. */
export interface CachedHead {
  readonly state: string
  readonly head: SkillHead | null
  /** Why there is no head. */
  readonly why: string
  /** What the scanner says of its description; `null` for nothing. */
  readonly rule: string | null
}

/** What lay below a root when it was looked at. */
interface CachedRoot {
  /** The folders that were looked into. */
  readonly looked: readonly LookedFolder[]
  /** Those of skills, by path. */
  readonly skills: readonly string[]
}

/** Of the form of the file, and of the scanner: what either changed in is read anew. */
export const HEADS_FORM = `4 ${SCANNER}`

/** What is kept: heads by folder, and what lay below roots. */
interface Kept {
  readonly heads: Map<string, CachedHead>
  readonly roots: Map<string, CachedRoot>
}

/** What heads said, by folder, in memory and in a file of the cache. A file that is damaged is one that is not there. */
export class HeadCache {
  readonly #file: string
  readonly #logger: Logger
  #kept: Kept | null = null
  #isChanged = false
  #saving: Promise<void> = Promise.resolve()
  /** Goes up with everything that is learnt. */
  version = 0

  constructor(file: string, logger: Logger) {
    this.#file = file
    this.#logger = logger
  }

  /** Reads the file, once. Never throws. */
  open(): void {
    this.#kept ??= read(this.#file)
  }

  /** Whether the file was read. */
  get isOpen(): boolean {
    return this.#kept !== null
  }

  /** What lay below a root when it was looked at last; nothing where it was not. */
  root(folder: string): CachedRoot {
    return this.#kept?.roots.get(folder) ?? { looked: nothingAt(folder), skills: [] }
  }

  setRoot(folder: string, root: CachedRoot): void {
    if (JSON.stringify(this.root(folder)) === JSON.stringify(root)) return
    this.#kept?.roots.set(folder, root)
    this.#learn()
  }

  /** What was read last of the SKILL.md of a folder, whatever it may say now. */
  last(folder: string): CachedHead | undefined {
    return this.#kept?.heads.get(folder)
  }

  /** What is known of a folder whose SKILL.md has these facts. */
  get(folder: string, state: string): CachedHead | undefined {
    const known = this.last(folder)
    return known?.state === state ? known : undefined
  }

  set(folder: string, cached: CachedHead): void {
    this.#kept?.heads.set(folder, cached)
    this.#learn()
  }

  #learn(): void {
    this.#isChanged = true
    this.version++
  }

  /** Writes the file anew where something was learnt. A cache that cannot be written costs time, nothing else. */
  save(): Promise<void> {
    // One after the other: what is older does not take the place of what is newer.
    this.#saving = this.#saving.then(() => this.#write())
    return this.#saving
  }

  async #write(): Promise<void> {
    if (!this.#isChanged || !this.#kept) return
    this.#isChanged = false
    const text = JSON.stringify([[...this.#kept.heads], [...this.#kept.roots]])
    await writeSummed(this.#file, HEADS_FORM, text).catch((error: unknown) =>
      this.#logger.warn('The index of skills could not be kept.', { error: errorLine(error) }),
    )
  }
}

/** A file is believed by its sum: looking at the parts of each of hundreds of heads would take as long as reading them. */
function read(file: string): Kept {
  const text = readSummed(file, HEADS_FORM)
  if (text === null) return { heads: new Map(), roots: new Map() }
  const [heads, roots] = JSON.parse(text) as [[string, CachedHead][], [string, CachedRoot][]]
  return { heads: new Map(heads), roots: new Map(roots) }
}
