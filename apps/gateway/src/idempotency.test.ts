import { createFakeClock } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { Idempotency } from './idempotency.js'

it('does the work once for one key, also at once, and again after five minutes or a failure', async () => {
  const clock = createFakeClock()
  const kept = new Idempotency(clock)
  let count = 0
  const work = async () => Response.json({ count: ++count }, { headers: { 'x-hermes-session-id': 's' } })
  const ask = (over: object = {}) => kept.once({ key: 'k', person: null, body: '{}', ...over }, work)
  const [one, other] = await Promise.all([ask(), ask()])
  expect([await one.json(), await other.json(), count]).toEqual([{ count: 1 }, { count: 1 }, 1])
  expect([one, other].map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([null, 'true'])
  expect(other.headers.get('x-hermes-session-id')).toBe('s')
  expect(await (await ask({ person: 'bob' })).json()).toEqual({ count: 2 })
  await expect(ask({ body: '{"other":1}' })).rejects.toMatchObject({ status: 409 })
  await expect(ask({ sessionId: 'other' })).rejects.toMatchObject({ status: 409 })
  await expect(ask({ key: 'a b' })).rejects.toMatchObject({ status: 400 })
  await clock.advance(300_001)
  expect(await (await ask()).json()).toEqual({ count: 3 })
  const broken = { key: 'f', person: null, body: '' }
  await expect(kept.once(broken, () => Promise.reject(new Error('gone')))).rejects.toThrow('gone')
  expect(await (await kept.once(broken, work)).json()).toEqual({ count: 4 })
})

it('lets who waited for a request that failed do the work, once for all of them', async () => {
  const kept = new Idempotency(createFakeClock())
  for (const fail of [
    async () => new Response('the client is gone', { status: 503 }),
    () => Promise.reject(new Error('the client is gone')),
  ]) {
    let count = 0
    const work = async () => (++count === 1 ? fail() : Response.json({ count }))
    const ask = () => kept.once({ key: `${fail}`.replaceAll(/\W/g, '').slice(0, 200), person: null, body: '' }, work)
    const [first, ...others] = await Promise.allSettled([ask(), ask(), ask()])
    expect(first.status === 'rejected' || first.value.status === 503).toBe(true)
    expect(others.map((one) => one.status === 'fulfilled' && one.value.status)).toEqual([200, 200])
    expect(count).toBe(2)
  }
})
