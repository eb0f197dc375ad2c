import type { KeptTurn, MemoryProvider } from '@hermes/contracts/memory'
import { createFakeClock } from '@hermes/testkit'
import { describe, expect, it } from 'vitest'
import { type LongMemoryOptions, openLongMemory } from './long-memory.js'

const turn = (user: string): KeptTurn => ({ sessionId: 's', user, assistant: 'ok', atMs: 0 })
const signal = () => new AbortController().signal
const never = <T>() => new Promise<T>(() => undefined)

function setUp(provider: Partial<MemoryProvider>, options: Partial<LongMemoryOptions> = {}) {
  const clock = createFakeClock()
  const whole: MemoryProvider = {
    name: 'test',
    recall: async () => [],
    keep: async () => undefined,
    store: async () => undefined,
    forget: async () => false,
    check: async () => undefined,
    close: async () => undefined,
    ...provider,
  }
  return { clock, memory: openLongMemory({ open: async () => whole, clock, ...options }) }
}

describe('a memory beyond the files', () => {
  it('gives what fits, and asks about the beginning of a long text only', async () => {
    const requested: string[] = []
    const { memory } = setUp({
      recall: async (query) => {
        requested.push(query)
        return [{ id: '1', text: 'likes tea' }]
      },
    })
    expect(await memory.recall('x'.repeat(9_000), { signal: signal() })).toEqual([{ id: '1', text: 'likes tea' }])
    expect(requested[0]).toHaveLength(2_000)
    expect(await memory.recall('  ', { signal: signal() })).toEqual([])
    expect(requested).toHaveLength(1)
  })

  it('is left alone for a while after a failure, then asked again', async () => {
    let calls = 0
    const { memory, clock } = setUp({
      recall: async () => {
        if (++calls === 1) throw new Error('It is down.')
        return [{ id: null, text: 'back' }]
      },
    })
    expect(await memory.recall('a', { signal: signal() })).toEqual([])
    expect(memory.problem()).toBe('It is down.')
    expect(await memory.recall('a', { signal: signal() })).toEqual([])
    expect(calls).toBe(1)
    await clock.advance(30_000)
    expect(await memory.recall('a', { signal: signal() })).toHaveLength(1)
    expect(memory.problem()).toBeNull()
  })

  it('does not hold a turn up when it does not answer, nor when it ignores its signal', async () => {
    const { memory } = setUp({ recall: () => never() }, { recallTimeoutMs: 1, searchTimeoutMs: 10 })
    expect(await memory.recall('a', { signal: signal() })).toEqual([])
    await expect.poll(() => memory.problem()).toMatch(/longer than 0.01 s/)
  })

  it('gives what comes too late with the next message of the same session, and asks no second time meanwhile', async () => {
    const answers: ((text: string) => void)[] = []
    const { memory } = setUp(
      {
        recall: () =>
          new Promise((resolve) => {
            answers.push((text) => resolve([{ id: null, text }]))
          }),
      },
      { recallTimeoutMs: 1 },
    )
    const ask = async (sessionId: string) =>
      (await memory.recall('tea', { signal: signal(), sessionId })).map(({ text }) => text)
    expect(await ask('a')).toEqual([])
    expect(await ask('a')).toEqual([])
    expect(answers).toHaveLength(1)
    answers[0]!('likes tea')
    expect(await ask('b')).toEqual([])
    expect(await ask('a')).toEqual(['likes tea'])
    expect(answers).toHaveLength(3)
    answers[1]!('is in b')
    expect(await ask('b')).toEqual(['is in b'])
    expect(memory.problem()).toBeNull()
    await memory.close()
  })

  it('does not hold a turn up when it cannot be opened', async () => {
    const { memory } = setUp({}, { open: () => Promise.reject(new Error('No key.')) })
    expect(await memory.recall('a', { signal: signal() })).toEqual([])
    expect(memory.problem()).toBe('No key.')
  })

  it('passes an abort on, which is no failure of the provider', async () => {
    const { memory } = setUp({ recall: () => never() })
    const controller = new AbortController()
    const recall = memory.recall('a', { signal: controller.signal })
    controller.abort()
    await expect(recall).rejects.toMatchObject({ name: 'AbortError' })
    expect(memory.problem()).toBeNull()
  })

  it('takes exchanges in one after the other, and finishes them before it closes', async () => {
    const kept: string[] = []
    const { memory } = setUp({
      keep: async ({ user }) => {
        await new Promise((done) => setImmediate(done))
        kept.push(user)
      },
    })
    for (const user of ['one', 'two', 'three']) memory.keep(turn(user))
    await memory.close()
    expect(kept).toEqual(['one', 'two', 'three'])
  })
})
