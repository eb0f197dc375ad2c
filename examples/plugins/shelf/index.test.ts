import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openMemory } from './index.ts'

test('finds what shares a word, until it is forgotten', async () => {
  const memory = openMemory(join(mkdtempSync(join(tmpdir(), 'shelf-')), 'memory.json'))
  const signal = new AbortController().signal
  await memory.store('The boat is blue.', { signal })
  const [found] = await memory.recall('Which boat?', { limit: 3, signal })
  assert.equal(found?.text, 'The boat is blue.')
  assert.equal(await memory.forget('The boat is blue.', { signal }), true)
  assert.deepEqual(await memory.recall('Which boat?', { limit: 3, signal }), [])
})
