import { randomBytes } from 'node:crypto'
import { type Clock, HermesError, type JsonValue, type Logger } from '@hermes/contracts'
import {
  accountIn,
  addUsage,
  type Entry,
  liveEntries,
  type Message,
  type MessageEntry,
  type NewEntry,
  noUsage,
  type PromptEntry,
  project,
  type Sampling,
  type ToolCallPart,
  taintsIn,
  toolCalls,
  type Usage,
} from '@hermes/contracts/conversation'
import type { FolderTrust } from '@hermes/contracts/policy'
import type { Inbox, InboxMessage, Lease, NewOutboxMessage, NewSession, SessionStore } from '@hermes/contracts/store'
import type { ToolState } from '@hermes/contracts/tool'
import { settleSources } from '../outside-text/settle-sources.js'
import { type Prefix, PrefixWatch } from '../prompt/prefix-break.js'

const SAMPLING = [
  'reasoningEffort',
  'temperature',
  'maxOutputTokens',
  'serviceTier',
] as const satisfies readonly (keyof Sampling)[]
const RENEW_EVERY_MS = 10_000

/** A call of the newest assistant message that has no result yet. */
export interface OpenCall {
  readonly call: ToolCallPart
  /** It may have run: its start was written down. */
  readonly started: boolean
}

/** What a session needs from outside. */
interface SessionLogOptions {
  readonly store: SessionStore
  readonly session: NewSession
  readonly owner: string
  readonly clock: Clock
  readonly logger: Logger
  /** Takes registered secret values out of what is stored. */
  readonly redact: (text: string) => string
  /** Which projects the person trusts. Default: none. */
  readonly trust?: FolderTrust | undefined
  /** What an entry that is no result counts for as one of `toolName`; `null` for nothing. */
  readonly dataIn: (entry: Entry, toolName: string) => JsonValue | null
}

/** What is written in the same step as entries. */
interface AlongWith {
  readonly take?: readonly string[]
  readonly send?: readonly NewOutboxMessage[]
}

/** One session's log as the loop uses it: everything it appends is durable before it goes on. */
export class SessionLog {
  readonly id: string
  readonly #options: SessionLogOptions
  #scratch = new Map<string, unknown>()
  #entries: Entry[] = []
  #lastSeq = 0
  #size = 0
  #lease: Lease | null = null
  #renewal: NodeJS.Timeout | null = null
  readonly #taints = new Set<string>()
  #prompt: PromptEntry | null = null
  #usage = noUsage
  #rewrites = 0
  /** Made by this process, so that nothing can have arrived for it before its first run. */
  #isNew = false
  readonly #taken = new Set<string>()
  readonly #prefixes: PrefixWatch
  #appending: Promise<unknown> = Promise.resolve()

  constructor(options: SessionLogOptions) {
    this.#options = options
    this.#prefixes = new PrefixWatch(options.logger)
    this.id = options.session.id
  }

  /** What counts: entries that were undone are left out. */
  get entries(): readonly Entry[] {
    return this.#entries
  }

  /** Roughly what the entries take in memory, in characters. */
  get size(): number {
    return this.#size
  }

  /** Whether text from outside is in the conversation that its source does not clear. */
  get isTainted(): boolean {
    return this.#taints.size > 0
  }

