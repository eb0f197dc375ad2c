import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countWords } from './index.ts'

test('counts words, whatever is between them', () => {
  assert.equal(countWords(' one  two\nthree '), 3)
  assert.equal(countWords(''), 0)
})
