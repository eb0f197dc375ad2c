import type { Entry } from '@hermes/contracts/conversation'
import type { CommandOutput, CommandResult, CommandRow } from '@hermes/contracts/extension'
import type { SessionInfo, UsageTotal } from '@hermes/contracts/store'
import type { Storage } from '@hermes/storage'
import { toolTotals } from './insights.js'
import { clipped, say } from './parameters.js'

/** Where it is kept what a session has cost. */
type SpendingStore = Pick<Storage, 'usage' | 'sessions' | 'log'>

/** Calls for which a model is asked, for a person; other purposes keep their word. */
const PURPOSES: Readonly<Record<string, string>> = {
  turn: 'the conversation',
  summary: 'compaction',
  title: 'its title',
  aside: '/btw',
  cache: 'keeping the cache',
  judge: 'judging the goal',
  vision: 'looking at images',
}

/**
 * What a session and the tasks it delegated have cost, as tables: by what for and by model, each of which comes to the total of the ledger, and
 * what of it the tasks and the answers that asked for a tool have.
 */
export async function explainUsage(storage: SpendingStore, sessionId: string): Promise<CommandResult> {
  const { usage, sessions, log } = storage
  const [total] = await usage.totals({ sessionId })
  if (!total || total.calls === 0) return say('Nothing has been spent in this session yet.')
  const tasks = (await sessions.descendants(sessionId)).filter(({ source }) => source === 'subagent')
  const by = async (group: 'purpose' | 'model') => dearestFirst(await usage.totals({ sessionId, by: group }))
  const name = (purpose: string) =>
    purpose === 'turn' && tasks.length > 0 ? 'the conversation and its tasks' : (PURPOSES[purpose] ?? purpose)
  const entries = await log.entries(sessionId)
  return [
    say(`All together: ${lineOf(total)}`),
    say('By purpose:'),
    table((await by('purpose')).map((one) => row(name(one.key), one))),
    say('By model:'),
    table((await by('model')).map((one) => row(one.key, one))),
    ...ofTasks(tasks),
    ...ofTools(entries),
    ...breaks(entries),
  ]
}

function nameOf({ id, title, preview }: SessionInfo): string {
  return clipped(title ?? preview ?? id)
}

function dearestFirst(totals: readonly UsageTotal[]): readonly UsageTotal[] {
  return totals.toSorted((left, right) => right.knownCostUsd - left.knownCostUsd || right.calls - left.calls)
}

function ofTasks(tasks: readonly SessionInfo[]): readonly CommandOutput[] {
  if (tasks.length === 0) return []
  const rows = tasks.map((task) => {
    const { inputTokens, outputTokens, costUsd } = task.usage
    const cells = [nameOf(task), `${inputTokens} in`, cached(task), `${outputTokens} out`, dollars(costUsd)]
    return { cells, data: { task: task.id, usage: task.usage } }
  })
  return [say('Of that, tasks:'), table(rows)]
}

function row(name: string, total: UsageTotal): CommandRow {
  const { calls, usage } = total
  return {
    cells: [name, `${calls}`, `${usage.inputTokens} in`, cached(total), `${usage.outputTokens} out`, costOf(total)],
    data: { name, calls, usage, knownCostUsd: total.knownCostUsd, unpricedCalls: total.unpricedCalls },
  }
}

function table(rows: readonly CommandRow[]): CommandOutput {
  return { type: 'table', rows, empty: 'Nothing.' }
}

function cached({ usage: { inputTokens, cacheReadTokens } }: Pick<UsageTotal, 'usage'>): string {
  return inputTokens === 0 ? '' : `${Math.round((100 * cacheReadTokens) / inputTokens)} % cached`
}

/** A sum that leaves out calls of unknown cost says so, and one of nothing else is no 0. */
function costOf({ calls, knownCostUsd, unpricedCalls, estimatedCalls = 0 }: UsageTotal): string {
  if (calls > 0 && unpricedCalls === calls) return 'cost unknown'
  const mark = unpricedCalls > 0 ? 'at least ' : estimatedCalls > 0 ? 'about ' : ''
  return `${mark}${dollars(knownCostUsd)}`
}

function dollars(costUsd: number | 'unknown'): string {
  return costUsd === 'unknown' ? 'cost unknown' : `$${costUsd.toFixed(costUsd < 0.1 ? 4 : 2)}`
}

function lineOf(total: UsageTotal): string {
  const { calls, usage } = total
  const calling = `${calls} ${calls === 1 ? 'call' : 'calls'} of models`
  return `${calling}, ${usage.inputTokens} tokens in, ${cached(total)}, ${usage.outputTokens} out; ${costOf(total)}.`
}

/** Each answer's cost in equal parts on the calls it asked for; the answers that asked for none are the rest. */
function ofTools(entries: readonly Entry[]): readonly CommandOutput[] {
  const totals = [...toolTotals(entries, 0)].sort(([, left], [, right]) => right.calls - left.calls)
  if (totals.length === 0) return []
  const rows = totals.map(([tool, { calls, costUsd }]) => ({
    cells: [tool, `${calls}`, dollars(costUsd)],
    data: { tool, calls, costUsd },
  }))
  return [say('Of the conversation, answers that asked for a tool:'), table(rows)]
}

/** What made a provider read the conversation anew. */
function breaks(entries: readonly Entry[]): readonly CommandOutput[] {
  const found = entries.flatMap((entry) => (entry.type === 'note' && entry.kind === 'prefix.break' ? [entry.data] : []))
  return found.map((data) => say(`The cached beginning was lost once: ${String(data['component'])} changed.`))
}
