import type { ResilientModelClient } from '@hermes/models'

/** Whose calls a client makes. */
export interface ScopedAgent {
  readonly sessionId: string
  /** The session at the root of the tree of delegation; `null` for that one itself. */
  readonly rootSessionId: string | null
}

/** Knows which turn the root of each tree of agents is in, so that what it hands on counts for that turn. */
export class TurnScopes {
  readonly #turns = new Map<string, string>()

  /** The client for one agent: calls of a child say whom they are made for. */
  scoped(client: ResilientModelClient, { sessionId, rootSessionId }: ScopedAgent): ResilientModelClient {
    const { provider, model } = client
    return {
      provider,
      model,
      limits: () => client.limits(),
      stream: (request, options) => {
        if (rootSessionId === null) {
          if (options.turnId !== undefined) this.#turns.set(sessionId, options.turnId)
          return client.stream(request, options)
        }
        const turnId = this.#turns.get(rootSessionId)
        const root = { sessionId: rootSessionId, ...(turnId === undefined ? {} : { turnId }) }
        return client.stream(request, { ...options, root })
      },
    }
  }

  /** The agent of this session is done. */
  forget(sessionId: string): void {
    this.#turns.delete(sessionId)
  }
}
