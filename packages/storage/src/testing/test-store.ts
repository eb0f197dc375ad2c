import type { Clock } from '@hermes/contracts'
import type { SessionStore } from '@hermes/contracts/store'
import { describe } from 'vitest'
import { inboxCases } from './inbox-cases.js'
import { leaseCases } from './lease-cases.js'
import { logCases } from './log-cases.js'
import { partialCases } from './partial-cases.js'
import { sessionCases } from './session-cases.js'
import { createStepClock, type StepClock, type StoreCase, type StoreFixture } from './store-case.js'

/** Cases an implementation does not pass, and why. */
interface SkippedTests {
  readonly reason: string
  /** Titles as the suite has them. */
  readonly tests: readonly string[]
}

/** A store under test, and how to get rid of it. */
interface StoreSubject {
  readonly store: SessionStore
  close?(): Promise<void>
}

/** Options of {@link testStore}. */
interface TestStoreOptions {
  /** Makes an empty store that takes its time from `clock`. Called once per case. */
  create(options: { readonly clock: Clock }): Promise<StoreSubject> | StoreSubject
  readonly skip?: readonly SkippedTests[]
}

/**
 * Registers the cases that every {@link SessionStore} passes with vitest. Call it at the top level of a test file.
 * @throws Error when `skip` names a case that does not exist.
 */
export function testStore(options: TestStoreOptions): void {
  const cases: readonly StoreCase[] = [...sessionCases, ...logCases, ...leaseCases, ...partialCases, ...inboxCases]
  const skipped = new Map(options.skip?.flatMap(({ reason, tests }) => tests.map((title) => [title, reason] as const)))
  for (const title of skipped.keys()) {
    if (!cases.some((one) => one.title === title)) throw new Error(`testStore has no case "${title}" to skip.`)
  }
  describe('SessionStore', () => {
    for (const one of cases) one.register(skipped.get(one.title) ?? null, () => open(options))
  })
}

async function open(options: TestStoreOptions): Promise<StoreFixture> {
  const clock: StepClock = createStepClock()
  const subject = await options.create({ clock })
  return { store: subject.store, clock, close: async () => subject.close?.() }
}
