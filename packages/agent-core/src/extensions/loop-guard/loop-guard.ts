import type { JsonValue } from '@hermes/contracts'
import { messageText, type ToolMessage } from '@hermes/contracts/conversation'
import type { ToolOutcome } from '@hermes/registry'

/** What is done about calls that go in circles. */
export interface LoopGuardOptions {
  /** Whether the model is told on the result. Default `true`. */
  readonly warnings?: boolean
  /** Whether calls are refused, and the run is ended, when it goes on all the same; for runs that nobody watches. Default `false`. */
  readonly hardStops?: boolean
  /** After how many of a kind the model is told. Default 2, 3 and 2. */
  readonly warnAfter?: LoopLimits
  /** After how many the next one is refused, or with `toolFailures` ends the run. Default 5, 8 and 5. */
  readonly stopAfter?: LoopLimits
  /** What one run may start at most, whoever watches. Default 50 of each. */
  readonly caps?: LoopCaps
}

/** How often something may happen. */
interface LoopLimits {
  /** The same call fails. */
  readonly sameFailures: number
  /** Calls of the same tool fail, whatever their arguments. */
  readonly toolFailures: number
  /** The same call brings the same result. */
  readonly sameResults: number
}

/** What a run may start at most. */
interface LoopCaps {
  readonly subagents: number
  readonly webSearches: number
}

/** What a call that is about to run gets. */
export type GuardVerdict =
  | { readonly type: 'allow' }
  /** Not run; the text is its result. `isRepeated`: because it was made too often, not because of a limit of its kind. */
  | { readonly type: 'block'; readonly text: string; readonly isRepeated: boolean }
  /** Not run, and the run ends after it. */
  | { readonly type: 'halt'; readonly text: string }

/**
 * Failures of these, and results that stay the same, are everyday: tests that fail, processes that are waited for. The same call may fail
 * twice as often, and other calls as often as they like.
 */
const TOLERATED: ReadonlySet<string> = new Set([
  'terminal',
  'process',
  'execute_code',
  'browser_navigate',
  'web_extract',
])

const WARN_AFTER: LoopLimits = { sameFailures: 2, toolFailures: 3, sameResults: 2 }
const STOP_AFTER: LoopLimits = { sameFailures: 5, toolFailures: 8, sameResults: 5 }
const TOLERANCE = 2
/** In so many replies of a run calls are blocked; then it ends. */
const MAX_BLOCKED_REPLIES = 2
const CAPS: LoopCaps = { subagents: 50, webSearches: 50 }
/** So many rounds of the same calls with the same results, of at most so many calls, are a circle. */
const CIRCLE = { rounds: 3, maxCalls: 4 }
/** Of a result that is compared, from both of its ends. */
const COMPARED_CHARS = 500
/** What is waited for stays the same for as long as it takes. */
const WAITING: ReadonlySet<string> = new Set(['process', 'browser_navigate', 'web_extract'])

/** A finished call, as the guard counts it. */
interface GuardedCall {
  readonly toolName: string
  readonly args: JsonValue
  readonly effect: 'read' | 'write'
  readonly outcome: ToolOutcome
  /** It never ran: refused by the policy, a hook or a limit, of unknown name or with arguments that do not fit. Default `false`. */
  readonly isRefused?: boolean
}

/**
 * Notices within one run that a model calls the same thing over and over: a call that fails with the same arguments, a tool that fails
 * whatever the arguments, a read that brings nothing new, a few calls in a circle. Whatever changes something with success starts the count anew, since a call
 * may well come out differently after it; only a circle is one with such calls in it too, and then the model is told, not stopped.
 */
export class LoopGuard {
  readonly #options: Required<LoopGuardOptions>
  readonly #failures = new Map<string, number>()
  readonly #toolFailures = new Map<string, number>()
  readonly #results = new Map<string, { readonly text: string; readonly count: number }>()
  /** The last calls with their results, newest last. */
  readonly #trail: string[] = []
  readonly #used: Record<keyof LoopCaps, number> = { subagents: 0, webSearches: 0 }
  #halted: string | null = null
  #refusals = 0
  #blockedReplies = 0
  #isReplyBlocked = false

