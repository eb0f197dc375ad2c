import { noUsage } from '@hermes/contracts/conversation'
import type { UsageLedger, UsageRecord } from '@hermes/contracts/store'
import { describe, expect, it } from 'vitest'

/** A ledger under test, and how to get rid of it. */
interface LedgerSubject {
  readonly usage: UsageLedger
  close?(): Promise<void>
}

const DAY_MS = 86_400_000
const MIDNIGHT = Date.parse('2026-03-01T00:00:00Z')

const call = (over: Partial<UsageRecord> = {}, costUsd: number | 'unknown' = 0.25): UsageRecord => ({
  atMs: MIDNIGHT,
  sessionId: 's',
  purpose: 'turn',
  provider: 'p',
  model: 'm',
  usage: { ...noUsage, inputTokens: 100, cacheReadTokens: 40, outputTokens: 10, costUsd },
  durationMs: 1_234,
  priceSource: costUsd === 'unknown' ? null : 'list of March',
  ...over,
})

/** Registers the cases that every {@link UsageLedger} passes with vitest; `create` makes an empty one for each. */
export function testLedger({ create }: { readonly create: () => Promise<LedgerSubject> | LedgerSubject }): void {
  const ledgerCase = (title: string, check: (ledger: UsageLedger) => Promise<void>) => {
    it(title, async () => {
      const subject = await create()
      try {
        await check(subject.usage)
      } finally {
        await subject.close?.()
      }
    })
  }
  describe('UsageLedger', () => {
    ledgerCase('has one total of nothing before the first call, and no groups', async (ledger) => {
      expect(await ledger.totals()).toEqual([
        { key: '', calls: 0, usage: noUsage, knownCostUsd: 0, unpricedCalls: 0, priceSources: [] },
      ])
      expect(await ledger.totals({ by: 'model' })).toEqual([])
    })
    ledgerCase('adds calls up', async (ledger) => {
      await ledger.record([call(), call()])
      await ledger.record([call({ priceSource: 'reported' })])
      expect(await ledger.totals()).toEqual([
        {
          key: '',
          calls: 3,
          usage: { ...noUsage, inputTokens: 300, cacheReadTokens: 120, outputTokens: 30, costUsd: 0.75 },
          knownCostUsd: 0.75,
          unpricedCalls: 0,
          priceSources: ['list of March', 'reported'],
        },
      ])
    })
    ledgerCase('never takes an unknown cost for none', async (ledger) => {
      await ledger.record([call(), call({}, 'unknown')])
      expect(await ledger.totals()).toMatchObject([
        { usage: { costUsd: 'unknown' }, knownCostUsd: 0.25, unpricedCalls: 1, priceSources: ['list of March'] },
      ])
    })
    ledgerCase('tells estimates from what was counted, also by day', async (ledger) => {
      await ledger.record([call(), call({ isEstimate: true }), call({ isEstimate: true, atMs: MIDNIGHT + 3_600_000 })])
      expect(await ledger.totals()).toMatchObject([{ calls: 3, estimatedCalls: 2 }])
      expect(await ledger.totals({ by: 'day' })).toMatchObject([{ calls: 3, estimatedCalls: 2 }])
      await ledger.record([call({ purpose: 'title' })])
      const byPurpose = await ledger.totals({ by: 'purpose' })
      expect(byPurpose.map(({ key, estimatedCalls }) => [key, estimatedCalls])).toEqual([
        ['title', undefined],
        ['turn', 2],
      ])
    })
    ledgerCase('groups by provider, model, session and purpose', async (ledger) => {
      await ledger.record([
        call({ provider: 'b', model: 'y', sessionId: null, purpose: 'title' }),
        call(),
        call({ provider: 'b', model: 'x' }),
      ])
      const keys = async (by: 'provider' | 'model' | 'session' | 'purpose') =>
        (await ledger.totals({ by })).map(({ key, calls }) => [key, calls])
      expect(await keys('provider')).toEqual([
        ['b', 2],
        ['p', 1],
      ])
      expect(await keys('model')).toEqual([
        ['m', 1],
        ['x', 1],
        ['y', 1],
      ])
      expect(await keys('session')).toEqual([
        ['', 1],
        ['s', 2],
      ])
      expect(await keys('purpose')).toEqual([
        ['title', 1],
        ['turn', 2],
      ])
    })
    ledgerCase('counts days in the time zone that is asked for', async (ledger) => {
      await ledger.record([call({ atMs: MIDNIGHT - 1 }), call(), call({ atMs: MIDNIGHT + DAY_MS - 1 })])
      const days = async (timeZone?: string) => {
        const totals = await ledger.totals({ by: 'day', ...(timeZone === undefined ? {} : { timeZone }) })
        return totals.map(({ key, calls }) => `${key}: ${calls}`)
      }
      expect(await days()).toEqual(['2026-02-28: 1', '2026-03-01: 2'])
      expect(await days('Asia/Kathmandu')).toEqual(['2026-03-01: 2', '2026-03-02: 1'])
      expect(await days('America/New_York')).toEqual(['2026-02-28: 2', '2026-03-01: 1'])
    })
    ledgerCase('narrows to a span of time and a session', async (ledger) => {
      await ledger.record([
        call({ atMs: MIDNIGHT - 1 }),
        call(),
        call({ sessionId: 'other' }),
        call({ sessionId: null }),
      ])
      const count = async (filter: Parameters<UsageLedger['totals']>[0]) => (await ledger.totals(filter))[0]!.calls
      expect(await count({ sinceMs: MIDNIGHT })).toBe(3)
      expect(await count({ untilMs: MIDNIGHT })).toBe(1)
      expect(await count({ sessionId: 's', sinceMs: MIDNIGHT })).toBe(1)
    })
  })
}
