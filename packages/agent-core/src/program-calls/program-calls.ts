import { errorLine, HermesError, type JsonObject, type JsonValue } from '@hermes/contracts'
import { taintsOfPart } from '@hermes/contracts/conversation'
import type { ToolCaller, ToolDefinition, ToolOutcome, ToolState } from '@hermes/contracts/tool'
import { errorOutcome, type PreparedCall, type ToolNames } from '@hermes/registry'
import { deniedData } from '../events/denial.js'
import { type ChangedResult, changeResult, gateCall, runWrapped } from '../hooks/tool-call-hooks.js'
import type { RunContext } from '../loop/run-context.js'
import { type PlannedCall, segmentLength } from '../loop/segments.js'
import { asTool, toolContext } from '../loop/tool-context.js'
import { settleParts } from '../outside-text/settle-sources.js'
import { ParkedApproval } from '../permits/parked-approval.js'
import { plannedCall } from '../permits/plan-context.js'
import { permitsOf } from '../permits/request-permit.js'
import { visibleTools } from '../permits/visible-tools.js'
import { redactData } from '../session/session.js'

const MAX_NOTED_CHARS = 500
/** Where it is shown, the other tools of the session can be called too. */
const TOOL_SEARCH = 'tool_search'

type Prepared = Extract<PreparedCall, { type: 'prepared' }>

/** The way from the program that call `callId` runs to the tools of its session. */
export function createScriptCalls(context: RunContext, callId: string): ToolCaller {
  return new ScriptCalls(context, callId)
}

class ScriptCalls implements ToolCaller {
  readonly #context: RunContext
  readonly #callId: string
  readonly #running: PlannedCall[] = []
  readonly #waiting: { readonly call: PlannedCall; readonly start: () => void }[] = []
  #noted: Promise<unknown> = Promise.resolve()
  #calls = 0
  readonly #taints = new Set<string>()
  #known: { readonly visible: ToolNames; readonly definitions: readonly ToolDefinition[] } | null = null

  constructor(context: RunContext, callId: string) {
    this.#context = context
    this.#callId = callId
  }

