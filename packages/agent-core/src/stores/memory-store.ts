import { type Clock, HermesError, systemClock } from '@hermes/contracts'
import { addUsage, type Entry, messageText, type NewEntry, noUsage, toolCalls } from '@hermes/contracts/conversation'
import type {
  Inbox,
  InboxMessage,
  Lease,
  Leases,
  NewSession,
  SessionChange,
  SessionInfo,
  SessionLog,
  SessionStore,
  Sessions,
} from '@hermes/contracts/store'

const PREVIEW_CHARS = 63
const DEFAULT_TTL_MS = 30_000

interface StoredSession {
  info: SessionInfo
  readonly entries: Entry[]
  token: number
  holder: { readonly owner: string; readonly ttlMs: number; aliveAtMs: number } | null
}

/** A store that lives and dies with the process: the default of `createAgent`. */
export function createMemoryStore(options: { readonly clock?: Pick<Clock, 'now'> } = {}): SessionStore {
  return new MemoryStore(options.clock ?? systemClock)
}

class MemoryStore implements SessionStore {
  readonly inbox: Inbox
  readonly #sessions = new Map<string, StoredSession>()
  /** By key. What is held dies with the process, as does the store; `null` was taken. */
  readonly #inboxMessages = new Map<string, { readonly inboxMessage: InboxMessage; readonly isWill: boolean } | null>()
  readonly #clock: Pick<Clock, 'now'>

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
    this.inbox = {
      setWill: async (inboxMessage) => this.#put(inboxMessage, true),
      send: async (inboxMessage) => this.#put(inboxMessage, false),
      waiting: async (sessionId) =>
        [...this.#inboxMessages.values()].flatMap((one) =>
          one && !one.isWill && one.inboxMessage.sessionId === sessionId ? [one.inboxMessage] : [],
        ),
    }
  }

  readonly sessions: Sessions = {
    create: async (session: NewSession): Promise<SessionInfo> => {
      if (this.#sessions.has(session.id)) {
        throw new HermesError(`Session ${session.id} exists already.`, { code: 'store.session_exists' })
      }
      this.#refuseTakenTitle(session.title ?? null)
      const nowMs = this.#clock.now()
      const info: SessionInfo = {
        id: session.id,
        source: session.source,
        person: session.person ?? null,
        title: session.title ?? null,
        model: session.model ?? null,
        provider: session.provider ?? null,
        baseUrl: session.baseUrl ?? null,
        parentSessionId: session.parentSessionId ?? null,
        cwd: session.cwd ?? null,
        startedAtMs: nowMs,
        lastActiveAtMs: nowMs,
        endedAtMs: null,
        endReason: null,
        messageCount: 0,
        toolCallCount: 0,
        usage: noUsage,
        apiCallCount: 0,
        preview: '',
      }
      this.#sessions.set(session.id, { info, entries: [], token: 0, holder: null })
      return info
    },
    get: async (id: string): Promise<SessionInfo | null> => {
      return this.#sessions.get(id)?.info ?? null
    },
    update: async (id: string, change: SessionChange): Promise<void> => {
      const session = this.#require(id)
      if (change.title !== undefined && change.title !== session.info.title) this.#refuseTakenTitle(change.title)
      session.info = { ...session.info, ...change }
    },
  }

  readonly log: SessionLog = {
    entries: async (sessionId: string, options: { readonly afterSeq?: number } = {}): Promise<readonly Entry[]> => {
      const afterSeq = options.afterSeq ?? Number.NEGATIVE_INFINITY
      return (this.#sessions.get(sessionId)?.entries ?? []).filter((entry) => entry.seq > afterSeq)
    },
    append: async (
      sessionId: string,
      entries: readonly NewEntry[],
      options: { readonly lease: Lease; readonly atMs?: number; readonly take?: readonly string[] },
    ): Promise<readonly number[]> => {
      const session = this.#require(sessionId)
      this.#refuseLostLease(session, options.lease)
      if (options.take) this.#take(options.take)
      const atMs = options.atMs ?? this.#clock.now()
      const first = (session.entries.at(-1)?.seq ?? 0) + 1
      const added = entries.map((entry, index): Entry => ({ ...structuredClone(entry), seq: first + index, atMs }))
      session.entries.push(...added)
      session.info = added.reduce(countEntry, { ...session.info, lastActiveAtMs: atMs })
      if (session.holder) session.holder.aliveAtMs = this.#clock.now()
      return added.map((entry) => entry.seq)
    },
  }

  readonly leases: Leases = {
    acquire: async (
      sessionId: string,
      options: { readonly owner: string; readonly ttlMs?: number },
    ): Promise<Lease> => {
      const session = this.#require(sessionId)
      const { holder } = session
      if (holder && this.#clock.now() - holder.aliveAtMs < holder.ttlMs) {
        throw new HermesError(`Session ${sessionId} is in use by ${holder.owner}.`, {
          code: 'store.session_busy',
          retryable: true,
          details: { owner: holder.owner },
        })
      }
      const token = ++session.token
      session.info = { ...session.info, endedAtMs: null, endReason: null }
      session.holder = { owner: options.owner, ttlMs: options.ttlMs ?? DEFAULT_TTL_MS, aliveAtMs: this.#clock.now() }
      const lease: Lease = {
        sessionId,
        owner: options.owner,
        token,
        renew: async () => {
          this.#refuseLostLease(session, lease)
          if (session.holder) session.holder.aliveAtMs = this.#clock.now()
        },
        release: async () => {
          if (session.token === token) session.holder = null
        },
      }
      return lease
    },
  }

  #put(inboxMessage: InboxMessage, isWill: boolean): boolean {
    this.#require(inboxMessage.sessionId)
    const known = this.#inboxMessages.get(inboxMessage.key)
    if (known === null || known?.isWill === false) return false
    this.#inboxMessages.set(inboxMessage.key, { inboxMessage, isWill })
    return true
  }

  #take(keys: readonly string[]): void {
    for (const key of keys) {
      if (this.#inboxMessages.get(key)?.isWill !== false)
        throw new HermesError(`Inbox message ${key} is not waiting: it was taken already.`, {
          code: 'store.inbox_message_taken',
        })
    }
    for (const key of keys) this.#inboxMessages.set(key, null)
  }

  #require(id: string): StoredSession {
    const session = this.#sessions.get(id)
    if (!session) throw new HermesError(`There is no session ${id}.`, { code: 'store.unknown_session' })
    return session
  }

  #refuseTakenTitle(title: string | null): void {
    if (title === null) return
    for (const { info } of this.#sessions.values()) {
      if (info.title === title) {
        throw new HermesError(`Another session has the title "${title}".`, { code: 'store.title_taken' })
      }
    }
  }

  #refuseLostLease(session: StoredSession, lease: Lease): void {
    if (session.token === lease.token && session.holder) return
    throw new HermesError(`Session ${lease.sessionId} is written by somebody else now.`, { code: 'store.lease_lost' })
  }
}

function countEntry(info: SessionInfo, entry: Entry): SessionInfo {
  if (entry.type === 'model') return { ...info, model: entry.model, provider: entry.provider }
  if (entry.type !== 'message') return info
  const { message } = entry
  const isReply = message.role === 'assistant'
  return {
    ...info,
    messageCount: info.messageCount + 1,
    toolCallCount: info.toolCallCount + toolCalls(message).length,
    apiCallCount: info.apiCallCount + (isReply ? 1 : 0),
    usage: entry.usage ? addUsage(info.usage, entry.usage) : info.usage,
    preview: info.preview || (message.role === 'user' ? messageText(message).slice(0, PREVIEW_CHARS) : ''),
  }
}
