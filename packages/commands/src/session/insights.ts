import { formatDuration } from '@hermes/contracts'
import { type Entry, toolCalls } from '@hermes/contracts/conversation'
import type { CommandResult, CommandRow } from '@hermes/contracts/extension'
import type { SessionInfo } from '@hermes/contracts/store'
import type { Storage } from '@hermes/storage'
import { say } from './parameters.js'

const DAY_MS = 86_400_000
/** Sessions are looked through so many at a time. */
const PAGE = 100
const SHOWN_SESSIONS = 15

/** What calls of one tool, or of all tools in one session, came to. */
interface CallTotals {
  readonly calls: number
  /** Calls whose result was an error, or that have none. */
  readonly failures: number
  /** From the start of a call, or the answer that asked for it, to its result, waits for a person included. Milliseconds. */
  readonly durationMs: number
  /** Each answer's cost in equal parts on the calls it asked for. US dollars; `unknown` as soon as one is. */
  readonly costUsd: number | 'unknown'
}

const NONE: CallTotals = { calls: 0, failures: 0, durationMs: 0, costUsd: 0 }

/** Calls by tool in the entries of one session, of those since a time alone. What was undone was done, and counts. Pure. */
export function toolTotals(entries: readonly Entry[], sinceMs: number): ReadonlyMap<string, CallTotals> {
  const totals = new Map<string, CallTotals>()
  const open = new Map<string, { readonly tool: string; readonly costUsd: number | 'unknown'; fromMs: number }>()
  const close = (id: string, atMs: number, failed: boolean) => {
    const call = open.get(id)
    if (!call) return
    open.delete(id)
    const one = {
      calls: 1,
      failures: failed ? 1 : 0,
      durationMs: Math.max(0, atMs - call.fromMs),
      costUsd: call.costUsd,
    }
    totals.set(call.tool, sum(totals.get(call.tool) ?? NONE, one))
  }
  for (const entry of entries) {
    if (entry.atMs < sinceMs) continue
    if (entry.type === 'call-start') {
      const call = open.get(entry.callId)
      if (call) call.fromMs = entry.atMs
    }
    if (entry.type !== 'message') continue
    if (entry.message.role === 'tool') close(entry.message.callId, entry.atMs, entry.message.isError === true)
    const requested = toolCalls(entry.message)
    const cost = entry.usage?.costUsd ?? 'unknown'
    for (const { id, name } of requested)
      open.set(id, { tool: name, costUsd: cost === 'unknown' ? cost : cost / requested.length, fromMs: entry.atMs })
  }
  for (const [id, { fromMs }] of [...open]) close(id, fromMs, true)
  return totals
}

function sum(left: CallTotals, right: CallTotals): CallTotals {
  const isUnknown = left.costUsd === 'unknown' || right.costUsd === 'unknown'
  return {
    calls: left.calls + right.calls,
    failures: left.failures + right.failures,
    durationMs: left.durationMs + right.durationMs,
    costUsd: isUnknown ? 'unknown' : (left.costUsd as number) + (right.costUsd as number),
  }
}

/** Tools and sessions of the last days, as tables: the most calls first. */
export async function insights(
  storage: Storage,
  { days, nowMs, source }: { readonly days: number; readonly nowMs: number; readonly source: string | undefined },
): Promise<CommandResult> {
  const sinceMs = nowMs - days * DAY_MS
  const tools = new Map<string, CallTotals>()
  const sessions: { readonly session: SessionInfo; readonly totals: CallTotals }[] = []
  for await (const session of activeSince(storage, sinceMs, source)) {
    const ofSession = toolTotals(await storage.log.entries(session.id), sinceMs)
    for (const [name, totals] of ofSession) tools.set(name, sum(tools.get(name) ?? NONE, totals))
    sessions.push({ session, totals: [...ofSession.values()].reduce(sum, NONE) })
  }
  const costs = new Map((await storage.usage.totals({ by: 'session', sinceMs })).map((total) => [total.key, total]))
  const byCalls = [...tools].sort(([, a], [, b]) => b.calls - a.calls)
  const bySession = sessions.sort((a, b) => b.totals.calls - a.totals.calls).slice(0, SHOWN_SESSIONS)
  return [
    say(`Tools, last ${days} days: calls, failures, time, cost of the answers that asked for them`),
    { type: 'table', rows: byCalls.map(([tool, totals]) => row(tool, totals, { tool })), empty: 'No tool was called.' },
    say(`Sessions with the most calls of tools: calls, failures, time, cost of all their model calls`),
    {
      type: 'table',
      rows: bySession.map(({ session, totals }) => {
        const spent = costs.get(session.id)
        const costUsd = !spent || spent.usage.costUsd === 'unknown' ? 'unknown' : spent.knownCostUsd
        const { id, title, preview } = session
        const { cells, data } = row(id, { ...totals, costUsd }, { session: id, title, modelCalls: spent?.calls ?? 0 })
        return { cells: [...cells, title ?? preview], data: data! }
      }),
      empty: 'No session was at work.',
    },
  ]
}

function row(name: string, totals: CallTotals, data: object): CommandRow {
  const { calls, failures, durationMs, costUsd } = totals
  const cost = costUsd === 'unknown' ? 'cost unknown' : `$${costUsd.toFixed(costUsd < 0.1 ? 4 : 2)}`
  const failed = failures === 0 ? 'none failed' : `${failures} failed`
  return { cells: [name, `${calls}`, failed, formatDuration(durationMs), cost], data: { ...data, ...totals } }
}

async function* activeSince(storage: Storage, sinceMs: number, source: string | undefined): AsyncIterable<SessionInfo> {
  for (const of of source === undefined ? [undefined, 'subagent'] : [source])
    for (let offset = 0; ; offset += PAGE) {
      const page = await storage.sessions.list({
        limit: PAGE,
        offset,
        includeArchived: true,
        ...(of === undefined ? {} : { source: of }),
      })
      const active = page.filter(({ lastActiveAtMs }) => lastActiveAtMs >= sinceMs)
      yield* active
      if (active.length < PAGE) break
    }
}
