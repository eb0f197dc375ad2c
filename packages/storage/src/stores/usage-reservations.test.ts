import type { SpendingState } from '@hermes/contracts/store'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { startScript } from '../__fixtures__/run-writer.js'
import { temporaryPath, temporaryStore } from '../__fixtures__/temporary-store.js'
import { testReservations } from '../testing/index.js'
import { createStepClock } from '../testing/store-case.js'

testReservations({
  create: async () => {
    const path = temporaryPath()
    return { ledger: (await temporaryStore({ path })).usage, other: (await temporaryStore({ path })).usage }
  },
})

const call = { id: 'a', sessionId: null, tokens: 7, costUsd: 0 } as const
const yes = { filters: [{}], admits: () => true }
const isAlone = { filters: [{}], admits: ([state]: readonly SpendingState[]) => state!.reserved.calls === 0 }

it('a hold ends with its process, however that ends', async () => {
  const path = temporaryPath()
  const store = await temporaryStore({ path })
  const other = startScript('reserve-call.mjs', [path])
  await other.printed(1)
  expect(await store.usage.reserve!(call, isAlone)).toBe(false)
  other.process.kill('SIGKILL')
  await other.ended
  expect(await store.usage.reserve!(call, isAlone)).toBe(true)
})

it('a hold ends when its store is closed, and after half an hour', async () => {
  const [path, clock] = [temporaryPath(), createStepClock()]
  const store = await temporaryStore({ path, clock })
  const first = await temporaryStore({ path, clock, owner: 'first' })
  await first.usage.reserve!({ ...call, id: 'first' }, yes)
  await first.close()
  const second = await temporaryStore({ path, clock, owner: 'second' })
  await second.usage.reserve!({ ...call, id: 'second' }, isAlone)
  expect(await store.usage.reserve!(call, isAlone)).toBe(false)
  clock.step(1_800_001)
  expect(await store.usage.reserve!(call, isAlone)).toBe(true)
})

it('a ledger in which no budget is held has no table for it', async () => {
  const path = temporaryPath()
  const store = await temporaryStore({ path })
  await store.usage.record([])
  const database = new Database(path, { readonly: true })
  const tables = database.prepare("SELECT name FROM sqlite_master WHERE name IN ('hermes_usage', 'hermes_holds')")
  expect(tables.pluck().all()).toEqual(['hermes_usage'])
  database.close()
})
