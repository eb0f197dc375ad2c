import { noUsage } from '@hermes/contracts/conversation'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { temporaryPath, temporaryStore } from '../__fixtures__/temporary-store.js'

const call = { atMs: 0, sessionId: null, purpose: 'turn', provider: 'p', model: 'm', durationMs: 1, priceSource: null }

it('reads a ledger of a version without estimates, and gives it their mark with the next call', async () => {
  const path = temporaryPath()
  const first = await temporaryStore({ path })
  await first.usage.record([{ ...call, usage: noUsage }])
  await first.close()
  const database = new Database(path)
  database.exec('ALTER TABLE hermes_usage DROP COLUMN estimated')
  database.close()
  const { usage: ledger } = await temporaryStore({ path })
  expect(await ledger.totals()).toMatchObject([{ calls: 1 }])
  await ledger.record([{ ...call, usage: noUsage, isEstimate: true }])
  expect(await ledger.totals()).toMatchObject([{ calls: 2, estimatedCalls: 1 }])
})
