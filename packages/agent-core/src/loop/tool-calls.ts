import { errorLine, type JsonObject } from '@hermes/contracts'
import type { NewEntry, TextPart, ToolCallPart, ToolMessage } from '@hermes/contracts/conversation'
import type { Permit } from '@hermes/contracts/policy'
import { effectOf, type Tool, type ToolContext } from '@hermes/contracts/tool'
import {
  errorOutcome,
  type PreparedCall,
  TOOL_CALL,
  TOOL_SEARCH,
  type ToolNames,
  type ToolOutcome,
} from '@hermes/registry'
import { settlesAtOnce } from '../hooks/dispatch.js'
import { type ChangedResult, changeResult, gateCall, runWrapped } from '../hooks/tool-call-hooks.js'
import { fenceResult, fenceWaiting } from '../outside-text/outside-text.js'
import { takeApprovalNote } from '../permits/approval-notes.js'
import { ParkedApproval } from '../permits/parked-approval.js'
import { plannedCall } from '../permits/plan-context.js'
import { permitsOf } from '../permits/request-permit.js'
import { visibleTools } from '../permits/visible-tools.js'
import { createScriptCalls } from '../program-calls/program-calls.js'
import { redactData } from '../session/session.js'
import { waitWhilePaused } from '../steering/pause.js'
import type { WaitingNote } from '../steering/steer-queue.js'
import type { RunContext } from './run-context.js'
import { MAX_PARALLEL_CALLS, type PlannedCall, segmentLength } from './segments.js'
import { askUser, asTool, toolContext } from './tool-context.js'

const NOT_RUN = 'This call was not run: the user interrupted first.'
const CUT_OFF = 'The user interrupted this call; it may have run in part. Check before you repeat it.'
const ARGUMENT_TAIL_CHARS = 60

type Call = Pick<ToolCallPart, 'id' | 'name' | 'args' | 'rawArgs'>

/** A call on its way: what was found out about it before it may run. */
interface PlannedToolCall extends PlannedCall {
  readonly call: Call
  readonly prepared: PreparedCall
}

/** A call with leave to run, or with its result already. */
interface ReadyCall {
  readonly call: Call
  /** `null` for a name that no tool has, and arguments that do not fit. */
  readonly tool: Tool | null
  readonly args: JsonObject
  readonly permits: Permit[]
  /** What extensions changed about it; `null` for nothing. */
  readonly note: string | null
  /** What the result says of arguments that did nothing. */
  readonly ignored?: string
  /** Why it does not run; `null` when it does. */
  readonly refused: ToolOutcome | null
}

/** How a batch ended. */
type BatchEnd = { readonly type: 'done' } | { readonly type: 'parked'; readonly approvalIds: readonly string[] }

/**
 * Runs the calls of one message: plan → prepare → execute → finalize, in segments whose members may overlap. Results are appended in
 * the order of the calls. On abort every call that has no result gets one that says so, then the abort goes on.
 */
export async function runToolCalls(context: RunContext, calls: readonly Call[]): Promise<BatchEnd> {
  const open = [...calls]
  try {
    while (open.length > 0) {
      context.signal.throwIfAborted()
      const window = await Promise.all(open.slice(0, MAX_PARALLEL_CALLS).map((call) => plan(context, call)))
      const segment = window.slice(0, segmentLength(window))
      await runSegment(context, segment, open)
    }
    return { type: 'done' }
  } catch (error) {
    if (error instanceof ParkedApproval) return { type: 'parked', approvalIds: [error.approvalId] }
    if (context.signal.aborted) await answerInterrupted(context, open)
    throw error
  }
}

async function plan(context: RunContext, call: Call): Promise<PlannedToolCall> {
  const prepared = await prepare(context, call)
  if (prepared.type === 'immediate') return { call, prepared, concurrency: 'parallel', paths: [], writes: false }
  return { call, prepared, ...plannedCall(context, prepared) }
}

function prepare(context: RunContext, call: Call): Promise<PreparedCall> | PreparedCall {
  if (call.args === null) return { type: 'immediate', outcome: errorOutcome(unreadableArguments(call)) }
  const visible = visibleTools(context)
  if (!visible.has(call.name) && context.session.prompt()?.tools.some(({ name }) => name === call.name))
    return { type: 'immediate', outcome: errorOutcome(goneTool(call.name, visible)) }
  return context.registry.prepare({ name: call.name, args: call.args }, visible)
}

