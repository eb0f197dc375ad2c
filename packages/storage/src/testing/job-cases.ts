import type { Clock } from '@hermes/contracts'
import { describe, expect, it } from 'vitest'
import type { Job, Jobs } from '../jobs.js'
import { createStepClock, type StepClock } from './store-case.js'

/** Two views of one queue, as two processes have them. */
interface JobSubject {
  readonly jobs: Jobs
  readonly other: Jobs
  close?(): Promise<void>
}

const lost = { code: 'store.job_lost' }
const any = { kinds: ['summary', 'import'] }

/** Registers the cases that every queue passes with vitest; `create` makes an empty one for each. */
export function testJobs(options: {
  readonly create: (options: { readonly clock: Clock }) => Promise<JobSubject> | JobSubject
}): void {
  const jobCase = (title: string, check: (subject: JobSubject & { readonly clock: StepClock }) => Promise<void>) => {
    it(title, async () => {
      const clock = createStepClock()
      const subject = await options.create({ clock })
      try {
        await check({ ...subject, clock })
      } finally {
        await subject.close?.()
      }
    })
  }
  describe('Jobs', () => {
    jobCase('are none at first', async ({ jobs }) => {
      expect(await jobs.take(any)).toBeNull()
      expect(await jobs.list()).toEqual([])
      expect(await jobs.cancel(1)).toBe(false)
    })
    jobCase('are given back as they were added, and done once', async ({ jobs, other, clock }) => {
      const { job, isNew } = await jobs.add({ kind: 'summary', payload: { session: 's', deep: [1, '\0'] }, key: 'k' })
      expect(isNew).toBe(true)
      expect(job).toEqual({
        id: job.id,
        kind: 'summary',
        key: 'k',
        payload: { session: 's', deep: [1, '\0'] },
        status: 'waiting',
        attempt: 0,
        maxAttempts: 3,
        dueAtMs: clock.now(),
        createdAtMs: clock.now(),
        error: null,
      })
      const taken = (await other.take(any))!
      expect(taken).toEqual({ ...job, status: 'running', attempt: 1 })
      expect(await jobs.take(any)).toBeNull()
      await other.complete(taken)
      expect(await jobs.list()).toEqual([{ ...taken, status: 'done' }])
      expect(await jobs.take(any)).toBeNull()
    })
    jobCase(
      'come when they are due, the one that is due longest first, and only of the kinds asked for',
      async ({ jobs, clock }) => {
        const startMs = clock.now()
        for (const [kind, afterMs] of Object.entries({ import: 2_000, summary: 1_000, other: 0 }))
          await jobs.add({ kind, dueAtMs: startMs + afterMs })
        expect(await jobs.take(any)).toBeNull()
        clock.step(5_000)
        expect((await jobs.take(any))?.kind).toBe('summary')
        expect((await jobs.take(any))?.kind).toBe('import')
        expect(await jobs.take(any)).toBeNull()
      },
    )
    jobCase('of one key are one job until it is over', async ({ jobs, other }) => {
      const first = await jobs.add({ kind: 'summary', key: 'k' })
      expect(await other.add({ kind: 'summary', key: 'k' })).toEqual({ job: first.job, isNew: false })
      const taken = (await jobs.take(any))!
      expect((await other.add({ kind: 'summary', key: 'k' })).job).toEqual(taken)
      await jobs.complete(taken)
      expect(await other.add({ kind: 'summary', key: 'k' })).toMatchObject({ isNew: true })
    })
    jobCase('of one key are due when the newest call said, unless they were begun', async ({ jobs, other, clock }) => {
      const job = { kind: 'summary', key: 'k' }
      const dueAtMs = clock.now() + 2_000
      await jobs.add(job)
      expect(await other.add({ ...job, dueAtMs })).toMatchObject({ job: { dueAtMs }, isNew: false })
      expect((await other.add(job)).job.dueAtMs).toBe(dueAtMs)
      expect(await jobs.take(any)).toBeNull()
      clock.step(2_000)
      const taken = (await jobs.take(any))!
      expect((await other.add({ ...job, dueAtMs: dueAtMs + 1 })).job).toEqual(taken)
      await jobs.fail(taken, { error: 'no model' })
      expect((await other.add({ ...job, dueAtMs: 0 })).job.dueAtMs).toBe(clock.now() + 60_000)
    })
    jobCase(
      'go to another hand when the first was silent for too long, which then can change nothing',
      async ({ jobs, other, clock }) => {
        await jobs.add({ kind: 'summary' })
        const first = (await jobs.take({ ...any, leaseMs: 100_000 }))!
        clock.step(90_000)
        await jobs.renew(first, { leaseMs: 100_000 })
        clock.step(90_000)
        expect(await other.take(any)).toBeNull()
        clock.step(20_000)
        const second = (await other.take(any))!
        expect(second).toMatchObject({ id: first.id, attempt: 2 })
        await expect(jobs.renew(first)).rejects.toMatchObject(lost)
        await expect(jobs.complete(first)).rejects.toMatchObject(lost)
        await expect(jobs.fail(first, { error: 'late' })).rejects.toMatchObject(lost)
        await other.complete(second)
      },
    )
    jobCase('are tried again after longer and longer waits, and fail after the last try', async ({ jobs, clock }) => {
      await jobs.add({ kind: 'summary' })
      for (const waitMs of [60_000, 120_000]) {
        await jobs.fail((await jobs.take(any))!, { error: 'no model' })
        clock.step(waitMs - 1)
        expect(await jobs.take(any)).toBeNull()
        clock.step(1)
      }
      await jobs.fail((await jobs.take(any))!, { error: 'still no model' })
      clock.step(1e9)
      expect(await jobs.take(any)).toBeNull()
      expect(await jobs.list({ status: 'failed' })).toMatchObject([{ attempt: 3, error: 'still no model' }])
    })
    jobCase('are given up when process after process was lost with them', async ({ jobs, clock }) => {
      await jobs.add({ kind: 'summary', maxAttempts: 2 })
      for (let attempt = 1; attempt <= 2; attempt++) {
        expect(await jobs.take({ ...any, leaseMs: 10 })).toMatchObject({ attempt })
        clock.step(20)
      }
      expect(await jobs.take(any)).toBeNull()
      expect(await jobs.list()).toMatchObject([{ status: 'failed', error: expect.stringContaining('ended') }])
    })
    jobCase('are cancelled, also while somebody does them', async ({ jobs }) => {
      const { job } = await jobs.add({ kind: 'summary' })
      const taken = (await jobs.take(any))!
      expect(await jobs.cancel(job.id)).toBe(true)
      await expect(jobs.complete(taken)).rejects.toMatchObject(lost)
      expect(await jobs.cancel(job.id)).toBe(false)
      expect(await jobs.list({ kind: 'summary' })).toMatchObject([{ status: 'cancelled' }])
    })
    jobCase('go to one of many takers each', async ({ jobs, other }) => {
      for (let number = 0; number < 20; number++) await jobs.add({ kind: 'summary', payload: { number } })
      const takers = Array.from({ length: 30 }, (_, index) => (index % 2 === 0 ? jobs : other).take(any))
      const taken = (await Promise.all(takers)).filter((job): job is Job => job !== null)
      expect(taken.map(({ payload }) => payload['number']).sort((a, b) => Number(a) - Number(b))).toEqual(
        Array.from({ length: 20 }, (_, number) => number),
      )
    })
    jobCase('need a kind and at least one try', async ({ jobs }) => {
      for (const job of [{ kind: ' ' }, { kind: 'x', maxAttempts: 0 }, { kind: 'x', maxAttempts: 1.5 }])
        await expect(jobs.add(job)).rejects.toMatchObject({ code: 'store.bad_job' })
    })
  })
}
