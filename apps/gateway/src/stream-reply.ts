import { type ApiError, toApiError } from './api-error.js'
import type { ChunkWriter, Ending } from './completion.js'
import type { PieceSource } from './piece-source.js'
import type { Piece } from './reply.js'

const KEEP_ALIVE_MS = 15_000
const KEEP_ALIVE = ': keepalive\n\n'

/** What a streamed reply is made of. */
export interface StreamReplyOptions {
  readonly source: PieceSource
  readonly writer: ChunkWriter
  /** @throws ApiError when the run gave no answer */
  readonly toEnding: (piece: Piece & { readonly type: 'end' }) => Ending
}

/**
 * A reply as server-sent events, made as fast as it is read and no faster. It begins with the first thing worth telling, so that a
 * run that fails before it is still an error of its own; cancelling interrupts the run.
 * @throws ApiError when the run ended without an answer before anything was said
 */
export async function streamReply(options: StreamReplyOptions): Promise<ReadableStream<Uint8Array>> {
  const { source } = options
  const lines = new ReplyLines(options)
  const first = lines.of(await source.next(KEEP_ALIVE_MS))
  if (first instanceof Error) throw first
  const encoder = new TextEncoder()
  let head: string | null = first
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const text = head ?? lines.orFailure(await source.next(KEEP_ALIVE_MS))
        head = null
        controller.enqueue(encoder.encode(text))
        if (lines.isOver) controller.close()
      },
      cancel: () => source.leave(),
    },
    { highWaterMark: 0 },
  )
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
  orFailure(piece: Piece | 'idle' | null): string {
    const text = this.of(piece)
    return text instanceof Error ? this.#options.writer.fail(text) : text
  }

  of(piece: Piece | 'idle' | null): string | ApiError {
    if (piece === 'idle') return this.#begin() + KEEP_ALIVE
    const { writer } = this.#options
    switch (piece?.type) {
      case 'text':
        this.#hasText = true
        return this.#begin() + writer.text(piece.text)
      case 'tool':
        return this.#begin() + writer.tool(piece.progress)
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
      const text = this.#hasText || ending.text === '' ? '' : writer.text(ending.text)
      return this.#begin() + text + writer.end(ending)
    } catch (error) {
      return toApiError(error)
    }
  }
}
