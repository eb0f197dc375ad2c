import { type ApiError, toApiError } from './api-error.js'
import type { Ending, ReplyWriter } from './completion.js'
import type { ReplySource } from './piece-source.js'
import type { Piece } from './reply.js'

const KEEP_ALIVE_MS = 15_000
const KEEP_ALIVE = ': keepalive\n\n'

/** What a streamed reply is made of. */
interface StreamReplyOptions {
  readonly source: ReplySource
  readonly writer: ReplyWriter
  /** @throws ApiError when the run gave no answer */
  readonly toEnding: (piece: Piece & { readonly type: 'end' }) => Ending
}

/**
 * A reply as server-sent events, made as fast as it is read and no faster. It begins with the first thing worth telling, so that a
 * run that fails before it is still an error of its own; cancelling interrupts the run.
 * @throws ApiError when the run ended without an answer before anything was said
 */
export async function streamReply(options: StreamReplyOptions): Promise<ReadableStream<Uint8Array>> {
  const lines = new ReplyLines(options)
  const first = options.source.next()
  const piece = await within(first, KEEP_ALIVE_MS)
  if (piece === 'idle')
    return new ReadableStream(new ReplyBody(options, { lines, head: lines.idle(), next: first }), QUEUE_NOTHING)
  const head = lines.of(piece)
  if (head instanceof Error) throw head
  return new ReadableStream(new ReplyBody(options, { lines, head, next: null }), QUEUE_NOTHING)
}

const QUEUE_NOTHING = { highWaterMark: 0 }

function within<T>(promise: Promise<T>, waitMs: number): Promise<T | 'idle'> {
  const { promise: idle, resolve } = Promise.withResolvers<'idle'>()
  const timer = setTimeout(() => resolve('idle'), waitMs)
  return Promise.race([promise, idle]).finally(() => clearTimeout(timer))
}

interface Beginning {
  readonly lines: ReplyLines
  readonly head: string
  /** The piece that is on its way already. */
  readonly next: Promise<Piece | null> | null
}

class ReplyBody {
  readonly #source: ReplySource
  readonly #lines: ReplyLines
  readonly #encoder = new TextEncoder()
  #head: string | null
  #next: Promise<Piece | null> | null
  #keepAlive: NodeJS.Timeout | undefined
  /** The reader waits, and nothing came since the last look. */
  #isWaiting = false
  #isQuiet = false

  constructor({ source }: StreamReplyOptions, { lines, head, next }: Beginning) {
    this.#source = source
    this.#lines = lines
    this.#head = head
    this.#next = next
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#keepAlive = setInterval(() => {
      if (this.#isWaiting && this.#isQuiet) this.#send(controller, this.#lines.idle())
      this.#isQuiet = true
    }, KEEP_ALIVE_MS)
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    this.#isWaiting = true
    const text = this.#head ?? this.#lines.orFailure(await (this.#next ?? this.#source.next()))
    if (this.#head === null) this.#next = null
    this.#head = null
    this.#isWaiting = false
    this.#isQuiet = false
    this.#send(controller, text)
    if (!this.#lines.isOver) return
    clearInterval(this.#keepAlive)
    controller.close()
  }

  async cancel(): Promise<void> {
    clearInterval(this.#keepAlive)
    await this.#source.leave()
  }

  #send(controller: ReadableStreamDefaultController<Uint8Array>, text: string): void {
    controller.enqueue(this.#encoder.encode(text))
  }
}

class ReplyLines {
  readonly #options: StreamReplyOptions
  #hasBegun = false
  #hasText = false
  isOver = false

  constructor(options: StreamReplyOptions) {
    this.#options = options
  }

  /** Never an error: what goes wrong in the middle is told in the stream. */
  orFailure(piece: Piece | null): string {
    const text = this.of(piece)
    return text instanceof Error ? this.#options.writer.fail(text) : text
  }

  /** A comment, so that nobody on the way takes the silence for the end. */
  idle(): string {
    return this.#begin() + KEEP_ALIVE
  }

  of(piece: Piece | null): string | ApiError {
    const { writer } = this.#options
    switch (piece?.type) {
      case 'text':
        this.#hasText = true
        return this.#begin() + writer.text(piece.text)
      case 'thought':
        return this.#begin() + writer.thought(piece.text)
      case 'tool':
        return this.#begin() + writer.tool(piece.progress)
      case 'notice':
        return this.#begin() + writer.notice(piece.notice)
      case 'command':
        return this.#begin() + writer.command(piece.command)
      case 'approval':
        return this.#begin() + writer.approval(piece.approval)
      case 'end':
        return this.#end(piece)
      case undefined:
        this.isOver = true
        return ''
      default:
        return piece satisfies never
    }
  }

  #begin(): string {
    if (this.#hasBegun) return ''
    this.#hasBegun = true
    return this.#options.writer.begin()
  }

  #end(piece: Piece & { readonly type: 'end' }): string | ApiError {
    const { writer, toEnding } = this.#options
    this.isOver = true
    try {
      const ending = toEnding(piece)
      const begun = this.#begin()
      const lead = this.#hasText ? '' : ending.text
      const text = lead === '' ? '' : writer.text(lead)
      const gap = this.#hasText || lead !== '' ? '\n\n' : ''
      const waiting = ending.waiting === '' ? '' : writer.text(`${gap}${ending.waiting}`)
      return begun + text + waiting + writer.end(ending)
    } catch (error) {
      return toApiError(error)
    }
  }
}
