import { expect, it } from 'vitest'
import { Slots } from './slots.js'

const never = new AbortController().signal

it('lets requests in by the order they came, and refuses only what finds no room to wait', async () => {
  const slots = new Slots({ size: 1, maxWaiting: 2, waitMs: 60_000 })
  const order: string[] = []
  const first = await slots.enter(never)
  const [second, third] = ['second', 'third'].map((name) =>
    slots.enter(never).then((leave) => {
      order.push(name)
      return leave
    }),
  )
  await expect(slots.enter(never)).rejects.toMatchObject({ status: 503, code: 'overloaded' })
  first()
  first()
  ;(await second!)()
  ;(await third!)()
  expect(order).toEqual(['second', 'third'])
  ;(await slots.enter(never))()
})

it('gives the place of one who left to the next, and refuses who waited too long', async () => {
  const slots = new Slots({ size: 1, maxWaiting: 5, waitMs: 5 })
  const leave = await slots.enter(never)
  const gone = new AbortController()
  const aborted = slots.enter(gone.signal)
  gone.abort(new DOMException('gone', 'AbortError'))
  await expect(aborted).rejects.toThrow('gone')
  await expect(slots.enter(never)).rejects.toMatchObject({ code: 'overloaded' })
  leave()
  ;(await slots.enter(never))()
})
