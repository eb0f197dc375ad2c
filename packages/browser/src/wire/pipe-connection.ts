import type { RunningProgram } from '@hermes/contracts/environment'
import type { CdpConnection, CdpMessage } from './connection.js'

/** A snapshot of a huge page is some tens of megabytes; what is longer is no answer. */
const MOST_BYTES = 256 * 1024 * 1024
const KEPT_ERROR_CHARS = 4_000

/** A browser that was started with `--remote-debugging-pipe`: messages end with a zero byte. */
export class PipeConnection implements CdpConnection {
  onMessage: (message: CdpMessage) => void = () => undefined
  onClose: (reason: string) => void = () => undefined
  readonly #program: RunningProgram
  #pieces: Buffer[] = []
  #bytes = 0
  #isOver = false
  #errors = ''
  #signal: string | null = null

  constructor(program: RunningProgram) {
    this.#program = program
    program.stdout.on('data', (chunk: Buffer) => this.#read(chunk))
    program.stdout.on('error', () => undefined)
    program.stderr.on('data', (chunk: Buffer) => {
      this.#errors = (this.#errors + chunk.toString('utf8')).slice(-KEPT_ERROR_CHARS)
    })
    program.stderr.on('error', () => undefined)
    void program.ended.then(({ exitCode, signal }) => {
      this.#signal = signal
      this.#end(signal === null ? `it ended with exit code ${exitCode ?? 'unknown'}` : `it was ended by ${signal}`)
    })
  }

  /** What killed it; `null` while it runs, and where it ended by itself. */
  get signal(): string | null {
    return this.#signal
  }

  /** The end of what the browser wrote to its error output. */
  get errors(): string {
    return this.#errors
  }

  send(message: object): void {
    if (!this.#isOver) this.#program.stdin.write(`${JSON.stringify(message)}\0`)
  }

  async close(): Promise<void> {
    this.#end('it was closed')
    await this.#program.kill()
  }

  #end(reason: string): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#pieces = []
    this.onClose(reason)
  }

  #read(chunk: Buffer): void {
    let from = 0
    while (!this.#isOver) {
      const at = chunk.indexOf(0, from)
      const piece = chunk.subarray(from, at < 0 ? chunk.length : at)
      this.#pieces.push(piece)
      this.#bytes += piece.length
      if (this.#bytes > MOST_BYTES) {
        this.#end('it sent a message without end')
        void this.#program.kill()
        return
      }
      if (at < 0) return
      const text = Buffer.concat(this.#pieces).toString('utf8')
      this.#pieces = []
      this.#bytes = 0
      from = at + 1
      this.onMessage(JSON.parse(text) as CdpMessage)
    }
  }
}
