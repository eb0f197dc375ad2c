import { describe, expect, it } from 'vitest'
import { createFakeClock } from './index.js'

describe('createFakeClock', () => {
  it('stands still until it is moved and wakes sleepers in order', async () => {
    const clock = createFakeClock(0)
    const woken: [string, number][] = []
    const sleeps = [
      clock.sleep(20).then(() => woken.push(['late', clock.now()])),
      clock.sleep(10).then(() => woken.push(['early', clock.now()])),
    ]
    expect(clock.pending()).toEqual([10, 20])
    await clock.advance(9)
    expect(woken).toEqual([])
    await clock.advance(11)
    await Promise.all(sleeps)
    expect(woken).toEqual([
      ['early', 10],
      ['late', 20],
    ])
  })

  it('rejects a sleep when its signal fires, before or during', async () => {
    const clock = createFakeClock()
    const abort = new AbortController()
    const during = clock.sleep(10, abort.signal)
    abort.abort()
    await expect(during).rejects.toMatchObject({ name: 'AbortError' })
    await expect(clock.sleep(10, abort.signal)).rejects.toMatchObject({ name: 'AbortError' })
    expect(clock.pending()).toEqual([])
  })

  it('tells when somebody sleeps', async () => {
    const clock = createFakeClock()
    const waited = clock.waitForSleepers()
    const slept = clock.sleep(5)
    await waited
    await clock.advance(5)
    await slept
    expect(clock.pending()).toEqual([])
  })
})
