import type { Logger } from '@hermes/contracts'
import type { Tool, ToolSource } from '@hermes/contracts/tool'
import { type RegisteredTool, shortName, toRegisteredTool } from './registered-tool.js'
import { isBuiltIn } from './toolsets.js'

const ANSWERS_WITHIN_MS = 30_000
const MOST_NAMED = 5
/** What one source may bring: each of its tools is read, and may be shown whole in an answer. */
const MOST_TOOLS = 10_000
const MOST_CHARS = 100_000

/** How a source is listed. */
export interface SourceListingOptions {
  /** Is told, in one line, what a source offers that is no tool, and of one that fails. Default: nobody. */
  readonly logger?: Pick<Logger, 'warn'> | undefined
  /** In milliseconds. Default 30,000. */
  readonly answersWithinMs?: number | undefined
}

/** Lists a source at first, unless there is nothing yet, and after each of its changes, until it is stopped. */
export class SourceListing {
  readonly source: ToolSource
  readonly #options: SourceListingOptions
  /** Of the list that is under way. */
  #under: AbortController | null = null
  #isStopped = false
  #tools: ReadonlyMap<string, RegisteredTool> = new Map()
  #names: readonly string[] = []
  #version = 0
  #isListing = false
  #hasChanged = false
  #unsubscribe: (() => void) | undefined
  /** What was said last, which is not said again. */
  #lastProblem = ''

  constructor(source: ToolSource, options: SourceListingOptions) {
    this.source = source
    this.#options = options
  }

  /** By name and alias. */
  get tools(): ReadonlyMap<string, RegisteredTool> {
    return this.#tools
  }

  /** Without aliases. */
  get names(): readonly string[] {
    return this.#names
  }

  /** Grows with every list. */
  get version(): number {
    return this.#version
  }

  start(): void {
    try {
      this.#unsubscribe = this.source.onChange?.(() => this.#refresh())
    } catch (error) {
      this.#say(`cannot say when it changes: ${lineOf(error)}`)
    }
    if (!this.source.listsLater) this.#refresh()
  }

  stop(): void {
    this.#isStopped = true
    this.#under?.abort()
    try {
      this.#unsubscribe?.()
    } catch (error) {
      this.#say(`could not be left: ${lineOf(error)}`)
    }
  }

  /** One list at a time: what changes meanwhile is in the next one. */
  #refresh(): void {
    this.#hasChanged = true
    if (this.#isListing) return
    this.#isListing = true
    this.#listAll()
  }

  #listAll(): void {
    try {
      while (this.#hasChanged && !this.#isStopped) {
        const over = new AbortController()
        this.#under = over
        const listed = this.source.list(over.signal)
        // One that says so while it is asked would be asked for ever.
        this.#hasChanged = false
        if (!isPromise(listed)) this.#accept(listed)
        else {
          // Only one that takes time has a limit: a home has many sources, and most give what they know.
          const late = () => over.abort(new DOMException('It took too long.', 'TimeoutError'))
          const timer = setTimeout(late, this.#options.answersWithinMs ?? ANSWERS_WITHIN_MS).unref()
          untilAbort(listed, over.signal)
            .finally(() => clearTimeout(timer))
            .then(
              (tools) => this.#settle(() => this.#accept(tools)),
              (error: unknown) => this.#settle(() => this.#fail(error)),
            )
          return
        }
      }
    } catch (error) {
      this.#hasChanged = false
      this.#fail(error)
    }
    this.#isListing = false
  }

  #settle(take: () => void): void {
    if (!this.#isStopped) take()
    this.#listAll()
  }

  #fail(error: unknown): void {
    if (this.#isStopped) return
    const isLate = error instanceof DOMException && error.name === 'TimeoutError'
    const seconds = (this.#options.answersWithinMs ?? ANSWERS_WITHIN_MS) / 1000
    this.#say(isLate ? `did not list its tools within ${seconds} s` : `could not list its tools: ${lineOf(error)}`)
  }

  #accept(listed: unknown): void {
    if (!Array.isArray(listed)) {
      this.#say('gave no list of tools')
      return
    }
    const left: string[] = []
    const tools = new Map<string, RegisteredTool>()
    const names: string[] = []
    for (const item of listed.slice(0, MOST_TOOLS)) {
      const problem = this.#take(item as Tool, tools)
      if (problem === null) names.push((item as Tool).name)
      else left.push(problem)
    }
    if (listed.length > MOST_TOOLS) left.unshift(`all but the first ${MOST_TOOLS} of ${listed.length} tools`)
    this.#tools = tools
    this.#names = names
    this.#version++
    const more = left.length > MOST_NAMED ? ` and ${left.length - MOST_NAMED} more` : ''
    if (left.length > 0) this.#say(`lists what is left out: ${left.slice(0, MOST_NAMED).join('; ')}${more}`)
  }

  /** Takes a tool in, or says what is wrong with it. */
  #take(tool: Tool, tools: Map<string, RegisteredTool>): string | null {
    try {
      if (typeof tool?.execute !== 'function' || typeof tool.description !== 'string')
        return `"${shortName(tool?.name)}" is no tool`
      const { deferred = false, trusted = false, name: toolset } = this.source
      const about = { isDeferred: deferred || !trusted, mayChange: true, isOutside: !trusted }
      const registered = toRegisteredTool(tool, about)
      const all = [tool.name, ...(tool.aliases ?? [])]
      if (tool.toolset !== toolset) return `"${tool.name}" is of toolset "${shortName(tool.toolset)}"`
      const taken = all.find((name) => isBuiltIn(name))
      if (taken !== undefined) return `"${taken}" is the name of a tool of Hermes`
      const twice = all.find((name) => tools.has(name))
      if (twice !== undefined) return `"${twice}" is listed twice`
      // What cannot be written down would be in every answer that shows it.
      const chars = JSON.stringify(registered.parameters.whole).length + tool.description.length
      if (chars > MOST_CHARS) return `"${tool.name}" is described in ${chars} characters, more than ${MOST_CHARS}`
      for (const name of all) tools.set(name, registered)
      return null
    } catch (error) {
      return lineOf(error).replace(/\.$/, '')
    }
  }

  #say(problem: string): void {
    if (problem === this.#lastProblem) return
    this.#lastProblem = problem
    this.#options.logger?.warn(`Tool source ${this.source.name} ${problem}.`)
  }
}

const isPromise = <T>(value: T | Promise<T>): value is Promise<T> =>
  typeof (value as Partial<Promise<T>> | null | undefined)?.then === 'function'

function lineOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/\s+/g, ' ').slice(0, 300).trim()
}

function untilAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    Promise.resolve(work)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', abort))
  })
}
