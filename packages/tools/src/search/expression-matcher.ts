import { createContext, Script } from 'node:vm'
import type { MatchingThread } from './matching-thread.js'

/** Ten times what an everyday expression takes for as much as is matched at once. */
const PATIENCE_MS = 25
const LIMIT_MS = 1000

const FIND_HITS = `files.map((lines) => {
  const hits = []
  for (let i = 0; i < lines.length; i++) if (regex.test(lines[i])) hits.push(i)
  return hits
})`

type Files = readonly (readonly string[])[]
type Hits = readonly (readonly number[])[]

/** Matches lines with an expression that may take any time: on the event loop while it is quick, else in a thread. */
export class ExpressionMatcher {
  readonly #regex: RegExp
  readonly #sandbox: { files: Files; readonly regex: RegExp }
  // A time limit on `vm` is the one way to stop an expression that runs on the event loop. It starts a thread for each call.
  readonly #script = new Script(FIND_HITS)
  #thread: MatchingThread | null = null

  constructor(regex: RegExp) {
    this.#regex = regex
    this.#sandbox = createContext({ regex, files: [] }) as { files: Files; readonly regex: RegExp }
  }

  /** The numbers, from 0, of the lines that match, for each file; `null` after more than a second. Abort rejects with its reason. */
  async match(files: Files, signal: AbortSignal): Promise<Hits | null> {
    if (!this.#thread) {
      const hits = this.#matchHere(files, PATIENCE_MS)
      if (hits) return hits
      const { startMatchingThread } = await import('./matching-thread.js')
      this.#thread = await startMatchingThread(this.#regex)
    }
    return this.#thread ? this.#thread.match(files, { limitMs: LIMIT_MS, signal }) : this.#matchHere(files, LIMIT_MS)
  }

  async end(): Promise<void> {
    await this.#thread?.end()
  }

  #matchHere(files: Files, timeout: number): Hits | null {
    this.#sandbox.files = files
    try {
      return this.#script.runInContext(this.#sandbox, { timeout }) as number[][]
    } catch (error) {
      if ((error as { code?: unknown }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return null
      throw error
    }
  }
}
