import { expect, it } from 'vitest'
import { measureRecall } from './__fixtures__/recall.js'
import { temporaryStore } from './__fixtures__/temporary-store.js'

const SIZE = { pairs: 8, days: 20, every: 4 }

it('finds the session that answers a question, as it was typed and by its words, among five of 160', async () => {
  const { questions, typed, words } = await measureRecall(await temporaryStore(), SIZE)
  expect(questions).toBeGreaterThan(100)
  expect(words).toBeGreaterThanOrEqual(0.88)
  expect(typed).toBeGreaterThanOrEqual(0.85)
})
