import { HermesError } from '@hermes/contracts'
import type { CompactOutcome, CompactRequest, ContextEngine } from '@hermes/contracts/context'
import {
  addUsage,
  type CompactionEntry,
  type Entry,
  estimateTokens,
  gainedLittle,
  noUsage,
  project,
  type Usage,
} from '@hermes/contracts/conversation'
import { transformTogether } from '../hooks/dispatch.js'
import { modelStep, type StepOptions } from '../loop/model-step.js'
import type { AgentParts, ModelStep, RunContext } from '../loop/run-context.js'

/** Summaries in a row that gained little, or of one refused request, after which the oldest messages go without one. */
const MAX_PASSES = 2
const TOO_LONG = new Set(['transport.context_overflow', 'transport.long_context_tier', 'transport.payload_too_large'])

/**
 * Asks the model once, within its window: the session is compacted before when that is due, and again when the provider refuses it as
 * too long. After two summaries in a row that gained little the oldest messages go without one, until something made room again or the user
 * says something.
 * @throws HermesError `agent.context_full` when nothing more can be taken out.
 */
export async function askWithinWindow(context: RunContext, options: StepOptions = {}): Promise<ModelStep> {
  let spent: Usage = noUsage
  const isDue = await context.engine?.isDue(contextState(context))
  if (isDue === 'in vain') adviseOnce(context)
  else if (isDue) spent = (await compact(context, isSpent(context) ? 'truncate' : 'threshold')) ?? noUsage
  let wasTruncated = false
  for (let refusals = 0; ; refusals++) {
    try {
      const step = await modelStep(context, options)
      return spent === noUsage ? step : { ...step, usage: addUsage(spent, step.usage) }
    } catch (error) {
      if (!context.engine || !HermesError.isInstance(error) || !TOO_LONG.has(error.code)) throw error
      const cause = refusals >= MAX_PASSES || isSpent(context) ? 'truncate' : 'overflow'
      const usage = wasTruncated ? null : await compact(context, cause)
      if (usage === null) throw contextFull(context, error)
      wasTruncated = cause === 'truncate'
      spent = addUsage(spent, usage)
    }
  }
}

/** Summing up again would gain as little as the last times, so the person is told what helps instead. */
function adviseOnce(context: RunContext): void {
  const { session, runId, emit } = context
  const advised = session.state.scratch('context.advised', () => ({ runId: '' }))
  if (advised.runId === runId) return
  advised.runId = runId
  const fixed = fixedTokens(context)
  const text =
    fixed > estimateTokens(session.messages()) / 2
      ? `System text and tools alone take about ${fixed} tokens, too much for the window that ${modelNow(context)} runs with. ${context.engine?.largerWindow ?? 'Choose a model with a larger window.'} Fewer toolsets help too.`
      : 'The conversation is nearly full, and compacting it gains little. Start a new session, compact it about one topic with /compress TOPIC, or use a model with a larger window.'
  emit({ type: 'notice', level: 'warning', text })
}

/** What the model call for it took; `null` when nothing could be taken out. */
async function compact(context: RunContext, cause: CompactRequest['cause']): Promise<Usage | null> {
  const { engine, session, signal } = context
  if (!engine) return null
  context.activity.set('compacting', 'compacting the conversation')
  context.emit({ type: 'compaction-start' })
  const outcome = await compactWith(engine, context, cause, { signal })
  if (outcome.type === 'compacted') {
    context.emit({ type: 'compaction-end', summaryChars: outcome.entry.summary.length }, session.entries.at(-1)?.seq)
    if (!outcome.isSummarized)
      context.emit({
        type: 'notice',
        level: 'warning',
        text: `Earlier messages were left out of the conversation without a summary: ${outcome.problem ?? 'none could be made'}.`,
      })
    return outcome.usage
  }
  context.emit({ type: 'compaction-end', summaryChars: 0 })
  if (outcome.isSkipped) tellOnce(context, `The conversation was not compacted: ${outcome.reason}`)
  if (outcome.usage) vainPasses(context).push(session.entries.at(-1)?.seq ?? 0)
  return null
}

/** Where in the log summaries were asked for that were no shorter than what they stand for; the log has nothing of them. */
function vainPasses({ session }: RunContext): number[] {
  return session.state.scratch('context.vain', (): number[] => [])
}

/** What stays so for many requests is told once a run. */
function tellOnce({ session, runId, emit }: RunContext, text: string): void {
  const last = session.state.scratch('context.notices', () => ({ runId: '', text: '' }))
  if (last.runId === runId && last.text === text) return
  Object.assign(last, { runId, text })
  emit({ type: 'notice', level: 'warning', text })
}

