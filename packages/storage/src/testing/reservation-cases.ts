import { HermesError } from '@hermes/contracts'
import { noUsage } from '@hermes/contracts/conversation'
import type { SpendingState, UsageLedger, UsageRecord, UsageReservation } from '@hermes/contracts/store'
import { describe, expect, it } from 'vitest'

/** Two views of one ledger, as two processes have them. */
interface ReservationSubject {
  readonly ledger: UsageLedger
  readonly other: UsageLedger
  close?(): Promise<void>
}

const NOON = Date.parse('2026-03-01T12:00:00Z')
const NOTHING: SpendingState = {
  spent: { tokens: 0, costUsd: 0, unpricedCalls: 0 },
  reserved: { calls: 0, tokens: 0, costUsd: 0 },
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
const call = (id: string, over: Partial<UsageReservation> = {}): UsageReservation => ({
  id,
  sessionId: 's',
  tokens: 1_000,
  costUsd: 0.1,
  ...over,
})

/** How things stand for each filter; keeps nothing. */
async function stateOf(ledger: UsageLedger, ...filters: Parameters<NonNullable<UsageLedger['reserve']>>[1]['filters']) {
  let seen: readonly SpendingState[] = []
  const admits = (states: readonly SpendingState[]) => {
    seen = states
    return false
  }
  expect(await ledger.reserve!(call('never'), { filters, admits })).toBe(false)
  return seen
}

const yes = { filters: [{}], admits: () => true }

/** Registers the cases that every {@link UsageLedger} with `reserve` passes with vitest; `create` makes an empty one for each. */
export function testReservations({ create }: { readonly create: () => Promise<ReservationSubject> }): void {
  const reservationCase = (title: string, check: (subject: ReservationSubject) => Promise<void>) =>
    it(title, async () => {
      const subject = await create()
      try {
        await check(subject)
      } finally {
        await subject.close?.()
      }
    })
  describe('UsageLedger.hold', () => {
    reservationCase(
      'shows nothing in an empty ledger, and keeps nothing that is not admitted',
      async ({ ledger, other }) => {
        expect(await stateOf(ledger, {})).toEqual([NOTHING])
        expect(await stateOf(other, {})).toEqual([NOTHING])
      },
    )
    reservationCase('shows a call to everybody until it is released together with what it came to', async (subject) => {
      const { ledger, other } = subject
      expect(await ledger.reserve!(call('a'), yes)).toBe(true)
      expect(await stateOf(other, {})).toEqual([{ ...NOTHING, reserved: { calls: 1, tokens: 1_000, costUsd: 0.1 } }])
      await ledger.record([record()], { releases: ['a'] })
      const spent = { tokens: 100, costUsd: 0.5, unpricedCalls: 0 }
      expect(await stateOf(other, {})).toEqual([{ ...NOTHING, spent }])
    })
    reservationCase('never takes an unknown cost for none', async ({ ledger, other }) => {
      await ledger.record([record({}, 'unknown'), record()])
      await ledger.reserve!(call('a', { costUsd: 'unknown' }), yes)
      await ledger.reserve!(call('b'), yes)
      expect(await stateOf(other, {})).toEqual([
        {
          spent: { tokens: 200, costUsd: 0.5, unpricedCalls: 1 },
          reserved: { calls: 2, tokens: 2_000, costUsd: 'unknown' },
        },
      ])
    })
    reservationCase(
      'narrows to a session and to what was spent since, also as more is written',
      async ({ ledger, other }) => {
        const filters = [{ sessionId: 's' }, { sinceMs: NOON }, { sinceMs: NOON + 1, sessionId: 'none' }] as const
        const numbers = async () =>
          (await stateOf(ledger, ...filters)).map(({ spent, reserved }) => [spent.tokens, reserved.tokens])
        await ledger.reserve!(call('a', { sessionId: 'other' }), yes)
        await other.record([record({ atMs: NOON - 1 }), record({ sessionId: 'other' })])
        expect(await numbers()).toEqual([
          [100, 0],
          [100, 1_000],
          [0, 0],
        ])
        await other.record([record(), record({ sessionId: null })])
        await ledger.reserve!(call('b'), yes)
        expect(await numbers()).toEqual([
          [200, 1_000],
          [300, 2_000],
          [0, 0],
        ])
      },
    )
    reservationCase('lets one of many through at a time when that is what is asked', async ({ ledger, other }) => {
      const alone = { filters: [{}], admits: ([state]: readonly SpendingState[]) => state!.reserved.calls === 0 }
      const requested = await Promise.all(
        Array.from({ length: 10 }, (_, index) => (index % 2 ? ledger : other).reserve!(call(`c${index}`), alone)),
      )
      expect(requested.filter(Boolean)).toHaveLength(1)
    })
    reservationCase('passes on what the question throws, and keeps nothing', async ({ ledger, other }) => {
      const spent = new HermesError('All is spent.', { code: 'models.budget_spent' })
      const refuse = () => {
        throw spent
      }
      await expect(ledger.reserve!(call('a'), { filters: [{}], admits: refuse })).rejects.toBe(spent)
      await ledger.record([record()], { releases: ['a', 'unknown'] })
      expect(await stateOf(other, {})).toMatchObject([{ reserved: { calls: 0 }, spent: { tokens: 100 } }])
    })
  })
}
