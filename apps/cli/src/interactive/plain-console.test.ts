import { PassThrough } from 'node:stream'
import { APPROVAL_WORDS } from '@hermes/commands'
import { expect, it } from 'vitest'
import { openPlainConsole } from './plain-console.js'

const options = [
  { label: 'yes, once', key: 'y', words: APPROVAL_WORDS.once },
  { label: 'no', key: 'n', words: APPROVAL_WORDS.deny },
]

async function answerTo(line: string) {
  const stdin = new PassThrough()
  const terminal = { write: () => true, columns: () => 80 } as never
  const console = openPlainConsole({ stdin } as never, terminal, {
    onLine: () => undefined,
    onEnd: () => undefined,
  } as never)
  const answer = console.pick({ title: 'Run it?', options, freeText: false })
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
