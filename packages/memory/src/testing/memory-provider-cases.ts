import type { MemoryProvider } from '@hermes/contracts/memory'
import { expect, it, onTestFinished } from 'vitest'

/** A provider with nothing in it yet. */
interface MemoryProviderSubject {
  readonly provider: MemoryProvider
  /** Makes what the provider asks answer nothing until it is closed, or fail. */
  stall(): void
  refuse(status: number): void
  /** Called after each case; the provider is closed already. */
  release?(): Promise<void>
}

const signal = () => AbortSignal.timeout(5_000)

/** The cases every provider of memories passes; call it inside a `describe`. */
export function testMemoryProvider(create: () => Promise<MemoryProviderSubject>): void {
  const open = async () => {
    const subject = await create()
    onTestFinished(async () => {
      await subject.provider.close()
      await subject.release?.()
    })
    return subject
  }
  const recalled = async (provider: MemoryProvider, query: string, limit = 5) =>
    (await provider.recall(query, { limit, signal: signal() })).map(({ text }) => text).join('\n')

  it('knows nothing at first', async () => {
    const { provider } = await open()
    await provider.check({ signal: signal() })
    expect(await provider.recall('garden flowers', { limit: 5, signal: signal() })).toEqual([])
  })

  it('finds what it was told to remember, by what is asked', async () => {
    const { provider } = await open()
    await provider.store('The garden is watered on Monday evenings', { signal: signal() })
    await provider.store('Invoices are sent by post', { signal: signal() })
    const found = await recalled(provider, 'garden watered Monday')
    expect(found).toContain('Monday evenings')
    expect(found).not.toContain('Invoices')
  })

  it('takes in what was said in a conversation', async () => {
    const { provider } = await open()
    const turn = {
      sessionId: '20260102_030405_abcdef',
      user: 'My cat is called Minka',
      assistant: 'A fine name.',
      atMs: 0,
    }
    await provider.keep(turn, { signal: signal() })
    await provider.keep({ ...turn, user: 'She is three years old' }, { signal: signal() })
    expect(await recalled(provider, 'cat called Minka')).toContain('Minka')
  })

  it('gives no more than it is asked for', async () => {
    const { provider } = await open()
    for (let count = 0; count < 4; count++)
      await provider.store(`apples are kept in box ${count}`, { signal: signal() })
    expect(await provider.recall('apples kept box', { limit: 2, signal: signal() })).toHaveLength(2)
  })

  it('forgets one memory, and says when there is none', async () => {
    const { provider } = await open()
    await provider.store('The spare key lies under the mat', { signal: signal() })
    const [first] = await provider.recall('spare key under mat', { limit: 1, signal: signal() })
    expect(await provider.forget(first!.id!, { signal: signal() })).toBe(true)
    expect(await provider.forget(first!.id!, { signal: signal() })).toBe(false)
    expect(await recalled(provider, 'spare key under mat')).toBe('')
  })

  it.each([
    [401, 'memory.provider_unauthorized', false],
    [400, 'memory.provider_refused', false],
    [429, 'memory.provider_unavailable', true],
    [503, 'memory.provider_unavailable', true],
  ])('says in one line what %i means', async (status, code, retryable) => {
    const { provider, refuse } = await open()
    refuse(status)
    const error: Error = await provider.store('anything at all', { signal: signal() }).then(
      () => new Error('it was taken'),
      (thrown: Error) => thrown,
    )
    expect(error).toMatchObject({ code, retryable })
    expect(error.message).not.toContain('\n')
  })

  it('ends at once when it is aborted', async () => {
    const { provider, stall } = await open()
    stall()
    const controller = new AbortController()
    const call = provider.store('anything at all', { signal: controller.signal })
    controller.abort()
    await expect(call).rejects.toMatchObject({ name: 'AbortError' })
  })
}
