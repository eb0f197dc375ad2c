import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openStorage, type SqliteOptions } from './index.js'
import { processIdentity } from './shared/process-identity.js'
import {
  testApprovalStore,
  testAuditLog,
  testEnds,
  testJobs,
  testLedger,
  testOutbox,
  testQuestionStore,
  testStorage,
  testStore,
  testSummaries,
} from './testing/index.js'

// How a file is made is proven elsewhere (open.test.ts, migrate.test.ts): each case has a copy of one that is made already.
const shelf = mkdtempSync(join(tmpdir(), 'hermes-storage-'))
beforeAll(async () => (await openStorage({ path: join(shelf, 'state.db') })).close())
afterAll(() => rmSync(shelf, { recursive: true, maxRetries: 10 }))

function emptyStore() {
  const folder = mkdtempSync(join(tmpdir(), 'hermes-storage-'))
  const path = join(folder, 'state.db')
  copyFileSync(join(shelf, 'state.db'), path)
  return { folder, path }
}

async function open(options: Omit<SqliteOptions, 'path'> = {}) {
  const { folder, path } = emptyStore()
  const store = await openStorage({ path, ...options })
  const close = async () => {
    await store.close()
    rmSync(folder, { recursive: true, maxRetries: 10 })
  }
  return { store, path, close }
}

testStore({ create: open })

testLedger({
  create: async () => {
    const { store, close } = await open()
    return { usage: store.usage, close }
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

testQuestionStore({
  create: async () => {
    const { store, close } = await open()
    return { questions: store.questions, close }
  },
})

testSummaries({ create: open })

testStorage({ create: open })

testEnds({
  create: () => {
    const { folder, path } = emptyStore()
    const close = async () => rmSync(folder, { recursive: true, maxRetries: 10 })
    return { open: (options) => openStorage({ path, ...options }), close }
  },
})

testJobs({
  create: async (options) => {
    const { folder, path } = emptyStore()
    const stores = [await openStorage({ path, ...options }), await openStorage({ path, ...options })] as const
    const close = async () => {
      await Promise.all(stores.map((store) => store.close()))
      // The second of the two looks the file over in a thread, which may still have it open.
      rmSync(folder, { recursive: true, maxRetries: 10 })
    }
    return { jobs: stores[0].jobs, other: stores[1].jobs, close }
  },
})

testOutbox({
  create: async (options) => {
    const { folder, path } = emptyStore()
    const stores = [await openStorage({ path, ...options }), await openStorage({ path, ...options })] as const
    const close = async () => {
      await Promise.all(stores.map((store) => store.close()))
      rmSync(folder, { recursive: true, maxRetries: 10 })
    }
    return { store: stores[0], other: stores[1].outbox, close }
  },
})

it('gives a message of a sender that has ended to another at once, as one that may be sent', async () => {
  const first = await open({
    owner: `${spawnSync('true').pid}@${processIdentity().split('@')[1]!.split('#')[0]}#1.dead`,
  })
  await first.store.outbox.add([{ key: 'k', platform: 'telegram', target: '1', body: {} }])
  await first.store.outbox.offering((await first.store.outbox.take({ platform: 'telegram' }))!)
  const other = await openStorage({ path: first.path })
  expect(await other.outbox.take({ platform: 'telegram' })).toMatchObject({ mayBeSent: true, attempt: 2 })
  await other.close()
  await first.close()
})

it('gives a job of a process that has ended to another at once', async () => {
  const first = await open({
    owner: `${spawnSync('true').pid}@${processIdentity().split('@')[1]!.split('#')[0]}#1.dead`,
  })
  await first.store.jobs.add({ kind: 'summary' })
  const taken = await first.store.jobs.take({ kinds: ['summary'] })
  const other = await openStorage({ path: first.path })
  expect(await other.jobs.take({ kinds: ['summary'] })).toMatchObject({ id: taken?.id, attempt: 2 })
  await other.close()
  await first.close()
})
