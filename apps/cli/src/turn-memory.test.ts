import { randomUUID } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { Script } from 'node:vm'
import type { AgentEvent } from '@hermes/agent-core'
import { noUsage } from '@hermes/contracts/conversation'
import { expect, it } from 'vitest'
import { TurnMemory } from './turn-memory.js'

// Another test of this process may have begun a gateway, which keeps it small for good.
setFlagsFromString('--semi-space-growth-factor=2')

const SOURCE = '(function () { return 1 })'
const code = new Script(SOURCE).createCachedData()
// Under a name that V8 has not seen: it remembers what it compiled.
const takesKeptCode = () =>
  new Script(SOURCE, { cachedData: code, filename: randomUUID() }).cachedDataRejected === false
const answered = { type: 'usage-update', usage: noUsage, total: noUsage } as AgentEvent

it('leaves V8 as it was in a turn of usual length, and after a long one', () => {
  const usual = new TurnMemory()
  for (let call = 0; call < 63; call++) usual.see(answered)
  expect(takesKeptCode()).toBe(true)
  usual.end()
  const long = new TurnMemory()
  for (let call = 0; call < 100; call++) long.see(answered)
  expect(takesKeptCode()).toBe(false)
  long.end()
  expect(takesKeptCode()).toBe(true)
})