/** Its definition stays, as all do. */
function goneTool(name: string, visible: ToolNames): string {
  const others = visible.has(TOOL_SEARCH) ? `, or find another one with ${TOOL_SEARCH}` : ''
  return `The tool "${name}" is not available in this session any more. Continue without it${others}.`
}

function unreadableArguments(call: Call): string {
  const tail = call.rawArgs.slice(-ARGUMENT_TAIL_CHARS)
  return (
    `The arguments of ${call.name} are not complete JSON, so nothing was run. They end after ${call.rawArgs.length} characters with: ${tail}\n` +
    'Send the call again with complete arguments; split large content into several calls.'
  )
}

async function runSegment(context: RunContext, segment: readonly PlannedToolCall[], open: Call[]): Promise<void> {
  const ready: ReadyCall[] = []
  for (const planned of segment) ready.push(await permit(context, planned))
  if (context.gate.isPaused) await waitWhilePaused(context)
  context.signal.throwIfAborted()
  await writeStarts(context, ready)
  // Writing takes a moment; what was stopped meanwhile does not begin.
  context.signal.throwIfAborted()
  const done = await executeAll(context, ready)
  // What finished keeps its result even when another call of the segment was aborted.
  await finalizeAll(context, ready, done, open)
  const failed = done.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
}

/** Results of one segment are written in one step, but for one that taints the session: what comes after it is to know. */
async function finalizeAll(
  context: RunContext,
  ready: readonly ReadyCall[],
  done: readonly PromiseSettledResult<Executed>[],
  open: Call[],
): Promise<void> {
  let results: CallResult[] = []
  const store = async () => {
    const stored = results
    results = []
    // Not once more where it fails: nobody knows whether a store that is elsewhere has it.
    if (stored.length > 0) await storeResults(context, stored)
    for (const { call } of stored) open.splice(open.indexOf(call), 1)
  }
  try {
    for (const [index, result] of done.entries()) {
      if (result.status === 'rejected') continue
      const [call, executed] = [ready[index]!, result.value]
      const finishing = finalize(context, call, executed).catch((error: unknown) =>
        unfinished(context, { call, executed, error }),
      )
      // What has finished waits for no hook that takes its time with another result.
      if (results.length > 0 && !(await settlesAtOnce(finishing))) await store()
      const finished = await finishing
      results.push(finished)
      if (!context.session.isTainted && isOutside(finished)) await store()
    }
  } finally {
    await store()
  }
}

const isOutside = ({ stored }: CallResult) => stored.content.some(({ origin }) => origin === 'external')

/** Calls that an extension gave other arguments than they were planned with come after the others, one by one. */
async function executeAll(
  context: RunContext,
  ready: readonly ReadyCall[],
): Promise<readonly PromiseSettledResult<Executed>[]> {
  const isChanged = ({ refused, note }: ReadyCall) => refused === null && note !== null
  const together = ready.map((call) => (isChanged(call) ? null : execute(context, call)))
  let before: Promise<unknown> = Promise.allSettled(together)
  const running = ready.map((call, index) => {
    const started = together[index] ?? before.then(() => executeLate(context, call))
    if (isChanged(call)) before = started.catch(() => undefined)
    return started
  })
  return Promise.allSettled(running)
}

/** What was stopped or paused meanwhile does not begin. */
async function executeLate(context: RunContext, call: ReadyCall): Promise<Executed> {
  if (context.gate.isPaused) await waitWhilePaused(context)
  context.signal.throwIfAborted()
  return execute(context, call)
}

async function permit(context: RunContext, { call, prepared }: PlannedToolCall): Promise<ReadyCall> {
  announce(context, call, prepared)
  const refused = { call, tool: null, args: call.args ?? {}, permits: [], note: null }
  if (prepared.type === 'immediate') return { ...refused, refused: prepared.outcome }
  const { tool } = prepared
  const requested = { tool, args: prepared.args as JsonObject, rawArgs: call.rawArgs }
  const gated = await gateCall(context, { callId: call.id, caller: 'model', ...requested })
  if (gated.type === 'refused') return { ...refused, tool, refused: errorOutcome(gated.reason) }
  const { args, note, ask } = gated
  try {
    const permits = await permitsOf(asTool(context, tool), call.id, { tool, args, ask })
    const ignored = prepared.ignored === undefined ? {} : { ignored: prepared.ignored }
    return { call, tool, args, permits, note, ...ignored, refused: null }
  } catch (error) {
    if (error instanceof ParkedApproval || context.signal.aborted) throw error
    return { ...refused, tool, note, refused: errorOutcome(errorLine(error)) }
  }
}