  constructor(options: LoopGuardOptions = {}) {
    const { warnings = true, hardStops = false, warnAfter = WARN_AFTER, stopAfter = STOP_AFTER, caps = CAPS } = options
    this.#options = { warnings, hardStops, warnAfter, stopAfter, caps }
  }

  /** Why the run is to end; `null` as long as it may go on. */
  get halted(): string | null {
    return this.#halted
  }

  /** The calls of another reply of the model begin. */
  nextReply(): void {
    this.#isReplyBlocked = false
  }

  /** A call of a tool that is there, with arguments that fit: it is counted where a run may have only so many. */
  before(toolName: string, args: JsonValue): GuardVerdict {
    const repeated = this.repeats(toolName, args)
    if (repeated.type !== 'allow') return repeated
    return this.starts(toolName, args)
  }

  /** Counts what a run may start only so many of. */
  starts(toolName: string, args: JsonValue): GuardVerdict {
    const capped = this.#capped(toolName, args)
    return capped === null ? { type: 'allow' } : block(capped, false)
  }

  /** Whether a call, even one that cannot be run, was made too often. */
  repeats(toolName: string, args: JsonValue): GuardVerdict {
    if (!this.#options.hardStops) return { type: 'allow' }
    if (this.#halted !== null) return halt(this.#halted)
    const { stopAfter } = this.#options
    const key = callKey(toolName, args)
    const isTolerated = TOLERATED.has(toolName)
    if (this.#refusals >= stopAfter.toolFailures) return this.#halt(`${this.#refusals} calls in a row were refused.`)
    const toolFailures = this.#toolFailures.get(toolName) ?? 0
    if (toolFailures >= stopAfter.toolFailures) return this.#halt(`${toolName} failed ${toolFailures} times in a row.`)
    const failures = this.#failures.get(key) ?? 0
    if (failures >= stopAfter.sameFailures * (isTolerated ? TOLERANCE : 1))
      return this.#block(`this call failed ${failures} times with the same arguments. Do something else.`)
    const same = this.#results.get(key)?.count ?? 0
    if (same >= stopAfter.sameResults)
      return this.#block(`this call brought the same result ${same} times. Use that result, or do something else.`)
    return { type: 'allow' }
  }

  /** Whoever goes on after a block gets another; the reply after that is the last. */
  #block(reason: string): GuardVerdict {
    if (!this.#isReplyBlocked) this.#blockedReplies++
    this.#isReplyBlocked = true
    return this.#blockedReplies >= MAX_BLOCKED_REPLIES ? this.#halt(`Again ${reason}`) : block(reason, true)
  }

  #halt(reason: string): GuardVerdict {
    this.#halted = reason
    return halt(reason)
  }

  #capped(toolName: string, args: JsonValue): string | null {
    const [kind, count] = startsOf(toolName, args)
    if (kind === null) return null
    const most = this.#options.caps[kind]
    const used = this.#used[kind]
    if (used + count > most)
      return `a run starts ${most} ${kind === 'subagents' ? 'agents' : 'web searches'} at most, and ${used} were started. Go on with what you have.`
    this.#used[kind] += count
    return null
  }

  /** Counts a finished call. Gives what the model should be told on its result; `null` for nothing. */
  after({ toolName, args, effect, outcome, isRefused = false }: GuardedCall): string | null {
    const key = callKey(toolName, args)
    const circle = this.#circle(toolName, key, outcome)
    this.#refusals = isRefused ? this.#refusals + 1 : 0
    const hint =
      outcome.isError || hasFailed(outcome) ? this.#failed(toolName, key) : this.#worked(toolName, key, effect, outcome)
    const text = hint ?? circle
    return this.#options.warnings && text !== null ? `[${text}]` : null
  }

  #circle(toolName: string, key: string, outcome: ToolOutcome): string | null {
    if (WAITING.has(toolName)) return null
    this.#trail.push(`${key} ${edges(outcome)}`)
    if (this.#trail.length > CIRCLE.rounds * CIRCLE.maxCalls) this.#trail.shift()
    for (let calls = 1; calls <= CIRCLE.maxCalls; calls++) {
      const last = this.#trail.slice(-CIRCLE.rounds * calls)
      if (last.length < CIRCLE.rounds * calls || last.some((one, at) => one !== last[at % calls])) continue
      const what = calls === 1 ? 'This call was' : `The last ${calls} calls were`
      return `${what} made ${CIRCLE.rounds} times now, with the same results. Nothing new comes of it; do something else, or say what is in the way.`
    }
    return null
  }

  #failed(toolName: string, key: string): string | null {
    const failures = add(this.#failures, key)
    const toolFailures = TOLERATED.has(toolName) ? 0 : add(this.#toolFailures, toolName)
    if (failures >= this.#options.warnAfter.sameFailures)
      return `This call has now failed ${failures} times with the same arguments. Change the arguments or the approach; do not repeat it.`
    if (toolFailures >= this.#options.warnAfter.toolFailures)
      return `${toolName} has failed ${toolFailures} times in a row. Read the errors and take another way.`
    return null
  }

  #worked(toolName: string, key: string, effect: 'read' | 'write', outcome: ToolOutcome): string | null {
    this.#failures.delete(key)
    this.#toolFailures.delete(toolName)
    if (effect === 'write') {
      this.#failures.clear()
      this.#toolFailures.clear()
      this.#results.clear()
      return null
    }
    if (TOLERATED.has(toolName)) return null
    const text = messageText({ role: 'tool', callId: '', toolName, content: outcome.content } satisfies ToolMessage)
    const last = this.#results.get(key)
    const count = last?.text === text ? last.count + 1 : 1
    this.#results.set(key, { text, count })
    if (count < this.#options.warnAfter.sameResults) return null
    return `This call has now brought the same result ${count} times. It is above; use it.`
  }
}

/** A command that ended with another status than 0 is a result like any other to its tool. */
function hasFailed({ data }: ToolOutcome): boolean {
  const status = typeof data === 'object' && data !== null && 'exit_code' in data ? data['exit_code'] : 0
  return typeof status === 'number' && status !== 0
}

/** Enough of a result to tell it from another. */
function edges({ content, isError }: ToolOutcome): string {
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('')
  return `${isError} ${text.length} ${text.slice(0, COMPARED_CHARS)} ${text.slice(-COMPARED_CHARS)}`
}

/** What a call starts that a run may have only so many of. */
function startsOf(toolName: string, args: JsonValue): readonly [keyof LoopCaps | null, number] {
  if (toolName === 'web_search' || toolName === 'x_search') return ['webSearches', 1]
  if (toolName !== 'delegate_task') return [null, 0]
  const tasks = typeof args === 'object' && args !== null && 'tasks' in args ? args['tasks'] : null
  return ['subagents', Array.isArray(tasks) ? Math.max(1, tasks.length) : 1]
}

function halt(reason: string): GuardVerdict {
  return { type: 'halt', text: `Not run: ${reason} The run ends here.` }
}

function block(reason: string, isRepeated: boolean): GuardVerdict {
  return { type: 'block', text: `Not run: ${reason}`, isRepeated }
}

function add(counts: Map<string, number>, key: string): number {
  const count = (counts.get(key) ?? 0) + 1
  counts.set(key, count)
  return count
}

/** Tells a call again; the same for arguments whose keys come in another order. */
export function callKey(toolName: string, args: JsonValue): string {
  return `${toolName} ${JSON.stringify(sorted(args))}`
}

function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => sorted(item))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).flatMap(([key, item]) =>
    item === undefined ? [] : [[key, sorted(item)] as const],
  )
  return Object.fromEntries(entries.sort(([left], [right]) => (left < right ? -1 : 1)))
}
