import type { ChildInfo } from '@hermes/agent-core'
import type { Runtime } from '@hermes/runtime'
import type { Seat } from './seat.js'

/** Whether tasks in the background have something to say to a conversation that is idle. */
export class BackgroundNews {
  readonly #storage: Runtime['storage']
  readonly #notified: (child: ChildInfo) => void
  #stopWatching: () => void = () => undefined
  /** A task has ended, and the last run was not stopped. */
  #isDue = false

  constructor(options: { readonly storage: Runtime['storage']; readonly notified: (child: ChildInfo) => void }) {
    this.#storage = options.storage
    this.#notified = options.notified
  }

  /** Looks after the tasks of this seat from now on, and of no other. */
  watch({ children }: Pick<Seat, 'children'>): void {
    this.#stopWatching()
    this.#stopWatching = children.watch((child) => {
      if (!child.isBackground || child.endedAtMs === null) return
      this.#isDue = true
      this.#notified(child)
    })
  }

  get isDue(): boolean {
    return this.#isDue
  }

  /** They have been heard, or nobody wants to hear them by themselves. */
  settle(): void {
    this.#isDue = false
  }

  /** How many results nobody has told the agent yet. */
  async waiting({ agent }: Pick<Seat, 'agent'>): Promise<number> {
    const { inbox } = await this.#storage()
    return (await inbox.waiting(agent.sessionId)).length
  }
}