function announce(context: RunContext, call: Call, prepared: PreparedCall): void {
  const tool = prepared.type === 'prepared' ? prepared.tool : null
  const summary = tool?.summarize
    ? summarize(() => tool.summarize!((prepared as { args: unknown }).args))
    : defaultSummary(call)
  context.activity.set('tool', summary)
  // Through `tool_call` another tool is called than the one that is named.
  const isIndirect = tool !== null && call.name === TOOL_CALL
  context.emit({
    type: 'tool-start',
    callId: call.id,
    toolName: isIndirect ? tool.name : call.name,
    args: isIndirect ? (prepared as { args: JsonObject }).args : (call.args ?? {}),
    summary,
    icon: tool?.icon ?? '',
  })
}

function summarize(render: () => string): string {
  try {
    return render()
  } catch {
    return ''
  }
}

function defaultSummary(call: Call): string {
  const first = Object.values(call.args ?? {})[0]
  return first === undefined
    ? call.name
    : `${call.name} ${typeof first === 'string' ? first : JSON.stringify(first)}`.slice(0, 120)
}

async function writeStarts(context: RunContext, ready: readonly ReadyCall[]): Promise<void> {
  const starts = ready.flatMap(({ call, tool, args, refused }): NewEntry[] =>
    tool !== null && refused === null && effectOf(tool, args) === 'write'
      ? [{ type: 'call-start', callId: call.id, toolName: tool.name }]
      : [],
  )
  if (starts.length > 0) await context.session.append(...starts)
}

interface Executed {
  readonly outcome: ToolOutcome
  readonly durationMs: number
}

async function execute(context: RunContext, ready: ReadyCall): Promise<Executed> {
  const { call, tool, args, permits, ignored, refused } = ready
  if (tool === null || refused !== null) return { outcome: refused!, durationMs: 0 }
  const startedAtMs = context.clock.now()
  const parked: ParkedApproval[] = []
  const ask: ToolContext['ask'] = (question) =>
    askUser(context, call.id, question).catch((error: unknown) => {
      if (error instanceof ParkedApproval) parked.push(error)
      throw error
    })
  const park = () => {
    const parking = new ParkedApproval(call.id)
    parked.push(parking)
    throw parking
  }
  const tools = createScriptCalls(context, call.id)
  const running = toolContext(asTool(context, tool), call.id, permits, { tools, ask, park })
  const made = { callId: call.id, caller: 'model', tool, args, rawArgs: call.rawArgs } as const
  const work = runWrapped(context, made, async () => {
    const done = await context.registry.execute({ tool, args, ignored }, running)
    if (parked[0]) throw parked[0]
    return done
  })
  const outcome = await untilAbort(context.signal, work)
  // The call has no result yet: it is made again when the run is resumed.
  if (parked[0]) throw parked[0]
  return { outcome, durationMs: context.clock.now() - startedAtMs }
}

const ABORT_GRACE_MS = 5_000

/** A tool that ignores its signal must not hold an interrupt for ever. */
function untilAbort<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined
    const abort = () => {
      timer = setTimeout(() => reject(signal.reason), ABORT_GRACE_MS)
    }
    const settle = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    }
    work.then(resolve, reject).finally(settle)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
}

async function finalize(context: RunContext, ready: ReadyCall, executed: Executed): Promise<CallResult> {
  const { call, tool, note, refused } = ready
  const { outcome, appended } = await changed(context, ready, executed)
  const steered = context.steering.take()
  const extra: TextPart[] = [...(await fenceWaiting(context, steered.map(steeredPart))), ...appended]
  const approved = takeApprovalNote(context.session.state, call.id)
  // What did not run may have been approved in part.
  if (approved !== null && refused === null) extra.push(reminder(approved))
  if (note) extra.push(reminder(note))
  const inboxMessages = steered.flatMap(({ inboxMessage }) => (inboxMessage === undefined ? [] : [inboxMessage]))
  const { data, ...shown } = outcome
  const kept = refused === null && tool?.keepsData ? outcome : shown
  const { redact } = context.session
  return {
    call,
    toolName: nameOf(ready),
    stored: { ...kept, content: [...outcome.content, ...extra] },
    shown: {
      ...shown,
      content: outcome.content.map(({ sources: _, ...part }) =>
        part.type === 'text' ? { ...part, text: redact(part.text) } : part,
      ),
      ...(data === undefined ? {} : { data: redactData(data, redact) }),
    },
    durationMs: executed.durationMs,
    inboxMessages,
    settle: () => {
      for (const { settle } of steered) settle('delivered')
    },
  }
}

