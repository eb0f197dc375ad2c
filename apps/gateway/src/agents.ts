import { stat } from 'node:fs/promises'
import { type Clock, errorLine, type Logger } from '@hermes/contracts'
import type { Entry } from '@hermes/contracts/conversation'
import type { AgentRequest, ReadyAgent, Runtime } from '@hermes/runtime'

const MAX_CACHED = 64
const IDLE_MS = 30 * 60_000
const SWEEP_EVERY_MS = 60_000

interface CachedAgent {
  readonly ready: ReadyAgent
  usedAtMs: number
}

/** Options of {@link Agents}. */
export interface AgentsOptions {
  readonly runtime: Runtime
  /** Where agents of new sessions work. Absolute. */
  readonly cwd: string
  readonly request: Pick<AgentRequest, 'model' | 'provider' | 'baseUrl' | 'maxSteps' | 'references'>
  readonly clock: Clock
  readonly logger: Logger
  /** Whether a session is in use and its agent has to stay. */
  readonly isTaken: (sessionId: string) => boolean
}

/** One agent per session, kept while it is used; sessions themselves outlive their agents. */
export class Agents {
  readonly #options: AgentsOptions
  /** The one used longest ago comes first. */
  readonly #cached = new Map<string, CachedAgent>()
  readonly #sweep: NodeJS.Timeout

  constructor(options: AgentsOptions) {
    this.#options = options
    this.#sweep = setInterval(() => this.#dropIdle(), SWEEP_EVERY_MS)
    this.#sweep.unref()
  }

  /** The log of a session, also what other processes wrote. */
  async entries(sessionId: string): Promise<readonly Entry[]> {
    const storage = await this.#options.runtime.storage()
    const known = this.#cached.get(sessionId)?.ready.agent.entries() ?? []
    return [...known, ...(await storage.log.entries(sessionId, { afterSeq: known.at(-1)?.seq ?? 0 }))]
  }

  /** The tasks that the agent of a session has delegated; `null` where it has none now. */
  children(sessionId: string): ReadyAgent['children'] | null {
    return this.#cached.get(sessionId)?.ready.children ?? null
  }

  /** The agent of a session, a stored one or a new one with the client's system text. */
  async open(sessionId: string, instructions: string): Promise<ReadyAgent> {
    const ready = this.#cached.get(sessionId)?.ready ?? (await this.#create(sessionId, instructions))
    this.#cached.delete(sessionId)
    this.#cached.set(sessionId, { ready, usedAtMs: this.#options.clock.now() })
    this.#dropIdle()
    return ready
  }

  async #create(sessionId: string, instructions: string): Promise<ReadyAgent> {
    const { runtime, request, cwd } = this.#options
    const session = await (await runtime.storage()).sessions.get(sessionId)
    if (!session) return runtime.createAgent({ ...request, sessionId, instructions, cwd })
    return runtime.createAgent({ ...request, session, instructions, cwd: (await existing(session.cwd)) ?? cwd })
  }

  /** Sessions with background processes keep their agent until there are too many. */
  #dropIdle(): void {
    const { clock, isTaken } = this.#options
    let surplus = this.#cached.size - MAX_CACHED
    for (const [sessionId, { ready, usedAtMs }] of this.#cached) {
      const isOld = clock.now() - usedAtMs > IDLE_MS && !ready.hasProcesses()
      if ((!isOld && surplus <= 0) || isTaken(sessionId)) continue
      surplus--
      this.forget(sessionId, 'idle')
    }
  }

  /** Closes the agent of a session, `reason` being why in a word; the session stays and ends. */
  forget(sessionId: string, reason = 'failed'): void {
    const known = this.#cached.get(sessionId)
    this.#cached.delete(sessionId)
    known?.ready.close(reason).catch((error: unknown) => {
      this.#options.logger.warn('An agent did not close cleanly.', { sessionId, error: errorLine(error) })
    })
  }

  /** Stops looking after agents; the runtime closes them. */
  close(): void {
    clearInterval(this.#sweep)
    this.#cached.clear()
  }
}

async function existing(folder: string | null): Promise<string | null> {
  if (folder === null) return null
  const isFolder = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  )
  return isFolder ? folder : null
}
