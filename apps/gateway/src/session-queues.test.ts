import { describe, expect, it } from 'vitest'
import { SessionQueues } from './session-queues.js'

const signal = new AbortController().signal

describe('Lanes', () => {
  it('lets one request in at a time, in the order they came, and leaves nothing behind', async () => {
    const sessionQueues = new SessionQueues()
    const order: number[] = []
    const visit = async (number: number) => {
      const turn = await sessionQueues.enter('s', signal)
      order.push(number)
      await Promise.resolve()
      order.push(number)
      turn.leave()
    }
    await Promise.all([visit(1), visit(2), visit(3)])
    expect(order).toEqual([1, 1, 2, 2, 3, 3])
    expect(sessionQueues.isTaken('s')).toBe(false)
  })

  it('gives up the place of a client that left without letting others pass', async () => {
    const sessionQueues = new SessionQueues()
    const first = await sessionQueues.enter('s', signal)
    const controller = new AbortController()
    const second = sessionQueues.enter('s', controller.signal)
    let isIn = false
    const third = sessionQueues.enter('s', signal).then((turn) => {
      isIn = true
      return turn
    })
    controller.abort(new DOMException('left', 'AbortError'))
    await expect(second).rejects.toThrow('left')
    expect(isIn).toBe(false)
    first.leave()
    ;(await third).leave()
    expect(sessionQueues.isTaken('s')).toBe(false)
  })

  it('refuses a request when eight wait already', async () => {
    const sessionQueues = new SessionQueues()
    const first = await sessionQueues.enter('s', signal)
    const waiting = Array.from({ length: 8 }, () => sessionQueues.enter('s', signal))
    await expect(sessionQueues.enter('s', signal)).rejects.toMatchObject({ status: 429, code: 'session_busy' })
    first.leave()
    for (const turn of waiting) (await turn).leave()
  })

  it('says that a session is free soon once its holder is ending', async () => {
    const sessionQueues = new SessionQueues()
    const turn = await sessionQueues.enter('s', signal)
    expect(sessionQueues.isBusy('s')).toBe(true)
    turn.ending()
    expect([sessionQueues.isBusy('s'), sessionQueues.isTaken('s')]).toEqual([false, true])
    turn.leave()
  })
})
