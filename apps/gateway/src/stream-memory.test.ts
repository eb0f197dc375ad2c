import { randomUUID } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { Script } from 'node:vm'
import { expect, it } from 'vitest'
import { StreamMemory } from './stream-memory.js'

setFlagsFromString('--semi-space-growth-factor=2')

const SOURCE = '(function () { return 2 })'
const code = new Script(SOURCE).createCachedData()
// Under a name that V8 has not seen: it remembers what it compiled.
const takesKeptCode = () =>
  new Script(SOURCE, { cachedData: code, filename: randomUUID() }).cachedDataRejected === false

it('leaves V8 as it was until a server has answered much, and at its end', () => {
  const memory = new StreamMemory()
  let answered = () => {}
  memory.setup({ hooks: { on: (_name: string, handler: () => void) => (answered = handler) } } as never)
  for (let call = 0; call < 63; call++) answered()
  expect(takesKeptCode()).toBe(true)
  for (let call = 0; call < 63; call++) answered()
  expect(takesKeptCode()).toBe(false)
  memory.end()
  expect(takesKeptCode()).toBe(true)
})
