import { errorLine, type JsonObject, type JsonValue } from '@hermes/contracts'
import type { ToolCaller } from '@hermes/contracts/tool'
import type { CodeRequest } from './code-request.js'
import { checkArguments, refusal, scriptResult } from './script-tools.js'
import type { TimeLimit } from './time-limit.js'

/** The calls of one program. */
export class ProgramCalls {
  readonly #tools: ToolCaller
  readonly #maxCalls: number
  readonly #progress: CodeRequest['progress']
  readonly #limit: TimeLimit
  readonly #end = new AbortController()
  #made = 0
  #finished = 0
  #isTainted = false

  constructor(options: {
    readonly tools: ToolCaller
    readonly maxCalls: number
    readonly progress: CodeRequest['progress']
    readonly limit: TimeLimit
  }) {
    this.#tools = options.tools
    this.#maxCalls = options.maxCalls
    this.#progress = options.progress
    this.#limit = options.limit
  }

  get made(): number {
    return this.#made
  }

  /** Whether the program got text from outside. */
  get isTainted(): boolean {
    return this.#isTainted
  }

  /** Ends what is under way. */
  stop(): void {
    this.#end.abort()
  }

  /** Answers one call; never rejects. */
  readonly handle = async (tool: string, args: JsonObject): Promise<JsonValue> => {
    const refused = refusal(tool, this.#tools.definitions)
    if (refused !== null) return { error: refused }
    if (this.#made >= this.#maxCalls)
      return { error: `The limit of ${this.#maxCalls} tool calls is reached. Print what you have.` }
    const checked = checkArguments(tool, args)
    if (typeof checked === 'string') return { error: checked }
    this.#made++
    try {
      const outcome = await this.#tools.call(tool, checked, { signal: this.#end.signal, onWait: this.#limit.wait })
      this.#isTainted ||= outcome.content.some((part) => 'origin' in part && part.origin === 'external')
      return scriptResult(tool, outcome)
    } catch (error) {
      return { error: this.#end.signal.aborted ? 'The program was stopped.' : errorLine(error) }
    } finally {
      this.#finished++
      const data = { calls_finished: this.#finished, calls_made: this.#made }
      this.#progress(`${this.#finished}/${this.#made} calls`, { data })
    }
  }
}
