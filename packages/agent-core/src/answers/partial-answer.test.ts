import { messageText } from '@hermes/contracts/conversation'
import type { ModelEvent } from '@hermes/contracts/model'
import type { SessionLog } from '@hermes/contracts/store'
import { finish, scriptedModel } from '@hermes/testkit'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createAgent, createMemoryStore } from '../index.js'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const delta = (text: string): ModelEvent => ({ type: 'text-delta', text })

/** A store that tells what it was asked to keep beside the log. */
function keepingStore() {
  const kept: (string | null)[] = []
  const store = createMemoryStore()
  const keepPartial: SessionLog['keepPartial'] = async (_, entry) =>
    void kept.push(entry === null ? null : messageText(entry.message).split('[')[0]!)
  Object.assign(store.log, { keepPartial })
  return { kept, store }
}

it('keeps nothing of answers shorter than a second, and longer ones at most once in it', async () => {
  const { kept, store } = keepingStore()
  const streamFor = (ms: number) =>
    async function* (): AsyncGenerator<ModelEvent> {
      let text = ''
      for (let atMs = 0; atMs <= ms; atMs += 100) {
        if (atMs > 0) await vi.advanceTimersByTimeAsync(100)
        text += `${atMs} `
        yield delta(`${atMs} `)
      }
      yield finish(text)
    }
  const model = scriptedModel([streamFor(900), streamFor(3_000)])
  const agent = createAgent({ model, tools: [], session: { store } })
  await agent.run('short').result
  await vi.advanceTimersByTimeAsync(5_000)
  expect(kept).toEqual([])
  await agent.run('long').result
  await vi.advanceTimersByTimeAsync(5_000)
  expect(kept).toHaveLength(3)
  expect(kept.map((text) => text!.trim().split(' ').at(-1))).toEqual(['900', '1900', '2900'])
})

it('forgets what was kept of an answer that is asked for again', async () => {
  const { kept, store } = keepingStore()
  const model = scriptedModel([
    async function* (): AsyncGenerator<ModelEvent> {
      yield delta('half')
      await vi.advanceTimersByTimeAsync(1_000)
      yield { type: 'retry-wait', attempt: 1, delayMs: 0, reason: 'timeout', message: 'again', discard: true }
      yield delta('whole')
      yield finish('whole')
    },
  ])
  await createAgent({ model, tools: [], session: { store } }).run('go').result
  expect(kept).toEqual(['half', null])
})
