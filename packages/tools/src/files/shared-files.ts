import type { ToolContext } from '@hermes/contracts/tool'

/** What the agents of one program know of each other's writes, and who may write a file now. */
export interface SharedFiles {
  /**
   * Runs `work` while no other call works on one of `paths`, which are absolute; calls wait in the order they came. Other paths are not
   * held up. Abort of the context's signal ends the waiting.
   */
  alone<T>(context: ToolContext, paths: readonly string[], work: () => Promise<T>): Promise<T>
  /** Notes that the call wrote `version` of a file, whose path has no links. */
  wrote(context: ToolContext, real: string, version: string): void
  /** Who made this version of a file, when it was another agent than the one that asks; otherwise `null`. */
  otherWriter(context: ToolContext, real: string, version: string): string | null
}

interface Written {
  readonly version: string
  readonly sessionId: string
  readonly name: string
}

const REMEMBERED = 10_000

/** One for all agents that work on the same files. */
export function createSharedFiles(): SharedFiles {
  const turns = new Map<string, Promise<void>>()
  const writers = new Map<string, Written>()
  return {
    async alone(context, paths, work) {
      const { signal } = context
      const keys = [...new Set(paths.map((path) => keyOf(context, path)))]
      const before = keys.map((key) => turns.get(key))
      const { promise: mine, resolve: end } = Promise.withResolvers<void>()
      for (const key of keys) turns.set(key, mine)
      try {
        // All places are taken at once, so that two calls never wait for each other.
        for (const other of before) await orAbort(other, signal)
        return await work()
      } finally {
        // Whoever gives up still lets the next one wait for those before.
        void Promise.all(before).then(() => {
          end()
          for (const key of keys) if (turns.get(key) === mine) turns.delete(key)
        })
      }
    },
    wrote(context, real, version) {
      const key = keyOf(context, real)
      writers.delete(key)
      writers.set(key, { version, sessionId: context.sessionId, name: nameOf(context) })
      if (writers.size > REMEMBERED) writers.delete(writers.keys().next().value!)
    },
    otherWriter(context, real, version) {
      const last = writers.get(keyOf(context, real))
      return last?.version === version && last.sessionId !== context.sessionId ? last.name : null
    },
  }
}

const keyOf = ({ environment }: ToolContext, path: string): string => `${environment.backend}\0${path}`

/** How another agent may call this one. */
function nameOf({ agentPath }: ToolContext): string {
  return agentPath.length > 1 ? `another agent (${agentPath.slice(1).join(' / ')})` : 'another agent'
}

function orAbort(turn: Promise<void> | undefined, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  if (!turn) return Promise.resolve()
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    void turn.then(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    })
  })
}
