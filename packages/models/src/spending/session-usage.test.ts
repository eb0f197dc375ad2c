import { noUsage } from '@hermes/contracts/conversation'
import type { SessionInfo, UsageTotal } from '@hermes/contracts/store'
import { describe, expect, it } from 'vitest'
import { describeLimits, describeSpending } from './session-usage.js'

const NOW = Date.parse('2026-03-15T12:00:00Z')

const total: UsageTotal = {
  key: '',
  calls: 3,
  usage: { ...noUsage, inputTokens: 11_000, outputTokens: 1_000, costUsd: 0.4 },
  knownCostUsd: 0.4,
  unpricedCalls: 0,
  priceSources: ['reported'],
}

function setUp(found: UsageTotal) {
  const requested: unknown[] = []
  const totals = async (filter: unknown) => {
    requested.push(filter)
    return [found]
  }
  const usage = { ...noUsage, inputTokens: 900, costUsd: 0.1 }
  const descendants = ['subagent', 'cli', 'subagent'].map((source) => ({ source, usage }) as SessionInfo)
  const sessions = { get: async () => ({ usage }) as SessionInfo, descendants: async () => descendants }
  return { requested, storage: { sessions, usage: { totals } } }
}

describe('describeSpending', () => {
  it('has a line for the session, what was delegated in it, the day, a month with a budget, and each key with limits', async () => {
    const { storage, requested } = setUp(total)
    const text = await describeSpending({
      storage,
      sessionId: 's',
      isOwner: true,
      settings: { budget: { day: { usd: 2 }, month: { usd: 20, tokens: 5_000_000 } }, timezone: 'UTC' },
      limits: [
        describeLimits(
          {
            provider: 'openai',
            model: 'm',
            credentialId: 'key',
            atMs: NOW,
            limits: [
              { name: 'requests', limit: 60, remaining: 59, resetAtMs: NOW + 1_000 },
              { name: 'tokens', limit: null, remaining: 4_000, resetAtMs: NOW - 1 },
            ],
          },
          NOW,
        ),
      ],
      nowMs: NOW,
    })
    expect(text.split('\n')).toEqual([
      '900 tokens in, 0 out; $0.1000.',
      'Delegated: 2 tasks, 1800 tokens in, 0 out; $0.2000.',
      'With titles, summaries and other side calls: 3 calls, 12k tokens; $0.40.',
      'Today: 3 calls, 12k tokens; $0.40. Budget: $2.00.',
      'This month: 3 calls, 12k tokens; $0.40. Budget: $20.00 and 5M tokens.',
      'Limits of m at openai: requests 59 of 60 left, new in 1.0 s; tokens 4000 left.',
    ])
    expect(requested).toEqual([
      { sessionId: 's' },
      { sinceMs: Date.parse('2026-03-15T00:00:00Z') },
      { sinceMs: Date.parse('2026-03-01T00:00:00Z') },
    ])
  })

  it('says nothing of other sessions to who is not the owner', async () => {
    const { storage, requested } = setUp(total)
    const settings = { budget: { month: { usd: 20 } }, timezone: 'UTC' }
    const text = await describeSpending({ storage, sessionId: 's', settings, isOwner: false, limits: [], nowMs: NOW })
    expect(text.split('\n')).toEqual([
      '900 tokens in, 0 out; $0.1000.',
      'Delegated: 2 tasks, 1800 tokens in, 0 out; $0.2000.',
      'With titles, summaries and other side calls: 3 calls, 12k tokens; $0.40.',
    ])
    expect(requested).toEqual([{ sessionId: 's' }])
  })

  it('never shows an unknown cost as none', async () => {
    const { storage } = setUp({ ...total, calls: 1, knownCostUsd: 0, unpricedCalls: 1 })
    const settings = { budget: {}, timezone: 'UTC' }
    const text = await describeSpending({ storage, sessionId: 's', settings, isOwner: true, limits: [], nowMs: NOW })
    expect(text).toContain('Today: 1 call, 12k tokens; cost unknown.')
  })
})
