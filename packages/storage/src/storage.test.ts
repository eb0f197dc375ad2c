import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStorage, type SqliteOptions } from './index.js'
import { testApprovalStore, testAuditLog, testLedger, testStorage, testStore, testSummaries } from './testing/index.js'

async function open(options: Omit<SqliteOptions, 'path'> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'hermes-storage-'))
  const store = await openStorage({ path: join(folder, 'state.db'), ...options })
  const close = async () => {
    await store.close()
    rmSync(folder, { recursive: true })
  }
  return { store, close }
}

testStore({ create: open })

testLedger({
  create: async () => {
    const { store, close } = await open()
    return { ledger: store.ledger, close }
  },
})

testAuditLog({
  create: async () => {
    const { store, close } = await open()
    return { audit: store.audit, close }
  },
})

testApprovalStore({
  create: async () => {
    const { store, close } = await open()
    return { approvals: store.approvals, close }
  },
})

testSummaries({ create: open })

testStorage({ create: open })
