import { PassThrough } from 'node:stream'
import { APPROVAL_WORDS } from '@hermes/commands'
import { expect, it } from 'vitest'
import { openPlainConsole } from './plain-console.js'

const options = [
  { label: 'yes, once', key: 'y', words: APPROVAL_WORDS.once },
  { label: 'no', key: 'n', words: APPROVAL_WORDS.deny },
]

async function answerTo(line: string, change: object = {}) {
  const stdin = new PassThrough()
  const terminal = { write: () => true, columns: () => 80 } as never
  const console = openPlainConsole({ stdin } as never, terminal, {
    onLine: () => undefined,
    onEnd: () => undefined,
  } as never)
  const answer = console.pick({ title: 'Run it?', options, freeText: false, ...change })
  stdin.write(`${line}\n`)
  const result = await answer
  console.close()
  return result
}

it.each(['y', 'Y', '1', 'yes', ' Yes ', 'approve', 'ok', 'go', 'once'])('takes %j for a yes', async (line) => {
  expect(await answerTo(line)).toEqual({ type: 'option', index: 0 })
})

it.each(['n', '2', 'no', 'deny', 'CANCEL'])('takes %j for a no', async (line) => {
  expect(await answerTo(line)).toEqual({ type: 'option', index: 1 })
})

it.each(['', 'maybe', 'yes please', '3', 'okay'])('takes %j for no answer', async (line) => {
  expect(await answerTo(line)).toEqual({ type: 'none' })
})

it('takes several numbers where several may be taken', async () => {
  expect(await answerTo('2, 1', { isSeveral: true })).toEqual({ type: 'several', indexes: [0, 1] })
  expect(await answerTo('1 3', { isSeveral: true })).toEqual({ type: 'none' })
  expect(await answerTo('1 2')).toEqual({ type: 'none' })
})
