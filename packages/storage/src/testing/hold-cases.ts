import { HermesError } from '@hermes/contracts'
import { noUsage } from '@hermes/contracts/conversation'
import type { SpendingState, UsageHold, UsageLedger, UsageRecord } from '@hermes/contracts/store'
import { describe, expect, it } from 'vitest'

/** Two views of one ledger, as two processes have them. */
export interface HoldSubject {
  readonly ledger: UsageLedger
  readonly other: UsageLedger
  close?(): Promise<void>
}

const NOON = Date.parse('2026-03-01T12:00:00Z')
const NOTHING: SpendingState = {
  spent: { tokens: 0, costUsd: 0, unpricedCalls: 0 },
  held: { calls: 0, tokens: 0, costUsd: 0 },
}

const record = (over: Partial<UsageRecord> = {}, costUsd: number | 'unknown' = 0.5): UsageRecord => ({
  atMs: NOON,
  sessionId: 's',
  purpose: 'turn',
  provider: 'p',
  model: 'm',
  usage: { ...noUsage, inputTokens: 90, outputTokens: 10, costUsd },
  durationMs: 1,
  priceSource: null,
  ...over,
})
const call = (id: string, over: Partial<UsageHold> = {}): UsageHold => ({
  id,
  sessionId: 's',
  tokens: 1_000,
  costUsd: 0.1,
  ...over,
})

/** How things stand for each filter; keeps nothing. */
async function stateOf(ledger: UsageLedger, ...filters: Parameters<NonNullable<UsageLedger['hold']>>[1]['filters']) {
  let seen: readonly SpendingState[] = []
  const admits = (states: readonly SpendingState[]) => {
    seen = states
    return false
  }
  expect(await ledger.hold!(call('never'), { filters, admits })).toBe(false)
  return seen
}

const yes = { filters: [{}], admits: () => true }

/** Registers the cases that every {@link UsageLedger} with `hold` passes with vitest; `create` makes an empty one for each. */
export function testHolds({ create }: { readonly create: () => Promise<HoldSubject> }): void {
  const holdCase = (title: string, check: (subject: HoldSubject) => Promise<void>) =>
    it(title, async () => {
      const subject = await create()
      try {
        await check(subject)
      } finally {
        await subject.close?.()
      }
    })
  describe('UsageLedger.hold', () => {
    holdCase('shows nothing in an empty ledger, and keeps nothing that is not admitted', async ({ ledger, other }) => {
      expect(await stateOf(ledger, {})).toEqual([NOTHING])
      expect(await stateOf(other, {})).toEqual([NOTHING])
    })
    holdCase('shows a call to everybody until it is released together with what it came to', async (subject) => {
      const { ledger, other } = subject
      expect(await ledger.hold!(call('a'), yes)).toBe(true)
      expect(await stateOf(other, {})).toEqual([{ ...NOTHING, held: { calls: 1, tokens: 1_000, costUsd: 0.1 } }])
      await ledger.record([record()], { releases: ['a'] })
      const spent = { tokens: 100, costUsd: 0.5, unpricedCalls: 0 }
      expect(await stateOf(other, {})).toEqual([{ ...NOTHING, spent }])
    })
    holdCase('never takes an unknown cost for none', async ({ ledger, other }) => {
      await ledger.record([record({}, 'unknown'), record()])
      await ledger.hold!(call('a', { costUsd: 'unknown' }), yes)
      await ledger.hold!(call('b'), yes)
      expect(await stateOf(other, {})).toEqual([
        {
          spent: { tokens: 200, costUsd: 0.5, unpricedCalls: 1 },
          held: { calls: 2, tokens: 2_000, costUsd: 'unknown' },
        },
      ])
    })
    holdCase('narrows to a session and to what was spent since, also as more is written', async ({ ledger, other }) => {
      const filters = [{ sessionId: 's' }, { sinceMs: NOON }, { sinceMs: NOON + 1, sessionId: 'none' }] as const
      const numbers = async () =>
        (await stateOf(ledger, ...filters)).map(({ spent, held }) => [spent.tokens, held.tokens])
      await ledger.hold!(call('a', { sessionId: 'other' }), yes)
      await other.record([record({ atMs: NOON - 1 }), record({ sessionId: 'other' })])
      expect(await numbers()).toEqual([
        [100, 0],
        [100, 1_000],
        [0, 0],
      ])
      await other.record([record(), record({ sessionId: null })])
      await ledger.hold!(call('b'), yes)
      expect(await numbers()).toEqual([
        [200, 1_000],
        [300, 2_000],
        [0, 0],
      ])
    })
    holdCase('lets one of many through at a time when that is what is asked', async ({ ledger, other }) => {
      const alone = { filters: [{}], admits: ([state]: readonly SpendingState[]) => state!.held.calls === 0 }
      const asked = await Promise.all(
        Array.from({ length: 10 }, (_, index) => (index % 2 ? ledger : other).hold!(call(`c${index}`), alone)),
      )
      expect(asked.filter(Boolean)).toHaveLength(1)
    })
    holdCase('passes on what the question throws, and keeps nothing', async ({ ledger, other }) => {
      const spent = new HermesError('All is spent.', { code: 'models.budget_spent' })
      const refuse = () => {
        throw spent
      }
      await expect(ledger.hold!(call('a'), { filters: [{}], admits: refuse })).rejects.toBe(spent)
      await ledger.record([record()], { releases: ['a', 'unknown'] })
      expect(await stateOf(other, {})).toMatchObject([{ held: { calls: 0 }, spent: { tokens: 100 } }])
    })
  })
}
