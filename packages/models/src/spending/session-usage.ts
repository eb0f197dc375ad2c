import { formatDuration, knownTimeZone } from '@hermes/contracts'
import type { Usage } from '@hermes/contracts/conversation'
import { addUsage, noUsage } from '@hermes/contracts/conversation'
import type { SessionInfo, UsageLedger, UsageTotal } from '@hermes/contracts/store'
import type { KeyLimits } from '../endpoint.js'
import { type BudgetLimit, dollars, shortNumber } from './budget.js'
import { periodOf } from './calendar.js'

/** What a session has cost and may still cost. */
interface SessionUsage {
  readonly storage: UsageStorage
  readonly sessionId: string
  readonly settings: UsageSettings
  /** What all sessions of the home have cost is for its owner. */
  readonly isOwner: boolean
  /** A line each. */
  readonly limits: readonly string[]
  readonly nowMs: number
}

/** Where it is kept what calls have cost. */
export interface UsageStorage {
  readonly sessions: {
    get(id: string): Promise<Pick<SessionInfo, 'usage'> | null>
    descendants(id: string): Promise<readonly Pick<SessionInfo, 'source' | 'usage'>[]>
  }
  readonly usage: Pick<UsageLedger, 'totals'>
}

/** The sections `budget` and `timezone` of config.yaml. */
export interface UsageSettings {
  readonly budget: { readonly [Span in 'session' | 'day' | 'month']?: BudgetLimit | undefined }
  readonly timezone: string
}

/** A line each for the session, the day, the month where it has a budget, and what the endpoint said about limits. */
export async function describeSpending({
  storage,
  sessionId,
  settings,
  isOwner,
  limits,
  nowMs,
}: SessionUsage): Promise<string> {
  const { session, day, month } = settings.budget
  const spent = (await storage.sessions.get(sessionId))?.usage
  const tasks = (await storage.sessions.descendants(sessionId)).filter(({ source }) => source === 'subagent')
  const [all] = await storage.usage.totals({ sessionId })
  const since = (unit: 'day' | 'month') => periodOf(unit, nowMs, knownTimeZone(settings.timezone)).startMs
  const [today] = isOwner ? await storage.usage.totals({ sinceMs: since('day') }) : []
  const [thisMonth] = month && isOwner ? await storage.usage.totals({ sinceMs: since('month') }) : []
  return [
    spent ? `${describeUsage(spent)}${ofBudget(session)}` : 'Nothing has been spent in this session yet.',
    ...(tasks.length > 0 ? [`Delegated: ${describeTasks(tasks)}`] : []),
    ...(all && all.calls > 0 ? [`With titles, summaries and other side calls: ${describeTotal(all)}`] : []),
    ...(today ? [`Today: ${describeTotal(today)}${ofBudget(day)}`] : []),
    ...(thisMonth ? [`This month: ${describeTotal(thisMonth)}${ofBudget(month)}`] : []),
    ...limits,
  ].join('\n')
}

/** Tokens and money in one line. */
function describeUsage({ inputTokens, cacheReadTokens, outputTokens, costUsd }: Usage): string {
  const cached = cacheReadTokens > 0 ? `, ${cacheReadTokens} of them from cache` : ''
  const cost = costUsd === 'unknown' ? 'cost unknown' : `$${costUsd.toFixed(4)}`
  return `${inputTokens} tokens in${cached}, ${outputTokens} out; ${cost}.`
}

/** What was delegated is not part of the conversation, but of what it costs. */
function describeTasks(tasks: readonly { readonly usage: Usage }[]): string {
  const sum = tasks.reduce((total, { usage }) => addUsage(total, usage), noUsage)
  return `${tasks.length} ${tasks.length === 1 ? 'task' : 'tasks'}, ${describeUsage(sum)}`
}

function describeTotal({ calls, usage, knownCostUsd, unpricedCalls, estimatedCalls = 0 }: UsageTotal): string {
  const cost = calls > 0 && unpricedCalls === calls ? 'cost unknown' : dollars(knownCostUsd)
  const tokens = shortNumber(usage.inputTokens + usage.outputTokens)
  const estimated = estimatedCalls > 0 ? `, ${estimatedCalls} of them estimated` : ''
  return `${calls} ${calls === 1 ? 'call' : 'calls'}${estimated}, ${tokens} tokens; ${cost}.`
}

function ofBudget(limit: BudgetLimit | undefined): string {
  const parts = [
    ...(limit?.usd === undefined ? [] : [dollars(limit.usd)]),
    ...(limit?.tokens === undefined ? [] : [`${shortNumber(limit.tokens)} tokens`]),
  ]
  return parts.length === 0 ? '' : ` Budget: ${parts.join(' and ')}.`
}

/** What an endpoint said about how much a key may still ask, in a line. */
export function describeLimits({ provider, model, credentialId, limits }: KeyLimits, nowMs: number): string {
  const key = credentialId === 'key' ? '' : `, ${credentialId}`
  const each = limits.map(({ name, limit, remaining, resetAtMs }) => {
    const left = `${remaining ?? '?'}${limit === null ? '' : ` of ${limit}`} left`
    const renewed = resetAtMs !== null && resetAtMs > nowMs ? `, new in ${formatDuration(resetAtMs - nowMs)}` : ''
    return `${name} ${left}${renewed}`
  })
  return `Limits of ${model} at ${provider}${key}: ${each.join('; ')}.`
}
