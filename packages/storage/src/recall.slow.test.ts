import { needs, postgresMissing } from '@hermes/testkit/daemons'
import { expect, it } from 'vitest'
import { startDatabase } from './__fixtures__/postgres-database.js'
import { measureRecall } from './__fixtures__/recall.js'
import { temporaryStore } from './__fixtures__/temporary-store.js'

const SIZE = { pairs: 8, days: 20, every: 4 }

it('finds the session that answers a question, as it was typed and by its words, among five of 160', async () => {
  const { questions, typed, words } = await measureRecall(await temporaryStore(), SIZE)
  expect(questions).toBeGreaterThan(100)
  expect(words).toBeGreaterThanOrEqual(0.88)
  expect(typed).toBeGreaterThanOrEqual(0.85)
})

needs(postgresMissing())('on PostgreSQL', () => {
  it('finds it as well', async () => {
    const database = await startDatabase()
    const store = await database.open()
    const { typed, words } = await measureRecall(store, { pairs: 4, days: 12, every: 3 })
    await store.close()
    await database.stop()
    expect(words).toBeGreaterThanOrEqual(0.88)
    expect(typed).toBeGreaterThanOrEqual(0.85)
  })
})
