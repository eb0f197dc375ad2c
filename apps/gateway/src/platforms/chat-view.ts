// What chats see of runs under way: that an answer is being written, and how far it is.

import { randomUUID } from 'node:crypto'
import { type AgentEvent, isCutOff } from '@hermes/agent-core'
import { type Clock, errorLine, formatDuration, isAbort, type Logger } from '@hermes/contracts'
import type { Platform, PlatformTarget } from '@hermes/contracts/platform'
import type { SessionEvent } from '@hermes/host'
import { parseTarget, type ShownCalls } from '@hermes/platform'
import type { Bubbles } from './bubbles.js'
import { CallLines } from './call-lines.js'
import type { ChatWorker } from './chat-worker.js'
import { footerOf } from './footer.js'

/** Platforms show it for some seconds. */
const TYPING_EVERY_MS = 4_000

/** A run that a chat watches. */
interface Watched {
  readonly worker: ChatWorker
  readonly target: PlatformTarget
  readonly typing: AbortController
  readonly calls: CallLines
  readonly startedAtMs: number
  /** Answers that are not whole. */
  readonly growing: Set<string>
  /** An answer that is begun anew. */
  discarded: string | null
}

/** What the chats of a platform show. */
export interface ChatShows {
  readonly calls: ShownCalls
  readonly hasFooter: boolean
  /** What the line after an answer tells. */
  readonly footerFields: readonly string[]
  /** Of which tasks in the background the end is told. */
  readonly news: 'off' | 'error' | 'all'
}

/** Options of {@link ChatView}. */
interface ChatViewOptions {
  readonly platform: Platform
  readonly bubbles: Bubbles
  /** For calls of tools. */
  readonly callBubbles: Bubbles
  /** What chats show beside answers, unless their people chose otherwise. */
  readonly shows: ChatShows
  readonly workerOf: (sessionId: string) => ChatWorker | undefined
  readonly showsTyping: boolean
  /** How often a long run says that it goes on; 0 for never. */
  readonly tellsEveryMs: number
  /** Something is in the outbox. */
  readonly written: () => void
  readonly clock: Clock
  readonly logger: Logger
}

/** Shows runs in the chats of one platform. */
export class ChatView {
  readonly #options: ChatViewOptions
  readonly #watched = new Map<string, Watched>()

  constructor(options: ChatViewOptions) {
    this.#options = options
  }

  /** Never throws. */
  show({ sessionId, event }: SessionEvent): void {
    // A run that is shown is shown to its end, also where its chat went on in another session.
    const worker = this.#watched.get(sessionId)?.worker ?? this.#options.workerOf(sessionId)
    if (!worker) return
    if (event.type === 'approval-kept' || event.type === 'question-kept') {
      this.#ask(worker)
      return
    }
    if (event.type === 'background-end') {
      this.#tellEnd(worker, event)
      return
    }
    if (!('agentPath' in event) || event.agentPath.length > 1) return
    const watched = this.#watched.get(sessionId) ?? this.#watch(sessionId, worker)
    this.#showRun(watched, event)
    if (event.type === 'run-end') this.#watched.delete(sessionId)
  }

