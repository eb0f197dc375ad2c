import { userText } from '@hermes/contracts/conversation'
import { expect } from 'vitest'
import { type StoreCase, storeCase } from './store-case.js'

const entries = [{ type: 'message', message: userText('hello') }] as const
const lost = { code: 'store.lease_lost' }

/** Leases: one writer at a time, and no second chance for the one before. */
export const leaseCases: readonly StoreCase[] = [
  storeCase('lets one owner write at a time and names it to others', async ({ store }) => {
    await store.sessions.create({ id: 's', source: 'cli' })
    const lease = await store.leases.acquire('s', { owner: 'first' })
    expect(lease).toMatchObject({ sessionId: 's', owner: expect.stringContaining('first') })
    await expect(store.leases.acquire('s', { owner: 'second' })).rejects.toMatchObject({
      code: 'store.session_busy',
      details: { owner: expect.stringContaining('first') },
    })
    expect(await store.log.append('s', entries, { lease })).toHaveLength(1)
  }),
  storeCase('gives a released lease to the next owner, with a larger token', async ({ store }) => {
    await store.sessions.create({ id: 's', source: 'cli' })
    const first = await store.leases.acquire('s', { owner: 'first' })
    await first.release()
    const second = await store.leases.acquire('s', { owner: 'second' })
    expect(second.token).toBeGreaterThan(first.token)
  }),
  storeCase('gives away a lease that nobody renewed in time', async ({ store, clock }) => {
    await store.sessions.create({ id: 's', source: 'cli' })
    await store.leases.acquire('s', { owner: 'first', ttlMs: 1_000 })
    clock.step(999)
    await expect(store.leases.acquire('s', { owner: 'second' })).rejects.toMatchObject({ code: 'store.session_busy' })
    clock.step(1)
    expect(await store.leases.acquire('s', { owner: 'second' })).toMatchObject({ sessionId: 's' })
  }),
  storeCase('lets a lease live for 30 seconds unless told otherwise', async ({ store, clock }) => {
    await store.sessions.create({ id: 's', source: 'cli' })
    await store.leases.acquire('s', { owner: 'first' })
    clock.step(29_999)
    await expect(store.leases.acquire('s', { owner: 'second' })).rejects.toMatchObject({ code: 'store.session_busy' })
    clock.step(1)
    await store.leases.acquire('s', { owner: 'second' })
  }),
  storeCase('refuses the writer before once there is a new one', async ({ store, clock }) => {
    await store.sessions.create({ id: 's', source: 'cli' })
    const first = await store.leases.acquire('s', { owner: 'first', ttlMs: 1_000 })
    clock.step(1_000)
    const second = await store.leases.acquire('s', { owner: 'second' })
    await expect(store.log.append('s', entries, { lease: first })).rejects.toMatchObject(lost)
    await expect(first.renew()).rejects.toMatchObject(lost)
    await first.release()
    expect(await store.log.append('s', entries, { lease: second })).toHaveLength(1)
  }),
  storeCase('lets a late writer go on as long as nobody else came', async ({ store, clock }) => {
    await store.sessions.create({ id: 's', source: 'cli' })
    const lease = await store.leases.acquire('s', { owner: 'first', ttlMs: 1_000 })
    clock.step(5_000)
    expect(await store.log.append('s', entries, { lease })).toHaveLength(1)
    await expect(store.leases.acquire('s', { owner: 'second' })).rejects.toMatchObject({ code: 'store.session_busy' })
  }),
  storeCase('extends a lease on renewing and on appending', async ({ store, clock }) => {
    await store.sessions.create({ id: 's', source: 'cli' })
    const lease = await store.leases.acquire('s', { owner: 'first', ttlMs: 1_000 })
    clock.step(900)
    await lease.renew()
    clock.step(900)
    await store.log.append('s', entries, { lease })
    clock.step(900)
    await expect(store.leases.acquire('s', { owner: 'second' })).rejects.toMatchObject({ code: 'store.session_busy' })
  }),
  storeCase('refuses a lease of another session', async ({ store }) => {
    await store.sessions.create({ id: 'a', source: 'cli' })
    await store.sessions.create({ id: 'b', source: 'cli' })
    const lease = await store.leases.acquire('a', { owner: 'me' })
    await expect(store.log.append('b', entries, { lease })).rejects.toMatchObject(lost)
    expect(await store.log.entries('b')).toEqual([])
  }),
  storeCase('refuses a released lease', async ({ store }) => {
    await store.sessions.create({ id: 's', source: 'cli' })
    const lease = await store.leases.acquire('s', { owner: 'me' })
    await lease.release()
    await lease.release()
    await expect(store.log.append('s', entries, { lease })).rejects.toMatchObject(lost)
    await expect(lease.renew()).rejects.toMatchObject(lost)
  }),
  storeCase('has no lease for an unknown session', async ({ store }) => {
    await expect(store.leases.acquire('nobody', { owner: 'me' })).rejects.toMatchObject({
      code: expect.stringMatching(/^store\./),
    })
  }),
]
