// Tells extensions of an answer while it comes. The run waits for none of them: what comes while one is at work is joined for it.
import { errorLine, HermesError } from '@hermes/contracts'
import { messageText, toolCalls } from '@hermes/contracts/conversation'
import type { HookEvent, HookHandlers, HookName } from '@hermes/contracts/extension'
import type { AgentEventBody } from '../events/event.js'
import { observe } from '../hooks/dispatch.js'
import { hookEvent } from '../hooks/run-hook-event.js'
import type { RunContext } from '../loop/run-context.js'
import { isCutOff } from './partial-answer.js'

const POINTS = ['stream-start', 'stream-delta', 'stream-end', 'model-error', 'interim-message'] as const
type StreamPoint = (typeof POINTS)[number]
type Own<Name extends HookName> = Omit<Parameters<HookHandlers[Name]>[0], keyof HookEvent>
type Piece = { readonly [Name in StreamPoint]: { readonly point: Name; readonly own: Own<Name> } }[StreamPoint]
type Waiting = Piece & { readonly context: RunContext }

/** One call of the model as extensions are told of it. */
export class StreamWatch {
  /** The run, in which everything about the answer is told of too. */
  readonly context: RunContext
  /** The same, for what extensions are told: what an interrupt cut off has its end too. */
  readonly #calm: RunContext
  readonly #queues: readonly OwnersQueue[]
  #open: string | null = null
  #text = ''
  #attempt = 1

  constructor(context: RunContext) {
    this.context = {
      ...context,
      emit: (event, seq) => {
        context.emit(event, seq)
        this.#see(event)
      },
    }
    const owners = new Set(POINTS.flatMap((point) => context.hooks.at(point).map(({ owner }) => owner)))
    this.#calm = { ...context, signal: new AbortController().signal }
    this.#queues = [...owners].map((owner) => queueOf(context, owner))
  }

  /** The call is over; `error` is what it failed with. */
  close(error?: unknown): void {
    if (this.#open !== null) this.#end(error === undefined)
    if (!HermesError.isInstance(error) || !error.code.startsWith('transport.')) return
    const failed = { code: error.code, message: this.context.session.redact(errorLine(error)) }
    this.#tell({ point: 'model-error', own: { error: failed, attempt: this.#attempt, delayMs: null } })
  }

  #see(event: AgentEventBody): void {
    if (event.type === 'message-start') {
      const { messageId } = event
      this.#open = messageId
      this.#text = ''
      this.#tell({ point: 'stream-start', own: { messageId } })
    } else if (event.type === 'message-delta' || event.type === 'reasoning-delta') {
      const { messageId, text } = event
      const kind = event.type === 'message-delta' ? 'text' : 'reasoning'
      if (kind === 'text') this.#text += text
      this.#tell({ point: 'stream-delta', own: { messageId, kind, text } })
    } else if (event.type === 'message-end') {
      const { messageId, message } = event
      this.#end(message.role === 'assistant' && !isCutOff(message))
      const text = messageText(message)
      if (message.role === 'assistant' && toolCalls(message).length > 0 && text.trim() !== '')
        this.#tell({ point: 'interim-message', own: { messageId, text } })
    } else if (event.type === 'retry-wait') {
      const { attempt, delayMs, reason, message, discardedMessageId } = event
      if (discardedMessageId !== undefined) this.#end(false)
      this.#attempt = attempt + 1
      const error = { code: `transport.${reason}`, message }
      this.#tell({ point: 'model-error', own: { error, attempt, delayMs } })
    }
  }

  #end(isWhole: boolean): void {
    const messageId = this.#open
    if (messageId === null) return
    this.#open = null
    this.#tell({ point: 'stream-end', own: { messageId, text: this.#text, isWhole } })
  }

  #tell(piece: Piece): void {
    for (const queue of this.#queues) queue.push({ ...piece, context: this.#calm })
  }
}

/** One for all answers of a session: they are told of one after the other. */
function queueOf({ session }: RunContext, owner: string): OwnersQueue {
  return session.state.scratch(`agent.watched ${owner}`, () => new OwnersQueue(owner))
}

/** What one extension has still to be told, in order. */
class OwnersQueue {
  readonly #owner: string
  readonly #waiting: Waiting[] = []
  #isAtWork = false

  constructor(owner: string) {
    this.#owner = owner
  }

  push(piece: Waiting): void {
    const last = this.#waiting.at(-1)
    if (last?.point === 'stream-delta' && piece.point === 'stream-delta' && last.own.kind === piece.own.kind)
      this.#waiting[this.#waiting.length - 1] = { ...last, own: { ...last.own, text: last.own.text + piece.own.text } }
    else this.#waiting.push(piece)
    if (!this.#isAtWork) void this.#work()
  }

  async #work(): Promise<void> {
    this.#isAtWork = true
    for (let piece = this.#waiting.shift(); piece; piece = this.#waiting.shift()) {
      const { point, own, context } = piece
      const hooks = context.hooks.at(point).filter(({ owner }) => owner === this.#owner)
      if (hooks.length > 0) await observe(hooks, point, hookEvent(context, own) as never)
    }
    this.#isAtWork = false
  }
}