  #ask(worker: ChatWorker): void {
    worker.tellPending().catch((error: unknown) =>
      this.#options.logger.error('A chat could not be asked.', {
        sessionId: worker.chat.sessionId,
        error: errorLine(error),
      }),
    )
  }

  #watch(sessionId: string, worker: ChatWorker): Watched {
    const typing = new AbortController()
    const target = parseTarget(worker.target)
    const { callBubbles, shows, clock } = this.#options
    const calls = new CallLines(callBubbles, { target, shown: () => worker.chat.calls ?? shows.calls })
    const startedAtMs = clock.now()
    const watched = { worker, target, typing, calls, startedAtMs, growing: new Set<string>(), discarded: null }
    this.#watched.set(sessionId, watched)
    void this.#type(target, typing.signal)
    void this.#tellStillWorking(watched)
    return watched
  }

  #showRun(watched: Watched, event: AgentEvent): void {
    const { bubbles, written } = this.#options
    const { target, growing, typing, calls } = watched
    calls.show(event)
    switch (event.type) {
      case 'message-delta':
        if (watched.discarded !== null) bubbles.reuse(watched.discarded, event.messageId)
        watched.discarded = null
        growing.add(event.messageId)
        bubbles.add(event.messageId, target, event.text)
        return
      case 'message-end':
        // What was cut off is not sent: what there is of it stays as the run ends.
        if (!isCutOff(event.message)) growing.delete(event.messageId)
        written()
        return
      case 'retry-wait':
        if (event.discardedMessageId === undefined) return
        growing.delete(event.discardedMessageId)
        watched.discarded = event.discardedMessageId
        return
      case 'run-end':
        typing.abort(new DOMException('The run is over.', 'AbortError'))
        for (const id of [...growing, ...(watched.discarded === null ? [] : [watched.discarded])])
          void bubbles.end(id, target)
        if (event.result.status === 'completed') this.#tellFooter(watched)
        written()
        return
      default:
        return
    }
  }

  /** One line of a task that ended in the background; what it came to is told by the conversation itself. */
  #tellEnd(worker: ChatWorker, { id, state }: { readonly id: string; readonly state: string }): void {
    const { news } = this.#options.shows
    const isFine = state === 'completed'
    if (news === 'off' || (news === 'error' && isFine)) return
    const text = isFine
      ? `✓ The task ${id} in the background is done.`
      : `⚠ The task ${id} in the background ended: ${state}.`
    this.#tell(worker, `ended:${id}`, text)
  }

  /** After the answer, which is in the outbox by then. */
  #tellFooter({ worker, startedAtMs }: Watched): void {
    const { shows, platform, clock } = this.#options
    // A platform of letters would send one more.
    if (!(worker.chat.hasFooter ?? shows.hasFooter) || !platform.abilities.edits) return
    const latencyMs = clock.now() - startedAtMs
    footerOf(worker.handle, { fields: shows.footerFields, latencyMs })
      .then((text) => text !== '' && this.#tell(worker, `footer:${randomUUID()}`, text))
      .catch((error: unknown) => this.#noteUnsaid(error))
  }

  #tell(worker: ChatWorker, key: string, text: string): void {
    worker
      .tell(`${worker.chat.sessionId}:${key}`, { text, markup: 'plain' })
      .catch((error: unknown) => this.#noteUnsaid(error))
  }

  #noteUnsaid(error: unknown): void {
    if (!isAbort(error))
      this.#options.logger.info('A chat was not told something beside its answers.', { error: errorLine(error) })
  }

  /** Each time after twice as long, until the run is over. Never rejects. */
  async #tellStillWorking({ worker, typing: { signal } }: Watched): Promise<void> {
    const { clock, tellsEveryMs, logger } = this.#options
    if (tellsEveryMs === 0) return
    const [startMs, run] = [clock.now(), randomUUID()]
    try {
      for (let waitMs = tellsEveryMs; ; waitMs *= 2) {
        await clock.sleep(waitMs, signal)
        const { agent } = await worker.handle.agent()
        const text = `Still at work, for ${formatDuration(clock.now() - startMs)}: ${agent.activity().description}. /stop ends it.`
        await worker.tell(`${worker.chat.sessionId}:working:${run}:${waitMs}`, { text, markup: 'plain' })
      }
    } catch (error) {
      if (!isAbort(error)) logger.info('A chat was not told that its run goes on.', { error: errorLine(error) })
    }
  }

  /** Until the run is over. Never rejects. */
  async #type(target: PlatformTarget, signal: AbortSignal): Promise<void> {
    const { platform, showsTyping, clock, logger } = this.#options
    if (!showsTyping || !platform.showTyping) return
    while (!signal.aborted) {
      await platform
        .showTyping(target)
        .catch((error: unknown) => logger.info('Typing was not shown.', { error: errorLine(error) }))
      await clock.sleep(TYPING_EVERY_MS, signal).catch((error: unknown) => {
        if (!isAbort(error)) throw error
      })
    }
  }

  close(): void {
    for (const { typing } of this.#watched.values()) typing.abort(new DOMException('The gateway stops.', 'AbortError'))
    this.#watched.clear()
  }
}