/** In the place of a result that could not be made ready: those after it are kept, and the model knows that this call ran. */
function unfinished(
  { logger }: RunContext,
  { call, executed, error }: { readonly call: ReadyCall; readonly executed: Executed; readonly error: unknown },
): CallResult {
  const name = nameOf(call)
  logger.error(`The result of ${name} could not be made ready.`, { error: errorLine(error) })
  const outcome = errorOutcome(`${name} ran, but its result could not be made ready: ${errorLine(error)}`)
  return { ...plainResult(call.call, outcome), toolName: name, durationMs: executed.durationMs }
}

/** A refused call keeps the name it was made by. */
const nameOf = ({ call, tool, refused }: ReadyCall) => (refused === null && tool !== null ? tool.name : call.name)

function steeredPart({ text, origin, sources }: WaitingNote): TextPart {
  const steered = origin === 'steer' ? `[The user added while you were working: ${text}]` : text
  return { type: 'text', origin, text: steered, ...(sources ? { sources } : {}) }
}

const reminder = (text: string): TextPart => ({ type: 'text', origin: 'reminder', text })

/** The result after the extensions, with text from outside fenced, theirs like that of the tool. */
async function changed(
  context: RunContext,
  ready: ReadyCall,
  { outcome: executed, durationMs }: Executed,
): Promise<ChangedResult> {
  const { call, tool, refused } = ready
  const isRefused = refused !== null
  const toolName = nameOf(ready)
  const endedAtMs = context.clock.now()
  const result = await changeResult(context, {
    callId: call.id,
    caller: 'model',
    toolName,
    tool,
    args: isRefused ? (call.args ?? call.rawArgs) : ready.args,
    outcome: executed,
    isRefused,
    startedAtMs: endedAtMs - durationMs,
    endedAtMs,
  })
  const own = result.outcome.content
  const parts = await fenceResult(context, [...own, ...result.appended], toolName)
  const outcome = { ...result.outcome, content: parts.slice(0, own.length) }
  return { outcome, appended: parts.slice(own.length) as readonly TextPart[] }
}

interface CallResult {
  readonly call: Call
  readonly toolName: string
  readonly stored: ToolOutcome
  /** What a person sees of it. */
  readonly shown: ToolOutcome
  readonly durationMs: number
  readonly inboxMessages: readonly string[]
  /** Called once it is stored, for what came with it. */
  readonly settle: () => void
}

/** Durable first, then shown. */
async function storeResults(context: RunContext, results: readonly CallResult[]): Promise<void> {
  const messages = results.map(({ call, toolName, stored }) => toolMessage(call, toolName, stored))
  const taken = results.flatMap(({ inboxMessages }) => inboxMessages)
  const seqs = await context.session.appendEach(
    messages.map((message) => ({ type: 'message', message })),
    { take: taken },
  )
  for (const [index, { call, toolName, shown, durationMs, settle }] of results.entries()) {
    const { isError, content, data } = shown
    const end = { type: 'tool-end', callId: call.id, toolName, isError, content, durationMs } as const
    context.emit(data === undefined ? end : { ...end, data }, seqs[index]!)
    settle()
  }
}

function toolMessage({ id }: Pick<Call, 'id'>, toolName: string, stored: ToolOutcome): ToolMessage {
  return {
    role: 'tool',
    callId: id,
    toolName,
    content: stored.content,
    ...(stored.isError ? { isError: true } : {}),
    ...(stored.data === undefined ? {} : { data: stored.data }),
  }
}

/** Answers a call that does not run with the reason. */
export function answerCall(context: RunContext, call: Call, reason: string): Promise<void> {
  return storeResults(context, [plainResult(call, errorOutcome(reason))])
}

/** A result that nothing comes with. */
function plainResult(call: Call, outcome: ToolOutcome): CallResult {
  const nothing = { durationMs: 0, inboxMessages: [], settle: () => undefined }
  return { call, toolName: call.name, stored: outcome, shown: outcome, ...nothing }
}

/** Answers open calls after an interrupt: what was started may have run, the rest did not. */
export async function answerInterrupted(context: RunContext, calls: readonly Call[]): Promise<void> {
  const started = new Set(context.session.openCalls().flatMap((open) => (open.started ? [open.call.id] : [])))
  for (const call of calls) {
    const approved = takeApprovalNote(context.session.state, call.id)
    const text = `${started.has(call.id) ? CUT_OFF : NOT_RUN}${approved === null ? '' : ` It was ${approved.slice(1, -1)}.`}`
    await answerCall(context, call, text)
  }
}
