import { noUsage } from '@hermes/contracts/conversation'
import type { ModelEvent, ModelFinish } from '@hermes/contracts/model'
import { describe, expect, it } from 'vitest'
import { CallReader, type Reading, reading, wholeAnswer } from './read-events.js'

const stamp = { provider: 'p', endpoint: 'https://a.example', model: 'm' }
const last: ModelFinish = {
  type: 'finish',
  message: { role: 'assistant', content: [], finishReason: 'stop' },
  usage: noUsage,
  stamp,
}
const text = (of: string): ModelEvent => ({ type: 'text-delta', text: of })

/** A call whose server sends `words`, of which each letter becomes an event; `log` has what happened around it. */
function setUp(words: readonly (string | Error)[], more: Partial<Omit<Reading, 'chunks'>> = {}) {
  const log: string[] = []
  async function* chunks() {
    try {
      for (const word of words) {
        if (word instanceof Error) throw word
        yield word
      }
    } finally {
      log.push('left the server')
    }
  }
  const answer = reading<string>({
    chunks: chunks(),
    push: (word) => [...word].map(text),
    finish: async () => last,
    ...more,
  })
  async function* frame(input: Reading) {
    try {
      yield input
      yield await input.finish()
    } catch (error) {
      log.push(`failed: ${(error as Error).message}`)
      throw error
    } finally {
      log.push('done')
    }
  }
  return { log, read: (input: Reading = answer) => new CallReader(frame(input)) }
}

async function all(reader: CallReader): Promise<string> {
  let text = ''
  for await (const event of reader) text += event.type === 'text-delta' ? event.text : event.type
  return text
}

describe('CallReader', () => {
  it('gives what each chunk adds, also nothing and several, and the complete answer at the end', async () => {
    const { log, read } = setUp(['ab', '', '', 'c'])
    const reader = read()
    expect(await all(reader)).toBe('abcfinish')
    expect(log).toEqual(['left the server', 'done'])
    expect(await reader.next()).toEqual({ done: true, value: undefined })
  })

  it('gives the complete answer alone when it came in one piece', async () => {
    const { log, read } = setUp([])
    expect(await all(read(wholeAnswer(async () => last)))).toBe('finish')
    expect(log).toEqual(['done'])
  })

  it('leaves the server alone once nothing more is wanted, after all that was added', async () => {
    const seen: string[] = []
    const push = (word: unknown) => {
      seen.push(String(word))
      return [...String(word)].map(text)
    }
    const { log, read } = setUp(['ab', 'c'], { push, isOver: () => seen.length > 0 })
    expect(await all(read())).toBe('abfinish')
    expect([seen, log]).toEqual([['ab'], ['left the server', 'done']])
  })

  it('leaves the server and ends the call when the reader leaves', async () => {
    const { log, read } = setUp(['ab', 'c'])
    for await (const event of read()) if (event.type === 'text-delta') break
    expect(log).toEqual(['left the server', 'done'])
  })

  it('hands an error of the server to the call', async () => {
    const { log, read } = setUp(['a', new Error('cut')])
    await expect(all(read())).rejects.toThrow('cut')
    expect(log).toEqual(['left the server', 'failed: cut', 'done'])
  })

  it('leaves the server when a chunk cannot be taken in', async () => {
    const push = () => {
      throw new Error('odd')
    }
    const { log, read } = setUp(['a'], { push })
    await expect(all(read())).rejects.toThrow('odd')
    expect(log).toEqual(['left the server', 'failed: odd', 'done'])
  })

  it('ends a call that was never begun without asking anybody', async () => {
    const { log, read } = setUp(['a'])
    const reader = read()
    expect(await reader.return()).toEqual({ done: true, value: undefined })
    expect(await reader.next()).toEqual({ done: true, value: undefined })
    expect(log).toEqual([])
  })
})
