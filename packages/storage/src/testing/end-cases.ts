import { spawnSync } from 'node:child_process'
import type { Clock } from '@hermes/contracts'
import { userText } from '@hermes/contracts/conversation'
import { describe, expect, it, onTestFinished } from 'vitest'
import { processIdentity } from '../shared/process-identity.js'
import type { Storage } from '../storage.js'
import { createStepClock } from './store-case.js'

/** Opens the same empty store again and again, each time as another process. */
interface EndSubject {
  open(options: { readonly clock: Clock; readonly owner?: string }): Promise<Storage>
  close?(): Promise<void>
}

const HOUR_MS = 3_600_000
const text = [{ type: 'message', message: userText('hello') }] as const

/** Registers with vitest how sessions end, whichever way. `create` gives an empty store for each case. */
export function testEnds(options: { readonly create: () => Promise<EndSubject> | EndSubject }): void {
  const setUp = async () => {
    const subject = await options.create()
    onTestFinished(async () => subject.close?.())
    const clock = createStepClock()
    const open = async (owner?: string) => {
      const store = await subject.open({ clock, ...(owner === undefined ? {} : { owner }) })
      onTestFinished(() => store.close())
      return store
    }
    /** A session that was written; its lease is held where `holds`. */
    const written = async (store: Storage, id: string, { holds = false } = {}) => {
      await store.sessions.create({ id, source: 'cli' })
      const lease = await store.leases.acquire(id, { owner: 'me' })
      await store.log.append(id, text, { lease })
      if (!holds) await lease.release()
      return lease
    }
    return { clock, open, written }
  }
  const endOf = async (store: Storage, id: string) => {
    const { endedAtMs, endReason } = (await store.sessions.get(id))!
    return { endedAtMs, endReason }
  }
  const stillOpen = { endedAtMs: null, endReason: null }
  const deadProcess = () => processIdentity().replace(/^\d+/, String(spawnSync('true').pid))

  describe('the end of a session', () => {
    it('is noted once, with its reason', async () => {
      const { clock, open, written } = await setUp()
      const store = await open()
      await written(store, 's')
      expect(await endOf(store, 's')).toEqual(stillOpen)
      await store.sessions.end('s', { reason: 'user_exit' })
      const ended = { endedAtMs: clock.now(), endReason: 'user_exit' }
      clock.step(1_000)
      await store.sessions.end('s', { reason: 'other' })
      expect(await endOf(store, 's')).toEqual(ended)
      await store.sessions.end('nobody', { reason: 'other' })
    })

    it('is over when somebody writes the session again', async () => {
      const { open, written } = await setUp()
      const store = await open()
      await written(store, 's')
      await store.sessions.end('s', { reason: 'user_exit' })
      const lease = await store.leases.acquire('s', { owner: 'me' })
      expect(await endOf(store, 's')).toEqual(stillOpen)
      await lease.release()
    })

    it('is not for whoever only looked at what another process goes on with', async () => {
      const { open, written } = await setUp()
      const [one, other] = [await open(), await open()]
      await written(one, 's')
      await other.sessions.end('s', { reason: 'user_exit' })
      expect(await endOf(other, 's')).toEqual(stillOpen)
      await one.sessions.end('s', { reason: 'user_exit' })
      expect(await endOf(other, 's')).toMatchObject({ endReason: 'user_exit' })
    })

    it('comes with the close of the store at the latest', async () => {
      const { clock, open, written } = await setUp()
      const one = await open()
      await written(one, 's')
      await written(one, 'done')
      await one.sessions.end('done', { reason: 'user_exit' })
      await one.close()
      const other = await open()
      expect(await endOf(other, 's')).toEqual({ endedAtMs: clock.now(), endReason: 'closed' })
      expect(await endOf(other, 'done')).toMatchObject({ endReason: 'user_exit' })
    })

    it.each([
      { when: 'in the middle of a run', holds: true },
      { when: 'between two runs', holds: false },
    ])('is noted by the next process when one was killed $when', async ({ holds }) => {
      const { clock, open, written } = await setUp()
      const dead = await open(deadProcess())
      await written(dead, 's', { holds })
      const next = await open()
      const lastSeenMs = clock.now()
      clock.step(HOUR_MS)
      expect(await next.sessions.endAbandoned()).toEqual(['s'])
      const { endedAtMs, endReason } = await endOf(next, 's')
      expect(endReason).toBe('process_gone')
      // A server measures by its own clock, which a test cannot hold still.
      expect(Math.abs(endedAtMs! - lastSeenMs)).toBeLessThan(HOUR_MS / 2)
      expect(await next.sessions.endAbandoned()).toEqual([])
      const lease = await next.leases.acquire('s', { owner: 'next' })
      expect(await next.log.append('s', text, { lease })).toHaveLength(1)
    })

    it('is not noted for processes that run, and for those of other machines only after a time', async () => {
      const { clock, open, written } = await setUp()
      const running = await open()
      const remote = await open('7@elsewhere#1.x')
      await written(running, 'slept', { holds: true })
      await written(running, 'idle')
      await written(remote, 'remote-run', { holds: true })
      await written(remote, 'remote-idle')
      const next = await open()
      expect(await next.sessions.endAbandoned()).toEqual([])
      clock.step(HOUR_MS)
      expect(await next.sessions.endAbandoned()).toEqual(['remote-run'])
      clock.step(24 * HOUR_MS)
      expect(await next.sessions.endAbandoned()).toEqual(['remote-idle'])
      expect(await endOf(next, 'slept')).toEqual(stillOpen)
      expect(await endOf(next, 'idle')).toEqual(stillOpen)
    })

    it('is what an old session has to have, or a process that is no more, to be deleted', async () => {
      const { clock, open, written } = await setUp()
      const [one, dead] = [await open(), await open(deadProcess())]
      await written(one, 'open')
      await written(dead, 'left')
      const other = await open()
      clock.step(10 * 24 * HOUR_MS)
      const prune = () => other.maintenance.prune({ olderThanMs: HOUR_MS })
      expect(await other.maintenance.prune({ olderThanMs: HOUR_MS, dryRun: true })).toBe(1)
      expect(await prune()).toBe(1)
      expect((await other.sessions.list()).map(({ id }) => id)).toEqual(['open'])
      await one.sessions.end('open', { reason: 'user_exit' })
      expect(await prune()).toBe(1)
    })

    it('lets a writer of another machine that was silent for long go on', async () => {
      const { clock, open, written } = await setUp()
      const remote = await open('7@elsewhere#1.x')
      const lease = await written(remote, 's', { holds: true })
      const next = await open()
      clock.step(HOUR_MS)
      expect(await next.sessions.endAbandoned()).toEqual(['s'])
      expect(await remote.log.append('s', text, { lease })).toHaveLength(1)
    })

    it('does not come with the close of a store that only visited the session', async () => {
      const { clock, open, written } = await setUp()
      const one = await open()
      await written(one, 's')
      const other = await open()
      const visit = await other.leases.acquire('s', { owner: 'rescue', isVisit: true })
      await other.log.append('s', text, { lease: visit })
      await visit.release()
      await other.close()
      expect(await endOf(one, 's')).toEqual(stillOpen)
      await one.close()
      expect(await endOf(await open(), 's')).toEqual({ endedAtMs: clock.now(), endReason: 'closed' })
    })

    it('leaves no writer of before a right to the session', async () => {
      const { open, written } = await setUp()
      const store = await open()
      const lease = await written(store, 's')
      await expect(store.log.append('s', text, { lease })).rejects.toMatchObject({ code: 'store.lease_lost' })
      await expect(lease.renew()).rejects.toMatchObject({ code: 'store.lease_lost' })
      await store.leases.acquire('s', { owner: 'next' })
      await expect(store.log.append('s', text, { lease })).rejects.toMatchObject({ code: 'store.lease_lost' })
    })
  })
}