/** Compacts a session and makes that durable, unless a handler would rather have it as it is and requests still fit. */
export async function compactWith(
  engine: ContextEngine,
  parts: WindowParts,
  cause: CompactRequest['cause'],
  options: CompactOptions & { readonly signal: AbortSignal },
): Promise<CompactOutcome & { readonly isSkipped?: boolean }> {
  const { request, skip } = await compactRequest(parts, cause, options)
  if (skip !== null && (cause === 'threshold' || cause === 'asked'))
    return { type: 'unchanged', reason: parts.session.redact(skip), isSkipped: true }
  const outcome = await engine.compact(request, { signal: options.signal })
  if (outcome.type === 'compacted')
    await parts.session.append(cause === 'truncate' ? { ...outcome.entry, isTruncation: true } : outcome.entry)
  return outcome
}

/** What a person wants of a compaction. */
export type CompactOptions = Pick<CompactRequest, 'focus' | 'keepTurns'>

/** What a context engine has to know about a session and keep of it; `skip` says why a handler objects. */
export async function compactRequest(
  parts: WindowParts,
  cause: CompactRequest['cause'],
  {
    signal,
    focus,
    keepTurns,
    isPlan = false,
  }: CompactOptions & { readonly signal: AbortSignal; readonly isPlan?: boolean },
): Promise<{ readonly request: CompactRequest; readonly skip: string | null }> {
  const { session, subject, environment, clock, logger, hooks } = parts
  const event = { session, agentPath: subject.agentPath, environment, clock, logger, signal, cause, isPlan }
  const changes = await transformTogether(hooks.at('compaction'), 'compaction', event)
  const carry = changes.flatMap((change) => ('type' in change ? [] : change))
  const skip = changes.flatMap((change) => ('type' in change ? [change.reason] : []))[0] ?? null
  const about = { ...(focus === undefined ? {} : { focus }), ...(keepTurns === undefined ? {} : { keepTurns }) }
  return { request: { ...contextState(parts), cause, carry, ...about }, skip }
}

/** `runId`: the turn whose endpoint decides, after a fallback another one than the first. */
type WindowParts = AgentParts & Partial<Pick<RunContext, 'runId'>>

function contextState({ session, model: client, runId }: WindowParts) {
  const { entries } = session
  const { provider, model } = client.nextEndpoint?.(runId) ?? client
  return { entries, tokens: contextTokens(entries), provider, model }
}

/** Tokens of the next request: what was counted at the last answer or compaction, and an estimate of what came since. */
export function contextTokens(entries: readonly Entry[]): number {
  let since = 0
  for (let index = entries.length - 1; index >= 0; index--) {
    const entry = entries[index]!
    if (entry.type === 'compaction' && entry.tokensAfter !== undefined) return entry.tokensAfter + since
    if (entry.type !== 'message') continue
    if (entry.usage && entry.usage.inputTokens > 0) return entry.usage.inputTokens + entry.usage.outputTokens + since
    since += estimateTokens(entry.message)
  }
  const prompt = entries.findLast((entry) => entry.type === 'prompt')
  return estimateTokens(project(entries)) + (prompt?.type === 'prompt' ? estimateTokens(prompt.tools) : 0)
}

/** Whether the last summaries since the user said something gained little, with nothing after them that made room. */
function isSpent(context: RunContext): boolean {
  const { entries } = context.session
  const from = entries.findLast(isWordOfUser)?.seq ?? 0
  const passes = entries.filter((entry) => entry.type === 'compaction' && entry.seq > from) as (CompactionEntry & {
    readonly seq: number
  })[]
  const progressAt = passes.findLast((entry) => !gainedLittle(entry))?.seq ?? from
  const little = passes.filter(({ seq, isTruncation }) => seq > progressAt && !isTruncation).length
  return little + vainPasses(context).filter((seq) => seq >= progressAt).length >= MAX_PASSES
}

function isWordOfUser(entry: Entry): boolean {
  return (
    entry.type === 'message' &&
    entry.message.role === 'user' &&
    entry.message.content.some((part) => (part.origin ?? 'user') === 'user')
  )
}

/** Tokens that are sent whatever is said. */
function fixedTokens({ session }: RunContext): number {
  const prompt = session.prompt()
  return prompt ? estimateTokens(prompt.system) + estimateTokens(prompt.tools) : 0
}

/** The model that answers next in this turn. */
function modelNow({ model, runId }: RunContext): string {
  return (model.nextEndpoint?.(runId) ?? model).model
}

function contextFull(context: RunContext, cause: HermesError): HermesError {
  const fixed = fixedTokens(context)
  // A new session would begin with the same.
  const way =
    fixed > contextTokens(context.session.entries) / 2
      ? `System text and tools alone take about ${fixed} tokens: use fewer toolsets, or a model with a larger window.`
      : 'Start a new session, or go on with a model that has a larger window.'
  return new HermesError(`The conversation no longer fits ${modelNow(context)}, even compacted. ${way}`, {
    code: 'agent.context_full',
    details: cause.details,
    cause,
  })
}
