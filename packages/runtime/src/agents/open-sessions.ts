import type { ModelChoice } from '../models/model-choice.js'

interface OpenSession {
  readonly choice: ModelChoice
  /** `null` for the owner of the home. */
  readonly person: string | null
}

/** The sessions of a home that are open: who answers in each, and whom it serves. */
export class OpenSessions {
  readonly #sessions = new Map<string, OpenSession>()

  ids(): readonly string[] {
    return [...this.#sessions.keys()]
  }

  /** Who answers in a session that is open. */
  choiceOf(id: string): ModelChoice | undefined {
    return this.#sessions.get(id)?.choice
  }

  /** Whom a session serves that is open; `undefined` for any other. */
  personOf(id: string): string | null | undefined {
    return this.#sessions.get(id)?.person
  }

  set(id: string, session: OpenSession): void {
    this.#sessions.set(id, session)
  }

  delete(id: string): void {
    this.#sessions.delete(id)
  }
}