  /** What tainted it, by names for a person, in the order it came. */
  get taintedBy(): readonly string[] {
    return [...this.#taints]
  }

  /**
   * Takes the write lease and reads what others appended meanwhile; makes the session on first use.
   * @throws HermesError `store.session_busy` while another process writes it.
   */
  async open(onLeaseLost: (error: unknown) => void): Promise<void> {
    const { store, session } = this.#options
    this.#isNew = this.#lastSeq === 0 && !(await store.sessions.get(this.id))
    if (this.#isNew) await store.sessions.create(session)
    this.#lease = await store.leases.acquire(this.id, { owner: this.#options.owner })
    this.#remember(await store.log.entries(this.id, { afterSeq: this.#lastSeq }))
    const lease = this.#lease
    this.#renewal = setInterval(() => lease.renew().catch(onLeaseLost), RENEW_EVERY_MS)
    this.#renewal.unref()
  }

  /** What counts as far as this process knows it, else as it is stored; nobody has to have the session open. */
  async look(): Promise<readonly Entry[]> {
    return this.#entries.length > 0 ? this.#entries : liveEntries(await this.#options.store.log.entries(this.id))
  }

  /** Shares what tools keep in memory with another log of the same session. */
  shareScratch(other: SessionLog): void {
    this.#scratch = other.#scratch
  }

  /** Gives the lease back. */
  async release(): Promise<void> {
    if (this.#renewal) clearInterval(this.#renewal)
    this.#renewal = null
    const lease = this.#lease
    this.#lease = null
    await lease?.release().catch((error: unknown) => {
      this.#options.logger.warn('Could not release the session lease.', { error: String(error) })
    })
  }

  /** Takes registered secrets out of text that leaves the agent another way than through the log. */
  get redact(): (text: string) => string {
    return this.#options.redact
  }

  /** Where word for later runs is left; `undefined` in a store that takes none. */
  get inbox(): Inbox | undefined {
    return this.#options.store.inbox
  }

  /** What arrived while nobody ran the session. */
  async inboxMessages(): Promise<readonly InboxMessage[]> {
    return this.#isNew || !this.inbox ? [] : this.inbox.waiting(this.id)
  }

  /** Whether this process put the inbox message into the log. */
  hasTaken(key: string): boolean {
    return this.#taken.has(key)
  }

  /** Appends and returns the `seq` of the last entry, once all are durable. */
  append(...entries: readonly NewEntry[]): Promise<number> {
    return this.appendTaking([], ...entries)
  }

  /** The same for entries that say inbox messages, which are taken in the same step. One after the other: calls may run at the same time. */
  appendTaking(inboxMessages: readonly string[], ...entries: readonly NewEntry[]): Promise<number> {
    return this.appendEach(entries, { take: inboxMessages }).then(last)
  }

  /** The same for entries that chats are told of. */
  appendSending(outboxMessages: readonly NewOutboxMessage[], ...entries: readonly NewEntry[]): Promise<number> {
    return this.appendEach(entries, { send: outboxMessages }).then(last)
  }

  /** The same for both, with the `seq` of each entry. */
  appendEach(entries: readonly NewEntry[], along: AlongWith): Promise<readonly number[]> {
    const appended = this.#appending.then(() => this.#append(entries, along))
    this.#appending = appended.catch(() => undefined)
    return appended
  }

  async #append(entries: readonly NewEntry[], { take = [], send = [] }: AlongWith): Promise<readonly number[]> {
    if (!this.#lease) throw new HermesError('The session is not open.', { code: 'agent.session_closed' })
    const { trust, redact } = this.#options
    const settled = await Promise.all(entries.map((entry) => settleSources(entry, trust)))
    const redacted = settled.map((entry) => redactEntry(entry, redact))
    const atMs = this.#options.clock.now()
    const along = { ...(take.length > 0 ? { take } : {}), ...(send.length > 0 ? { send } : {}) }
    const seqs = await this.#options.store.log.append(this.id, redacted, { lease: this.#lease, atMs, ...along })
    for (const key of take) this.#taken.add(key)
    this.#remember(redacted.map((entry, index) => ({ ...entry, seq: seqs[index]!, atMs })))
    return seqs
  }

  /** Keeps the answer that is being streamed beside the log; see `SessionStore.keepPartial`. Nothing where the store has no place for it. */
  async keepPartial(entry: MessageEntry | null): Promise<void> {
    const lease = this.#lease
    if (lease) await this.#options.store.log.keepPartial?.(this.id, entry, { lease, atMs: this.#options.clock.now() })
  }

  #remember(entries: readonly Entry[]): void {
    for (const entry of entries) {
      this.#lastSeq = Math.max(this.#lastSeq, entry.seq)
      if (entry.type === 'undo' || entry.type === 'compaction') this.#rewrites++
      if (entry.type === 'undo') {
        this.#entries = [...liveEntries([...this.#entries, entry])]
        continue
      }
      this.#entries.push(entry)
      this.#size += sizeOf(entry)
      for (const name of taintsIn(entry)) this.#taints.add(name)
      if (entry.type === 'prompt') this.#prompt = entry
      if (entry.type !== 'message') continue
      if (entry.usage) this.#usage = addUsage(this.#usage, entry.usage)
    }
  }

  /** Whether it is open for writing. */
  get isOpen(): boolean {
    return this.#lease !== null
  }

  prompt(): PromptEntry | null {
    return this.#prompt
  }

  messages(): Message[] {
    return project(this.#entries)
  }

  /** Logs, and notes, where a request stops having the one before it as its beginning. */
  async watchPrefix(request: Prefix): Promise<void> {
    const found = this.#prefixes.check(request, this.#rewrites)
    if (found)
      await this.append({
        type: 'note',
        kind: 'prefix.break',
        data: { component: found.component, byte: found.byte },
      })
  }

  /** The model that answered last. */
  model(): { readonly provider: string; readonly model: string } | null {
    const entry = this.#entries.findLast((candidate) => candidate.type === 'model')
    return entry ?? null
  }

  /** What was chosen in this session of how answers are made, and not taken back. */
  sampling(): Sampling {
    const chosen: { -readonly [Name in keyof Sampling]: Sampling[Name] } = {}
    // Runs over the whole log before each request, hence a plain loop.
    for (let at = 0; at < this.#entries.length; at++) {
      const entry = this.#entries[at]!
      if (entry.type !== 'model') continue
      for (const name of SAMPLING) {
        if (entry[name] === undefined) continue
        if (entry[name] === null) delete chosen[name]
        else Object.assign(chosen, { [name]: entry[name] })
      }
    }
    return chosen
  }

  /** The key or login that was chosen in this session at a provider; `null` for none. */
  accountAt(isProvider: (name: string) => boolean): string | null {
    return accountIn(this.#entries, isProvider)
  }

  usage(): Usage {
    return this.#usage
  }

  /** The calls of the newest assistant message that were never answered, in order. */
  openCalls(): readonly OpenCall[] {
    const at = this.#entries.findLastIndex((entry) => entry.type === 'message' && entry.message.role === 'assistant')
    if (at < 0) return []
    const started = new Set<string>()
    const answered = new Set<string>()
    for (const entry of this.#entries.slice(at + 1)) {
      if (entry.type === 'call-start') started.add(entry.callId)
      else if (entry.type === 'message') {
        if (entry.message.role !== 'tool') return []
        answered.add(entry.message.callId)
      }
    }
    const message = (this.#entries[at] as Entry & { type: 'message' }).message
    return toolCalls(message)
      .filter((call) => !answered.has(call.id))
      .map((call) => ({ call, started: started.has(call.id) }))
  }

  /** Notes of a kind that came after the newest note of `takenKind`. */
  notesSince(kind: string, takenKind: string): readonly (Entry & { readonly type: 'note' })[] {
    const takenAt = this.#entries.findLastIndex((entry) => entry.type === 'note' && entry.kind === takenKind)
    return this.#entries
      .slice(takenAt + 1)
      .filter((entry): entry is Entry & { type: 'note' } => entry.type === 'note' && entry.kind === kind)
  }

  readonly state: ToolState = {
    latest: (toolName) => {
      let callsSince = 0
      for (let index = this.#entries.length - 1; index >= 0; index--) {
        const entry = this.#entries[index]!
        const counted = this.#options.dataIn(entry, toolName)
        if (counted !== null) return { data: counted, callsSince }
        if (entry.type !== 'message' || entry.message.role !== 'tool') continue
        const { message } = entry
        if (message.toolName === toolName && !message.isError && message.data !== undefined)
          return { data: message.data, callsSince }
        callsSince++
      }
      return null
    },
    compactions: () => this.#rewrites,
    scratch: <T>(key: string, create: () => T): T => {
      if (!this.#scratch.has(key)) this.#scratch.set(key, create())
      return this.#scratch.get(key) as T
    },
  }
}

/** What surrounds the words of an entry, and parts without words. */
const ENTRY_CHARS = 500

function sizeOf(entry: Entry): number {
  if (entry.type !== 'message') return ENTRY_CHARS
  const { content } = entry.message as {
    readonly content: readonly { readonly text?: string; readonly data?: unknown }[]
  }
  const charsOf = ({ text, data }: (typeof content)[number]) =>
    text?.length ?? (typeof data === 'string' ? data.length : ENTRY_CHARS)
  return content.reduce((chars, part) => chars + charsOf(part), ENTRY_CHARS)
}

const last = (seqs: readonly number[]): number => seqs.at(-1) ?? 0

/** Secrets leave tool results and what the user wrote; a model's own words are kept byte for byte. */
function redactEntry(entry: NewEntry, redact: (text: string) => string): NewEntry {
  if (entry.type !== 'message' || entry.message.role === 'assistant') return entry
  const { message } = entry
  const content = message.content.map((part) => {
    const known = part.sources === undefined ? part : { ...part, sources: redactData(part.sources as never, redact) }
    return known.type === 'text' ? { ...known, text: redact(known.text) } : known
  }) as typeof message.content
  if (message.role !== 'tool') return { ...entry, message: { ...message, content } as Message }
  const data = message.data === undefined ? {} : { data: redactData(message.data, redact) }
  return { ...entry, message: { ...message, content: content as typeof message.content, ...data } }
}

/** Takes secrets out of every text in `value`. */
export function redactData(value: JsonValue, redact: (text: string) => string): JsonValue {
  if (typeof value === 'string') return redact(value)
  if (Array.isArray(value)) return value.map((item: JsonValue) => redactData(item, redact))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, redactData(item as JsonValue, redact)]))
}

/** `YYYYMMDD_HHMMSS_` in local time and random hex digits: six in a terminal, eight in a gateway. */
export function createSessionId(atMs: number, hexDigits: 6 | 8 = 6): string {
  const date = new Date(atMs)
  const two = (value: number) => String(value).padStart(2, '0')
  const day = `${date.getFullYear()}${two(date.getMonth() + 1)}${two(date.getDate())}`
  const time = `${two(date.getHours())}${two(date.getMinutes())}${two(date.getSeconds())}`
  return `${day}_${time}_${randomBytes(hexDigits / 2).toString('hex')}`
}
