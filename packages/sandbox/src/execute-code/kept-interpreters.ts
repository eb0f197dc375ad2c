import type { CodeRequest } from './code-request.js'
import type { CodeResult } from './code-result.js'
import { KeptInterpreter } from './kept-interpreter.js'
import type { ProgramSettings } from './run-program.js'

const MAX_KEPT = 4
const IDLE_MS = 1_800_000

interface Kept {
  readonly interpreter: KeptInterpreter
  readonly timer: NodeJS.Timeout
}

/** The interpreters that stay, one for a session and language: at most four, each until it is not used for half an hour. */
export class KeptInterpreters {
  readonly #settings: ProgramSettings
  /** The one used longest ago first. */
  readonly #kept = new Map<string, Kept>()

  constructor(settings: ProgramSettings) {
    this.#settings = settings
  }

  async run(request: CodeRequest): Promise<CodeResult> {
    const key = keyOf(request)
    const interpreter = await this.#take(key, request)
    try {
      const result = await interpreter.run(request)
      if (!interpreter.isOver) await this.#keep(key, interpreter)
      return result
    } catch (error) {
      await interpreter.close()
      throw error
    }
  }

  async reset(request: Pick<CodeRequest, 'sessionId' | 'language'>): Promise<void> {
    await this.#drop(keyOf(request))
  }

  async close(): Promise<void> {
    await Promise.all([...this.#kept.keys()].map((key) => this.#drop(key)))
  }

  /** While it runs it is nobody else's. */
  async #take(key: string, request: CodeRequest): Promise<KeptInterpreter> {
    const kept = this.#kept.get(key)
    if (!kept) return KeptInterpreter.start(this.#settings, request)
    clearTimeout(kept.timer)
    this.#kept.delete(key)
    if (!kept.interpreter.isOver) return kept.interpreter
    await kept.interpreter.close()
    return KeptInterpreter.start(this.#settings, request)
  }

  async #keep(key: string, interpreter: KeptInterpreter): Promise<void> {
    const timer = setTimeout(() => void this.#drop(key), IDLE_MS)
    timer.unref()
    this.#kept.set(key, { interpreter, timer })
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > MAX_KEPT) await this.#drop(oldest!)
  }

  async #drop(key: string): Promise<void> {
    const kept = this.#kept.get(key)
    if (!kept) return
    clearTimeout(kept.timer)
    this.#kept.delete(key)
    await kept.interpreter.close()
  }
}

function keyOf({ sessionId, language }: Pick<CodeRequest, 'sessionId' | 'language'>): string {
  return `${language}\0${sessionId}`
}
