import type { CallScope, ModelClient } from '@hermes/contracts/model'
import type { ResilientModelClient } from '@hermes/models'

/** Whose calls a client makes. */
interface ScopedAgent {
  readonly sessionId: string
  /** The session at the root of the tree of delegation; `null` for that one itself. */
  readonly rootSessionId: string | null
}

/** Knows which turn the root of each tree of agents is in, so that what it delegates counts for that turn. */
export class TurnScopes {
  readonly #turns = new Map<string, string>()
  readonly #roots = new Map<string, string>()

  /** The client for one agent: calls of a child say whom they are made for. */
  scoped(client: ResilientModelClient, { sessionId, rootSessionId }: ScopedAgent): ResilientModelClient {
    const { provider, model } = client
    if (rootSessionId !== null) this.#roots.set(sessionId, rootSessionId)
    return {
      provider,
      model,
      limits: () => client.limits(),
      nextEndpoint: (turnId) => client.nextEndpoint(turnId),
      prefixCache: async (request, used, scope) => {
        const whole = rootSessionId === null ? scope : { ...scope, ...this.scopeOf(sessionId) }
        return (await client.prefixCache?.(request, used, whole)) ?? null
      },
      stream: (request, options) => {
        if (rootSessionId === null) {
          if (options.turnId !== undefined) this.#turns.set(sessionId, options.turnId)
          return client.stream(request, options)
        }
        return client.stream(request, { ...options, ...this.scopeOf(sessionId) })
      },
    }
  }

  /** For whom a call beside those of an agent is made, such as a summary; `isInTurn` says whether the agent is at work. */
  scopeOf(sessionId: string, isInTurn = true): Omit<CallScope, 'purpose'> {
    const root = this.#roots.get(sessionId)
    const turnId = isInTurn ? this.#turns.get(root ?? sessionId) : undefined
    const turn = turnId === undefined ? {} : { turnId }
    return root === undefined ? { sessionId, ...turn } : { sessionId, root: { sessionId: root, ...turn } }
  }

  /** The client for tools: calls count for the turn of the session they name. */
  forTools(client: ModelClient): ModelClient {
    const { provider, model } = client
    return {
      provider,
      model,
      stream: (request, options) => {
        const scope = options.sessionId === undefined ? {} : this.scopeOf(options.sessionId)
        return client.stream(request, { ...scope, ...options })
      },
    }
  }

  /** The agent of this session is done. */
  forget(sessionId: string): void {
    this.#turns.delete(sessionId)
    this.#roots.delete(sessionId)
  }
}