  /** What the model was shown, and what it could find: a program need not look for a tool that it names. */
  get definitions(): readonly ToolDefinition[] {
    const visible = visibleTools(this.#context)
    if (this.#known?.visible === visible) return this.#known.definitions
    const { session, registry } = this.#context
    const shown = (session.prompt()?.tools ?? []).filter(({ name }) => visible.has(name))
    const known = new Set(shown.map(({ name }) => name))
    const hidden = visible.has(TOOL_SEARCH) ? [...visible].filter((name) => !known.has(name)) : []
    const found = hidden.flatMap((name) => {
      const tool = registry.get(name)
      return tool ? [{ name, description: tool.description, parameters: tool.parameters as JsonObject }] : []
    })
    this.#known = { visible, definitions: [...shown, ...found] }
    return this.#known.definitions
  }

  async call(
    name: string,
    args: JsonObject,
    options: { readonly signal?: AbortSignal; readonly onWait?: (isWaiting: boolean) => void } = {},
  ): Promise<ToolOutcome> {
    const { registry, clock, subject } = this.#context
    const signal = options.signal ? AbortSignal.any([this.#context.signal, options.signal]) : this.#context.signal
    signal.throwIfAborted()
    const emit: RunContext['emit'] = (event, seq) => {
      if (event.type === 'approval-request') options.onWait?.(true)
      if (event.type === 'approval-resolve') options.onWait?.(false)
      this.#context.emit(event, seq)
    }
    const context: RunContext = { ...this.#context, signal, emit, subject: { ...subject, origin: 'script' } }
    const number = ++this.#calls
    const startedAtMs = clock.now()
    const prepared = await registry.prepare({ name, args }, visibleTools(context))
    const run = prepared.type === 'immediate' ? prepared.outcome : await this.#run(context, prepared, number)
    const outcome = { ...run, content: await settleParts(run.content, context.trust) }
    for (const taint of outcome.content.flatMap(taintsOfPart)) this.#taints.add(taint)
    await this.#note({ tool: name, args, duration_seconds: (clock.now() - startedAtMs) / 1000, error: outcome.isError })
    return outcome
  }

  async #run(context: RunContext, prepared: Prepared, number: number): Promise<ToolOutcome> {
    const planned = plannedCall(context, prepared)
    await this.#turn(planned)
    try {
      context.signal.throwIfAborted()
      return await this.#permitted({ ...context, taintedBy: [...this.#taints] }, prepared, number)
    } finally {
      this.#running.splice(this.#running.indexOf(planned), 1)
      this.#startNext()
    }
  }

  async #permitted(run: RunContext, prepared: Prepared, number: number): Promise<ToolOutcome> {
    const { tool } = prepared
    const context = asTool(run, tool)
    const { session, clock } = context
    const call = { callId: `${this.#callId}.${number}`, caller: 'program', tool } as const
    const startedAtMs = clock.now()
    const result = async (args: JsonObject, outcome: ToolOutcome, isRefused: boolean) => {
      const ended = { startedAtMs, endedAtMs: clock.now(), isRefused, toolName: tool.name, args, outcome }
      return withAppended(await changeResult(context, { ...call, ...ended }))
    }
    try {
      const requested = prepared.args as JsonObject
      const gated = await gateCall(context, { ...call, args: requested, rawArgs: JSON.stringify(requested) })
      if (gated.type === 'refused') return await result(requested, errorOutcome(gated.reason), true)
      const { args, ask } = gated
      // Whoever is asked sees the call that the model made: it is the one on the screen.
      const permits = await permitsOf(context, this.#callId, { tool, args, ask })
      const more = { state: stateOfItsOwn(session.state), progress: () => undefined }
      const running = { ...prepared, args } as const
      const outcome = await runWrapped(context, { ...call, args, rawArgs: JSON.stringify(args) }, () =>
        context.registry.execute(running, toolContext(context, this.#callId, permits, more)),
      )
      return await result(args, outcome, false)
    } catch (error) {
      if (context.signal.aborted) throw error
      if (HermesError.isInstance(error) && error.code === 'policy.denied') {
        const data = deniedData({ tool: tool.name, reason: session.redact(error.message) })
        context.emit({ type: 'tool-progress', callId: this.#callId, text: `${tool.name} was not permitted`, data })
      }
      return errorOutcome(error instanceof ParkedApproval ? error.message : errorLine(error))
    }
  }

  /** Calls start in the order they came, each once everything it must not overlap with is done. */
  #turn(call: PlannedCall): Promise<void> {
    return new Promise((start) => {
      this.#waiting.push({ call, start })
      this.#startNext()
    })
  }

  #startNext(): void {
    for (;;) {
      const next = this.#waiting[0]
      if (!next || segmentLength([...this.#running, next.call]) <= this.#running.length) return
      this.#waiting.shift()
      this.#running.push(next.call)
      next.start()
    }
  }

  /** One at a time: entries of the log are in the order in which they were appended. */
  #note(data: JsonObject): Promise<unknown> {
    const { session } = this.#context
    const shortened = shorten(redactData({ call: this.#callId, ...data }, session.redact)) as JsonObject
    const append = () => session.append({ type: 'note', kind: 'sandbox.tool_call', data: shortened })
    this.#noted = this.#noted.then(append, append)
    return this.#noted
  }
}

/** A program gets what is appended for the model too. */
function withAppended({ outcome, appended }: ChangedResult): ToolOutcome {
  return appended.length === 0 ? outcome : { ...outcome, content: [...outcome.content, ...appended] }
}

/** What a program reads the model has not seen: neither may a later call of either be told that it has. */
function stateOfItsOwn(state: ToolState): ToolState {
  const scratch = new Map<string, unknown>()
  return {
    latest: (toolName) => state.latest(toolName),
    compactions: () => state.compactions(),
    scratch: <T>(key: string, create: () => T): T => {
      if (!scratch.has(key)) scratch.set(key, create())
      return scratch.get(key) as T
    },
  }
}

function shorten(value: JsonValue): JsonValue {
  if (typeof value === 'string')
    return value.length > MAX_NOTED_CHARS ? `${value.slice(0, MAX_NOTED_CHARS).toWellFormed()}…` : value
  if (Array.isArray(value)) return value.slice(0, MAX_NOTED_CHARS).map((item: JsonValue) => shorten(item))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shorten(item as JsonValue)]))
}
