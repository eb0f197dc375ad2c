import type { Clock } from '@hermes/contracts'
import type { SessionStore } from '@hermes/contracts/store'
import { it } from 'vitest'
import type { Storage } from '../storage.js'

/** A clock that stands still until it is told otherwise; a sleep moves it on at once. */
export interface StepClock extends Clock {
  step(ms: number): void
}

/** Stands at one moment of 2023. */
export function createStepClock(): StepClock {
  let nowMs = 1_700_000_000_123
  return {
    now: () => nowMs,
    step: (ms) => void (nowMs += ms),
    sleep: async (ms) => void (nowMs += ms),
  }
}

/** What a case works with. */
export interface StoreFixture {
  readonly store: SessionStore
  readonly clock: StepClock
  close(): Promise<void>
}

/** One behaviour of every store. */
export interface StoreCase {
  readonly title: string
  /** `skipReason` turns it into a skipped test that says why. */
  register(skipReason: string | null, open: () => Promise<StoreFixture>): void
}

/** A case from its title and what it checks. */
export function storeCase(title: string, check: (fixture: StoreFixture) => Promise<void>): StoreCase {
  return {
    title,
    register: (skipReason, open) => {
      it(skipReason === null ? title : `${title} (${skipReason})`, { skip: skipReason !== null }, async () => {
        const fixture = await open()
        try {
          await check(fixture)
        } finally {
          await fixture.close()
        }
      })
    },
  }
}

/** Opens an empty store that goes with the test. */
export type OpenStore = (options?: { readonly clock?: Clock }) => Promise<Storage>
