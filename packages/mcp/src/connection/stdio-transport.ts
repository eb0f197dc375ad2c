import { isJsonObject } from '@hermes/contracts'
import type { RunningProgram } from '@hermes/contracts/environment'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'

/** One message; what is longer ends the connection. */
const MOST_BYTES = 32 * 1024 * 1024
/** Lines that are no messages, one after the other, that a server may write before it is given up. */
const MOST_NOISE = 10_000
/** Messages in a second that nobody can want. */
const MOST_PER_SECOND = 20_000
const KEPT_ERROR_CHARS = 2_000
const NEWLINE = 10
/** How long the rest of an error output is waited for once its program has ended: what it started may hold it open. */
const DRAIN_MS = 200

/** Why a connection ended whose program a shell did not find. */
export const NOT_FOUND = 'its program was not found'

/** What the transport says besides messages. */
interface StdioOptions {
  readonly program: RunningProgram
  readonly parse: (text: unknown) => JSONRPCMessage
  readonly serialize: (message: JSONRPCMessage) => string
  /** In Unix milliseconds. */
  readonly now: () => number
}

/** Why a connection is of no use any more. */
type Ending = { readonly reason: string }

/**
 * A server that is a program: a message a line on its standard input and output. Everything else it writes is read and dropped, but for the
 * end of its error output.
 */
export class StdioTransport implements Transport {
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  onmessage?: Transport['onmessage']
  readonly #options: StdioOptions
  #pieces: Buffer[] = []
  #bytes = 0
  #noise = 0
  #window = { atMs: 0, count: 0 }
  #errors = ''
  #isOver = false
  /** Why it ended; `null` while it has not, or when we ended it. */
  ending: Ending | null = null
  /** The first line on its output that was no message. */
  firstNoise: string | null = null

  constructor(options: StdioOptions) {
    this.#options = options
  }

  /** The end of what it wrote to its error output. */
  get errors(): string {
    return this.#errors.trim()
  }

  async start(): Promise<void> {
    const { program } = this.#options
    program.stdout.on('data', (chunk: Buffer) => this.#read(chunk))
    program.stdout.on('error', () => undefined)
    // One that has ended takes nothing more; that it has is told below.
    program.stdin.on('error', () => undefined)
    program.stderr.on('data', (chunk: Buffer) => {
      this.#errors = (this.#errors + chunk.toString('utf8')).slice(-KEPT_ERROR_CHARS)
    })
    program.stderr.on('error', () => undefined)
    void program.ended.then(async ({ exitCode, signal }) => {
      await drained(program.stderr)
      const how = signal === null ? `with exit code ${exitCode ?? 'unknown'}` : `by ${signal}`
      this.#end({ reason: exitCode === 127 ? NOT_FOUND : `it ended ${how}` })
    })
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isOver) throw new Error('The server has ended.')
    const { stdin } = this.#options.program
    // Calls that are made side by side are one write: each one wakes the server up.
    if (stdin.writableCorked === 0) {
      stdin.cork()
      process.nextTick(() => stdin.uncork())
    }
    if (stdin.write(this.#options.serialize(message))) return
    // One that reads nothing holds up nobody but its own calls.
    await new Promise<void>((resolve) => {
      const go = () => {
        stdin.off('drain', go)
        stdin.off('close', go)
        resolve()
      }
      stdin.once('drain', go)
      stdin.once('close', go)
      void this.#options.program.ended.then(go)
    })
  }

  async close(): Promise<void> {
    this.#end(null)
    await this.#options.program.kill()
  }

  #end(ending: Ending | null): void {
    if (this.#isOver) return
    this.#isOver = true
    this.ending = ending
    this.#pieces = []
    this.onclose?.()
  }

  #giveUp(reason: string): void {
    this.#end({ reason })
    void this.#options.program.kill()
  }

  #read(chunk: Buffer): void {
    let from = 0
    while (!this.#isOver) {
      const at = chunk.indexOf(NEWLINE, from)
      const piece = chunk.subarray(from, at < 0 ? chunk.length : at)
      this.#bytes += piece.length
      if (this.#bytes > MOST_BYTES) {
        this.#giveUp(`it sent a message of more than ${MOST_BYTES / 1024 / 1024} MB`)
        return
      }
      if (piece.length > 0) this.#pieces.push(piece)
      if (at < 0) return
      const line = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces)
      this.#pieces = []
      this.#bytes = 0
      from = at + 1
      this.#take(line.toString('utf8').trim())
    }
  }

  #take(line: string): void {
    if (line === '') return
    const message = this.#parse(line)
    if (message === null) {
      this.firstNoise ??= line.slice(0, 200)
      if (++this.#noise > MOST_NOISE) this.#giveUp('it writes to its output what is no message')
      return
    }
    this.#noise = 0
    if (this.#floods()) {
      this.#giveUp(`it sent more than ${MOST_PER_SECOND} messages in a second`)
      return
    }
    this.onmessage?.(message)
  }

  #parse(line: string): JSONRPCMessage | null {
    if (!line.startsWith('{')) return null
    try {
      const value: unknown = JSON.parse(line)
      return isPlainAnswer(value) ? value : this.#options.parse(value)
    } catch {
      return null
    }
  }

  #floods(): boolean {
    const now = this.#options.now()
    if (now - this.#window.atMs >= 1000) this.#window = { atMs: now, count: 0 }
    return ++this.#window.count > MOST_PER_SECOND
  }
}

/** Whether it is an answer as the protocol has it and nothing besides, which is nearly all that servers send: it needs no library to say so. */
function isPlainAnswer(value: unknown): value is JSONRPCMessage {
  if (!isJsonObject(value)) return false
  const { jsonrpc, id, result } = value
  return (
    jsonrpc === '2.0' &&
    (typeof id === 'number' || typeof id === 'string') &&
    isJsonObject(result) &&
    !('_meta' in result) &&
    Object.keys(value).length === 3
  )
}

/** Resolves once nothing more comes: why a program ended stands last. */
function drained(stream: RunningProgram['stderr']): Promise<void> {
  if (stream.readableEnded || stream.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    const late = setTimeout(resolve, DRAIN_MS)
    stream.once('close', () => {
      clearTimeout(late)
      resolve()
    })
  })
}
