import { needs, postgresMissing } from '@hermes/testkit/daemons'
import { afterAll, beforeAll } from 'vitest'
import { type PostgresDatabase, startDatabase } from '../__fixtures__/postgres-database.js'
import type { PostgresOptions } from '../index.js'
import { testApprovalStore, testAuditLog, testLedger, testStore, testSummaries } from '../testing/index.js'

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
  const part = <Name extends 'ledger' | 'audit' | 'approvals'>(name: Name) => ({
    create: async () => {
      const { store, close } = await open()
      return { [name]: store[name], close } as { readonly [key in Name]: (typeof store)[Name] } & {
        close: typeof close
      }
    },
  })

  testStore({ create: open })
  testSummaries({ create: open })
  testLedger(part('ledger'))
  testAuditLog(part('audit'))
  testApprovalStore(part('approvals'))
})
