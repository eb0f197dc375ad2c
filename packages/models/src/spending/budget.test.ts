import { noUsage } from '@hermes/contracts/conversation'
import type { CallScope } from '@hermes/contracts/model'
import type { UsageTotal } from '@hermes/contracts/store'
import { createFakeClock, type FakeClock, type ModelServer, startModelServer } from '@hermes/testkit'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { drive } from '../__fixtures__/drive.js'
import { createModelClient, type UsageEvent } from '../index.js'
import { type BudgetLimits, type BudgetStore, createBudgetGuard } from './index.js'
import { OwnReservations } from './own-reservations.js'

const NOON = Date.parse('2026-03-15T12:00:00Z')

/** A ledger in memory that adds up what the filter leaves. */
function memoryStore(): BudgetStore & { readonly events: UsageEvent[] } {
  const events: UsageEvent[] = []
  const totals = async ({ sinceMs = 0, sessionId }: { sinceMs?: number; sessionId?: string } = {}) => {
    const found = events.filter((event) => event.atMs >= sinceMs && (!sessionId || event.sessionId === sessionId))
    const sum = (of: (event: UsageEvent) => number) => found.reduce((total, event) => total + of(event), 0)
    const total: UsageTotal = {
      key: '',
      calls: found.length,
      usage: {
        ...noUsage,
        inputTokens: sum(({ usage }) => usage.inputTokens),
        outputTokens: sum(({ usage }) => usage.outputTokens),
      },
      knownCostUsd: sum(({ usage }) => (usage.costUsd === 'unknown' ? 0 : usage.costUsd)),
      unpricedCalls: sum(({ usage }) => Number(usage.costUsd === 'unknown')),
      priceSources: [],
    }
    return [total]
  }
  const reservations = new OwnReservations()
  return {
    events,
    reserve: (call, question) => reservations.reserve({ totals }, call, question),
    release: (id) => void reservations.release(id),
  }
}

let server: ModelServer
let clock: FakeClock

beforeEach(async () => {
  server = await startModelServer()
  clock = createFakeClock(NOON)
})
afterEach(() => server.close())

const request = { messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }], tools: [] } as const

function setUp(limits: BudgetLimits, costUsd: number | null = 0.4) {
  const store = memoryStore()
  const usage = { inputTokens: 90, outputTokens: 10, ...(costUsd === null ? {} : { costUsd }) }
  server.setHandler(() => ({ text: 'ok', usage }))
  const budget = createBudgetGuard({ limits, store, clock, timeZone: 'UTC' })
  const onUsage = (event: UsageEvent) => void store.events.push(event)
  const client = createModelClient({ provider: 'custom', model: 'm', baseUrl: server.baseUrl, clock, budget, onUsage })
  const ask = (scope: Partial<CallScope> = {}) => drive(client.stream(request, { purpose: 'turn', ...scope }), clock)
  return { ask, store, budget }
}

const spent = (message: RegExp) => ({ code: 'models.budget_spent', message: expect.stringMatching(message) })

