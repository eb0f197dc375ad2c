import { needs, postgresMissing } from '@hermes/testkit/daemons'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { anyFork } from '../__fixtures__/any-fork.js'
import { anySearch } from '../__fixtures__/any-search.js'
import { type PostgresDatabase, startDatabase } from '../__fixtures__/postgres-database.js'
import { measureRecall } from '../__fixtures__/recall.js'
import { openStorage, type PostgresOptions } from '../index.js'
import {
  testApprovalStore,
  testAuditLog,
  testEnds,
  testJobs,
  testLedger,
  testOutbox,
  testQuestionStore,
  testReservations,
  testStorage,
  testStore,
  testSummaries,
} from '../testing/index.js'

needs(postgresMissing())('on PostgreSQL', () => {
  let database: PostgresDatabase
  beforeAll(async () => {
    database = await startDatabase()
  })
  afterAll(() => database?.stop())

  const open = async (options?: Omit<PostgresOptions, 'url'>) => {
    const store = await database.open(options)
    return { store, close: () => store.close() }
  }
  const part = <Name extends 'usage' | 'audit' | 'approvals' | 'questions'>(name: Name) => ({
    create: async () => {
      const { store, close } = await open()
      return { [name]: store[name], close } as { readonly [key in Name]: (typeof store)[Name] } & {
        close: typeof close
      }
    },
  })

  testStore({ create: open })
  testStorage({ create: open })
  testEnds({
    create: async () => {
      const url = await database.emptied()
      return { open: (options) => openStorage({ url, ...options }) }
    },
  })
  testSummaries({ create: open })
  testLedger(part('usage'))
  testReservations({
    create: async () => {
      const [store, other] = [await database.open(), await openStorage({ url: database.url })]
      const close = async () => void (await Promise.all([store.close(), other.close()]))
      return { ledger: store.usage, other: other.usage, close }
    },
  })
  testJobs({
    create: async (options) => {
      const stores = [await database.open(options), await openStorage({ url: database.url, ...options })] as const
      const close = async () => void (await Promise.all(stores.map((store) => store.close())))
      return { jobs: stores[0].jobs, other: stores[1].jobs, close }
    },
  })
  testOutbox({
    create: async (options) => {
      const stores = [await database.open(options), await openStorage({ url: database.url, ...options })] as const
      const close = async () => void (await Promise.all(stores.map((store) => store.close())))
      return { store: stores[0], other: stores[1].outbox, close }
    },
  })
  testAuditLog(part('audit'))
  testApprovalStore(part('approvals'))
  testQuestionStore(part('questions'))

  it('finds the session that answers a question', async () => {
    const { store, close } = await open()
    const { typed, words } = await measureRecall(store, { pairs: 2, days: 10, every: 3 })
    await close()
    expect(words).toBeGreaterThanOrEqual(0.88)
    expect(typed).toBeGreaterThanOrEqual(0.85)
  })

  describe('whatever comes', () => {
    it('searches for whatever a person types', async () => {
      const { store, close } = await open()
      await anySearch(store, 200)
      await close()
    })

    it('gives models the very same conversation in a fork, whatever was compacted or undone', async () => {
      const { store, close } = await open()
      await anyFork(store)
      await close()
    })
  })
})
