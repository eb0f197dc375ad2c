import assert from 'node:assert/strict'
import { test } from 'node:test'
import { objection } from './index.ts'

test('objects to forced pushes alone', () => {
  assert.match(objection('git push --force origin main') ?? '', /Force pushes/)
  assert.equal(objection('git push origin main'), undefined)
})