describe('budgets', () => {
  it('stop the first call after the limit was reached, before anything is sent', async () => {
    const { ask } = setUp({ day: { usd: 1 } })
    for (let call = 0; call < 3; call++) expect((await ask()).error).toBeNull()
    const { error, events } = await ask({ purpose: 'title' })
    expect(error).toMatchObject(
      spent(
        /^The budget of \$1\.00 for today is spent \(\$1\.20\)\. It begins anew at 2026-03-16T00:00:00\.000Z; .* budget\.day\.usd/,
      ),
    )
    expect(events).toEqual([])
    expect(server.requests).toHaveLength(3)
  })

  it('of less than a dime are told in full', async () => {
    const { ask } = setUp({ day: { usd: 0.004 } })
    await ask()
    expect((await ask()).error).toMatchObject(spent(/^The budget of \$0\.0040 for today/))
  })

  it('begin anew with the day and the month', async () => {
    const { ask } = setUp({ day: { tokens: 100 }, month: { tokens: 250 } })
    expect((await ask()).error).toBeNull()
    expect((await ask()).error).toMatchObject(spent(/100 tokens for today/))
    await clock.advance(12 * 3_600_000)
    expect((await ask()).error).toBeNull()
    await clock.advance(24 * 3_600_000)
    expect((await ask()).error).toBeNull()
    await clock.advance(24 * 3_600_000)
    expect((await ask()).error).toMatchObject(spent(/250 tokens for this month is spent \(300 tokens\)/))
    await clock.advance(15 * 24 * 3_600_000)
    expect((await ask()).error).toBeNull()
  })

  it('of a turn and a session count for these alone', async () => {
    const { ask } = setUp({ turn: { tokens: 100 }, session: { tokens: 200 } })
    expect((await ask({ sessionId: 's', turnId: 'a' })).error).toBeNull()
    expect((await ask({ sessionId: 's', turnId: 'a' })).error).toMatchObject(
      spent(/for this turn .* starts a new turn/),
    )
    expect((await ask({ sessionId: 's', turnId: 'b' })).error).toBeNull()
    expect((await ask({ sessionId: 's', turnId: 'c' })).error).toMatchObject(spent(/for this session/))
    expect((await ask({ sessionId: 'other', turnId: 'c' })).error).toBeNull()
    expect((await ask()).error).toBeNull()
  })

  it('count delegated usage for the session and turn of the parent', async () => {
    const { ask } = setUp({ turn: { tokens: 100 } })
    const root = { sessionId: 's', turnId: 'a' }
    expect((await ask({ sessionId: 'child', turnId: 'own', root })).error).toBeNull()
    expect((await ask({ sessionId: 's', turnId: 'a' })).error).toMatchObject(spent(/for this turn/))
    expect((await ask({ sessionId: 'child', turnId: 'another', root })).error).toMatchObject(spent(/for this turn/))
    expect((await ask({ sessionId: 's', turnId: 'b' })).error).toBeNull()
  })

  it('in dollars are not held with calls of unknown price, and say so', async () => {
    const { ask } = setUp({ month: { usd: 5 } }, null)
    expect((await ask()).error).toBeNull()
    expect((await ask()).error).toMatchObject({
      code: 'models.budget_unpriced',
      message: expect.stringContaining('budget.month.tokens'),
    })
  })

  it('let failed calls go by without a charge', async () => {
    const { ask } = setUp({ day: { tokens: 100 } })
    server.enqueue({ fault: 'status', status: 500 }, { fault: 'status', status: 401 })
    expect((await ask()).error).toMatchObject({ code: 'transport.auth' })
    expect((await ask()).error).toBeNull()
  })

  it('charge for an answer that broke off', async () => {
    const { ask, store } = setUp({ turn: { tokens: 6 }, day: { tokens: 10_000 } })
    server.enqueue({ fault: 'cut', text: 'half' })
    expect((await ask({ turnId: 'a' })).error).toMatchObject(spent(/for this turn/))
    expect(store.events).toMatchObject([{ isEstimate: true, turnId: 'a' }])
  })

  it('end a wait for other calls on abort', async () => {
    const { budget } = setUp({ day: { tokens: 100 } })
    const abort = new AbortController()
    await budget.admit({ purpose: 'turn', maxTokens: 100 })
    const second = budget.admit({ purpose: 'turn', maxTokens: 100, signal: abort.signal })
    abort.abort()
    await expect(second).rejects.toMatchObject({ name: 'AbortError' })
  })

  it('are overshot by one call at most, however many run at once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 500 }),
        fc.array(fc.record({ size: fc.integer({ min: 1, max: 100 }), ticks: fc.nat(5) }), { maxLength: 30 }),
        async (limit, calls) => {
          const store = memoryStore()
          const guard = createBudgetGuard({ limits: { day: { tokens: limit } }, store, clock, timeZone: 'UTC' })
          const one = async ({ size, ticks }: (typeof calls)[number]) => {
            const admission = await guard.admit({ purpose: 'turn', maxTokens: 100 })
            for (let tick = 0; tick < ticks; tick++) await Promise.resolve()
            const usage = { ...noUsage, inputTokens: size }
            const facts = { purpose: 'turn', provider: 'p', model: 'm', priceSource: null, durationMs: 0 }
            store.events.push({ ...facts, usage, atMs: clock.now() })
            admission.settle(usage)
          }
          const ends = await Promise.allSettled(calls.map(one))
          const total = store.events.reduce((sum, { usage }) => sum + usage.inputTokens, 0)
          expect(total).toBeLessThan(limit + 100)
          if (ends.some(({ status }) => status === 'rejected')) expect(total).toBeGreaterThanOrEqual(limit)
        },
      ),
      { numRuns: Number(process.env['HERMES_TEST_RUNS'] ?? 30) },
    )
  })
})
