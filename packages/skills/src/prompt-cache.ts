import { errorLine, type Logger } from '@hermes/contracts'
import { isSure } from './index/find-skill-folders.js'
import { type Grounds, stillHolds } from './index/skill-index.js'
import { readSummed, writeSummed } from './index/summed-file.js'
import type { SkillsSection } from './prompt-section.js'

/** What the prompt says of skills, and one line for each skill that is not right. */
export type PromptSkills = SkillsSection & { readonly problems: readonly string[] }

/** What the prompt said, with all that it came of. */
interface KeptSection {
  /** Where skills come from, how often they were used, and how much room there is. */
  readonly key: string
  readonly grounds: Grounds
  /** Folders that the person was asked about by their trust, and the answer. */
  readonly trust: readonly (readonly [folder: string, isTrusted: boolean])[]
  readonly section: PromptSkills
}

/**
 * What the prompt said of skills last, in a small file of its own: hundreds of skills are not read to say the same again. It is believed while
 * its key, the folders, and each file that it tells of are as they were.
 */
export class PromptCache {
  readonly #file: string
  readonly #version: string
  readonly #logger: Logger
  #known: string | null = null
  #saving: Promise<void> = Promise.resolve()

  /** `version`: of the form of what is said. */
  constructor(file: string, version: string, logger: Logger) {
    this.#file = file
    this.#version = version
    this.#logger = logger
  }

  /** What was said for this key, if it would be said again; `null` where that is not sure. Never rejects. */
  async read(key: string, isTrusted: (folder: string) => Promise<boolean>): Promise<PromptSkills | null> {
    this.#known ??= readSummed(this.#file, this.#version)
    if (this.#known === null) return null
    const kept = JSON.parse(this.#known) as KeptSection
    if (kept.key !== key || !stillHolds(kept.grounds)) return null
    for (const [folder, answer] of kept.trust) if ((await isTrusted(folder)) !== answer) return null
    return kept.section
  }

  /** Keeps it for the next start; {@link PromptCache.settle} waits for that. A file that cannot be written costs time, nothing else. */
  keep(kept: KeptSection): void {
    const text = JSON.stringify(kept)
    if (text === this.#known || !isSure(kept.grounds.looked)) return
    this.#known = text
    this.#saving = this.#saving.then(() =>
      writeSummed(this.#file, this.#version, text).catch((error: unknown) =>
        this.#logger.warn('What the prompt says of skills could not be kept.', { error: errorLine(error) }),
      ),
    )
  }

  /** Resolves once all is written. Never rejects. */
  settle(): Promise<void> {
    return this.#saving
  }
}
