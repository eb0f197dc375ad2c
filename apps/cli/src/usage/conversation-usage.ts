import type { HermesConfig } from '@hermes/config'
import { addUsage, noUsage, type Usage } from '@hermes/contracts/conversation'
import type { UsageTotal } from '@hermes/contracts/store'
import type { KeyLimits } from '@hermes/models'
import { knownTimeZone, periodOf } from '@hermes/models/spending'
import type { Storage } from '@hermes/storage'
import { formatDuration } from '../render/style.js'
import { dollars, shortNumber } from './report.js'

/** What a conversation has cost and may still cost. */
export interface ConversationUsage {
  readonly storage: {
    readonly sessions: Pick<Storage['sessions'], 'get' | 'descendants'>
    readonly usage: Pick<Storage['usage'], 'totals'>
  }
  readonly sessionId: string
  readonly config: Pick<HermesConfig, 'budget' | 'timezone'>
  readonly limits: readonly KeyLimits[]
  readonly nowMs: number
}

/** A line each for the session, the day, the month where it has a budget, and what the endpoint said about limits. */
export async function describeSpending({
  storage,
  sessionId,
  config,
  limits,
  nowMs,
}: ConversationUsage): Promise<string> {
  const { session, day, month } = config.budget
  const spent = (await storage.sessions.get(sessionId))?.usage
  const tasks = (await storage.sessions.descendants(sessionId)).filter(({ source }) => source === 'subagent')
  const since = (unit: 'day' | 'month') => periodOf(unit, nowMs, knownTimeZone(config.timezone)).startMs
  const [today] = await storage.usage.totals({ sinceMs: since('day') })
  const [thisMonth] = month ? await storage.usage.totals({ sinceMs: since('month') }) : []
  return [
    spent ? `${describeUsage(spent)}${ofBudget(session)}` : 'Nothing has been spent in this session yet.',
    ...(tasks.length > 0 ? [`Delegated: ${describeTasks(tasks)}`] : []),
    ...(today ? [`Today: ${describeTotal(today)}${ofBudget(day)}`] : []),
    ...(thisMonth ? [`This month: ${describeTotal(thisMonth)}${ofBudget(month)}`] : []),
    ...limits.map((key) => describeLimits(key, nowMs)),
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

function ofBudget(limit: HermesConfig['budget']['day']): string {
  const parts = [
    ...(limit?.usd === undefined ? [] : [dollars(limit.usd)]),
    ...(limit?.tokens === undefined ? [] : [`${shortNumber(limit.tokens)} tokens`]),
  ]
  return parts.length === 0 ? '' : ` Budget: ${parts.join(' and ')}.`
}

function describeLimits({ provider, model, credentialId, limits }: KeyLimits, nowMs: number): string {
  const key = credentialId === 'key' ? '' : `, ${credentialId}`
  const each = limits.map(({ name, limit, remaining, resetAtMs }) => {
    const left = `${remaining ?? '?'}${limit === null ? '' : ` of ${limit}`} left`
    const renewed = resetAtMs !== null && resetAtMs > nowMs ? `, new in ${formatDuration(resetAtMs - nowMs)}` : ''
    return `${name} ${left}${renewed}`
  })
  return `Limits of ${model} at ${provider}${key}: ${each.join('; ')}.`
}
