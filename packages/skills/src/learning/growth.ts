import type { Entry } from '@hermes/contracts/conversation'
import type { Curator } from '../curator/curator.js'
import type { SkillWriter } from '../library/skill-writer.js'
import type { SkillLibrary } from '../skill-library.js'
import { isWorthALook, lookBack } from './look-back.js'
import { addPitfalls } from './pitfalls.js'

/** A session that was left. */
export interface LeftSession {
  readonly sessionId: string
  /** Where it began: `cli`, `oneshot` … */
  readonly platform: string
  /** Whose it is; `null` for the owner of the home. */
  readonly person: string | null
  /** What of its log was not looked back at yet. */
  readonly entries: readonly Entry[]
  /** Names of text from outside that it had read, in any part of its log. */
  readonly taintedBy: readonly string[]
  /** Absolute. */
  readonly cwd: string
  readonly signal: AbortSignal
}

/** Runs without a person write no skills, and other people's sessions teach the owner's agent nothing. */
const UNATTENDED: ReadonlySet<string> = new Set(['oneshot', 'cron'])

/** What is learnt of sessions when nobody is in them any more. */
export class Growth {
  readonly #library: SkillLibrary
  readonly #writer: SkillWriter
  readonly #curator: Curator

  constructor(parts: { readonly library: SkillLibrary; readonly writer: SkillWriter; readonly curator: Curator }) {
    this.#library = parts.library
    this.#writer = parts.writer
    this.#curator = parts.curator
  }

  /**
   * Ends the trials of skills that were no help, makes pitfalls of failures that were met again and again, looks back at the session, and has the
   * curator do its round when it is due. Resolves with whether a model was asked. Rejects as the model and the store do.
   */
  async afterSession(left: LeftSession): Promise<boolean> {
    const { sessionId, platform, person, entries, taintedBy, cwd, signal } = left
    const { home } = this.#library
    let usedModel = false
    if (person === null) await this.#curator.endTrials()
    if (person === null && !UNATTENDED.has(platform)) {
      await addPitfalls(this.#library, this.#writer)
      if (home.settings.look_back && isWorthALook(entries)) {
        usedModel = true
        const ask = (request: { readonly system: string; readonly text: string }) =>
          home.ask({ task: 'background_review', ...request }, { sessionId, signal })
        await lookBack(
          { id: sessionId, entries, taintedBy, cwd },
          { library: this.#library, writer: this.#writer, ask },
        )
      }
    }
    if (!(await this.#curator.isDue())) return usedModel
    const { proposed } = await this.#curator.run({ isDry: false, signal })
    return usedModel || proposed.length > 0
  }
}
