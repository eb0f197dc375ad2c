import { needs, postgresMissing } from '@hermes/testkit/daemons'
import { afterAll, beforeAll } from 'vitest'
import { type PostgresDatabases, startDatabases } from '../__fixtures__/postgres-databases.js'
import type { PostgresOptions } from '../index.js'
import { testApprovalStore, testAuditLog, testLedger, testStore, testSummaries } from '../testing/index.js'

needs(postgresMissing())('on PostgreSQL', () => {
  let databases: PostgresDatabases
  beforeAll(async () => {
    databases = await startDatabases()
  })
  afterAll(() => databases?.stop())

  const open = async (options?: Omit<PostgresOptions, 'url'>) => {
    const store = await databases.open(options)
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
