import { expect, it } from 'vitest'
import { SessionQueue } from './session-queue.js'

it('lets one in at a time, in the order they came, and leaves nothing behind', async () => {
  const queue = new SessionQueue()
  const order: number[] = []
  const visit = async (number: number) => {
    const place = await queue.enter()
    order.push(number)
    await Promise.resolve()
    order.push(number)
    place.leave()
  }
  await Promise.all([visit(1), visit(2), visit(3)])
  expect(order).toEqual([1, 1, 2, 2, 3, 3])
  expect(queue.isTaken).toBe(false)
})

it('gives up the place of one that left without letting others pass', async () => {
  const queue = new SessionQueue()
  const first = await queue.enter()
  const controller = new AbortController()
  const second = queue.enter(controller.signal)
  let isIn = false
  const third = queue.enter().then((place) => {
    isIn = true
    return place
  })
  controller.abort(new DOMException('left', 'AbortError'))
  await expect(second).rejects.toThrow('left')
  expect(isIn).toBe(false)
  first.leave()
  ;(await third).leave()
  expect(queue.isTaken).toBe(false)
})

it('refuses an input when eight wait already', async () => {
  const queue = new SessionQueue()
  const first = await queue.enter()
  const waiting = Array.from({ length: 8 }, () => queue.enter())
  await expect(queue.enter()).rejects.toMatchObject({ code: 'host.session_full' })
  first.leave()
  first.leave()
  for (const place of waiting) (await place).leave()
  expect(queue.isTaken).toBe(false)
})

it('says that a session is free soon once the run in it is ending', async () => {
  const queue = new SessionQueue()
  const place = await queue.enter()
  expect(queue.isBusy).toBe(true)
  place.ending()
  expect([queue.isBusy, queue.isTaken]).toEqual([false, true])
  place.leave()
})
