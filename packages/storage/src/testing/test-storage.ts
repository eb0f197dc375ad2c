import type { Clock } from '@hermes/contracts'
import { onTestFinished } from 'vitest'
import type { Storage } from '../storage.js'
import { forkCases } from './fork-cases.js'
import { learningCases } from './learning-cases.js'
import { listCases } from './list-cases.js'
import { peopleCases } from './people-cases.js'
import { rescueCases } from './rescue-cases.js'
import { searchCases } from './search-cases.js'
import type { OpenStore } from './store-case.js'
import { upkeepCases } from './upkeep-cases.js'

/** A store under test, and how to get rid of it. */
interface StorageSubject {
  readonly store: Storage
  close?(): Promise<void>
}

/**
 * Registers the cases of what a `Storage` does beyond a `SessionStore` with vitest: lists, names, search, forks, upkeep. `create` makes
 * an empty store for each. Call it at the top level of a test file, beside `testStore`.
 */
export function testStorage(options: {
  readonly create: (options: { readonly clock?: Clock }) => Promise<StorageSubject> | StorageSubject
}): void {
  const open: OpenStore = async (input = {}) => {
    const subject = await options.create(input)
    onTestFinished(async () => subject.close?.())
    return subject.store
  }
  listCases(open)
  searchCases(open)
  forkCases(open)
  learningCases(open)
  peopleCases(open)
  upkeepCases(open)
  rescueCases(open)
}
