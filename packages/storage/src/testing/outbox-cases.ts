import type { Clock } from '@hermes/contracts'
import type { NewOutboxMessage, SessionStore } from '@hermes/contracts/store'
import { describe, expect, it } from 'vitest'
import type { Outbox } from '../outbox.js'
import { createStepClock, type StepClock } from './store-case.js'

/** One store, and the outbox as another process sees it. */
interface OutboxSubject {
  readonly store: SessionStore & { readonly outbox: Outbox }
  readonly other: Outbox
  close?(): Promise<void>
}

const lost = { code: 'store.outbox_lost' }
const telegram = { platform: 'telegram' }
const message = (key: string, over: Partial<NewOutboxMessage> = {}): NewOutboxMessage => ({
  key,
  platform: 'telegram',
  target: 'chat 1',
  body: { text: key },
  ...over,
})

/** Registers the cases that every outbox passes with vitest; `create` makes an empty one for each. */
export function testOutbox(options: {
  readonly create: (options: { readonly clock: Clock }) => Promise<OutboxSubject> | OutboxSubject
}): void {
  const outboxCase = (
    title: string,
    check: (subject: OutboxSubject & { readonly outbox: Outbox; readonly clock: StepClock }) => Promise<void>,
  ) => {
    it(title, async () => {
      const clock = createStepClock()
      const subject = await options.create({ clock })
      try {
        await check({ ...subject, outbox: subject.store.outbox, clock })
      } finally {
        await subject.close?.()
      }
    })
  }
  describe('Outbox', () => {
    outboxCase('is empty at first', async ({ outbox, clock }) => {
      expect(await outbox.take(telegram)).toBeNull()
      expect(await outbox.nextDue('telegram')).toBeNull()
      expect(await outbox.list()).toEqual([])
      expect(await outbox.prune(clock.now())).toBe(0)
    })
    outboxCase('gives a message to one sender, in the parts that were accepted', async ({ outbox, other, clock }) => {
      expect(await outbox.add([message('a', { body: { text: 'long \0 words', parts: [1] } })])).toBe(1)
      expect(await outbox.nextDue('telegram')).toBe(clock.now())
      const taken = (await other.take(telegram))!
      expect(taken).toEqual({
        ...message('a', { body: { text: 'long \0 words', parts: [1] } }),
        id: taken.id,
        state: 'sending',
        mayBeSent: false,
        attempt: 1,
        sentParts: 0,
        platformIds: [],
        dueAtMs: clock.now(),
        createdAtMs: clock.now(),
        error: null,
      })
      expect(await outbox.take(telegram)).toBeNull()
      const first = await other.accepted(taken, { platformId: '17' })
      const second = await other.accepted(first, { platformId: '18' })
      await other.settle(second, { type: 'sent' })
      expect(await outbox.list()).toEqual([{ ...second, state: 'sent' }])
      expect(second).toMatchObject({ sentParts: 2, platformIds: ['17', '18'] })
      expect(await outbox.nextDue('telegram')).toBeNull()
    })
    outboxCase('counts a key once, also after its message went out', async ({ outbox, other }) => {
      expect(await outbox.add([message('a'), message('a', { body: { text: 'again' } }), message('b')])).toBe(2)
      await outbox.settle((await outbox.take(telegram))!, { type: 'sent' })
      expect(await other.add([message('a')])).toBe(0)
      expect((await other.take(telegram))?.key).toBe('b')
    })
    outboxCase('gives what was never tried at once where the clock was set back', async ({ outbox, clock }) => {
      await outbox.add([message('a')])
      clock.step(-3_600_000)
      expect((await outbox.take(telegram))?.key).toBe('a')
    })
    outboxCase('keeps the order of each target, and lets no target wait for another', async ({ outbox, clock }) => {
      await outbox.add([message('a'), message('b'), message('c', { target: 'chat 2' }), message('d')])
      await outbox.add([message('mail', { platform: 'email' })])
      const a = (await outbox.take(telegram))!
      const c = (await outbox.take(telegram))!
      expect([a.key, c.key]).toEqual(['a', 'c'])
      expect(await outbox.take(telegram)).toBeNull()
      await outbox.settle(a, { type: 'retry', error: 'too fast', dueAtMs: clock.now() + 5_000 })
      expect(await outbox.take(telegram)).toBeNull()
      expect(await outbox.nextDue('telegram')).toBe(clock.now() + 5_000)
      clock.step(5_000)
      const again = (await outbox.take(telegram))!
      expect(again).toMatchObject({ key: 'a', attempt: 2, mayBeSent: false, error: 'too fast' })
      await outbox.settle(again, { type: 'failed', error: 'blocked' })
      expect((await outbox.take(telegram))?.key).toBe('b')
    })
    outboxCase('says of a message whose outcome nobody knows that it may be sent', async ({ outbox, other, clock }) => {
      await outbox.add([message('a')])
      const first = (await outbox.take({ ...telegram, leaseMs: 1_000 }))!
      await outbox.offering(first)
      clock.step(1_000)
      const second = (await other.take(telegram))!
      expect(second).toMatchObject({ key: 'a', mayBeSent: true, attempt: 2 })
      await expect(outbox.settle(first, { type: 'sent' })).rejects.toMatchObject(lost)
      await expect(outbox.offering(first)).rejects.toMatchObject(lost)
      await expect(outbox.accepted(first, { platformId: '1' })).rejects.toMatchObject(lost)
      await other.settle(second, { type: 'retry', error: 'refused', dueAtMs: clock.now() })
      expect(await outbox.list({ state: 'perhaps' })).toMatchObject([{ key: 'a', mayBeSent: true }])
      const third = (await outbox.take(telegram))!
      expect(third.mayBeSent).toBe(true)
      const part = await outbox.accepted(third, { platformId: '9' })
      expect(part.mayBeSent).toBe(false)
      await outbox.settle(part, { type: 'perhaps', error: 'no answer', dueAtMs: clock.now() })
      expect(await outbox.take(telegram)).toMatchObject({ mayBeSent: true, sentParts: 1, error: 'no answer' })
    })
    outboxCase('knows that what was never offered, or refused, was not sent', async ({ outbox, other, clock }) => {
      await outbox.add([message('a')])
      await outbox.take({ ...telegram, leaseMs: 1_000 })
      clock.step(1_000)
      const second = (await other.take(telegram))!
      expect(second).toMatchObject({ mayBeSent: false, attempt: 2 })
      await other.offering(second)
      await other.settle(second, { type: 'retry', error: 'refused', dueAtMs: clock.now() })
      const third = (await outbox.take(telegram))!
      expect(third).toMatchObject({ mayBeSent: false, attempt: 3 })
      await outbox.offering(third)
      const part = await outbox.accepted(third, { platformId: '1', leaseMs: 1_000 })
      expect(part.mayBeSent).toBe(false)
      clock.step(1_000)
      expect(await other.take(telegram)).toMatchObject({ mayBeSent: false, sentParts: 1 })
    })
    outboxCase('writes what chats are told in the step of the entries that say it', async ({ store, outbox }) => {
      await store.sessions.create({ id: 's', source: 'telegram' })
      await store.inbox!.send({ key: 'in', sessionId: 's', kind: 'chat.message', body: { parts: [] } })
      const lease = await store.leases.acquire('s', { owner: 'a' })
      const note = { type: 'note', kind: 'n', data: {} } as const
      const wrong = store.log.append('s', [note], { lease, take: ['unknown'], send: [message('never')] })
      await expect(wrong).rejects.toMatchObject({ code: 'store.inbox_message_taken' })
      await store.log.append('s', [note], { lease, take: ['in'], send: [message('a'), message('b')] })
      await store.log.append('s', [note], { lease, send: [message('b')] })
      expect((await store.log.entries('s')).length).toBe(2)
      expect((await outbox.list()).map(({ key }) => key)).toEqual(['b', 'a'])
      await lease.release()
      const next = await store.leases.acquire('s', { owner: 'b' })
      const late = store.log.append('s', [note], { lease, send: [message('late')] })
      await expect(late).rejects.toMatchObject({ code: 'store.lease_lost' })
      await next.release()
      expect(await outbox.list()).toHaveLength(2)
    })
    outboxCase('forgets what was over for long, and nothing that is open', async ({ outbox, clock }) => {
      await outbox.add([message('a'), message('b')])
      await outbox.settle((await outbox.take(telegram))!, { type: 'sent' })
      expect(await outbox.prune(clock.now())).toBe(0)
      clock.step(1)
      expect(await outbox.prune(clock.now())).toBe(1)
      expect((await outbox.list()).map(({ key }) => key)).toEqual(['b'])
      expect(await outbox.add([message('a')])).toBe(1)
    })
    outboxCase('gives each message to one of many that ask at once', async ({ outbox, other }) => {
      await outbox.add(Array.from({ length: 12 }, (_, index) => message(`m${index}`, { target: `chat ${index}` })))
      const taken = await Promise.all(
        Array.from({ length: 16 }, (_, index) => (index % 2 ? outbox : other).take(telegram)),
      )
      const keys = taken.flatMap((one) => (one ? [one.key] : []))
      expect(new Set(keys).size).toBe(12)
      expect(keys).toHaveLength(12)
    })
  })
}
