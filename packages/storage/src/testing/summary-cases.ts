import type { Clock } from '@hermes/contracts'
import { describe, expect, it } from 'vitest'
import type { Storage } from '../storage.js'
import { createStepClock, type StepClock } from './store-case.js'

/** A store under test, and how to get rid of it. */
interface SummarySubject {
  readonly store: Pick<Storage, 'sessions' | 'summaries'>
  close?(): Promise<void>
}

/** Registers the cases that the summaries of every store pass with vitest; `create` makes an empty store for each. */
export function testSummaries(options: {
  readonly create: (options: { readonly clock: Clock }) => Promise<SummarySubject> | SummarySubject
}): void {
  const summaryCase = (title: string, check: (store: SummarySubject['store'], clock: StepClock) => Promise<void>) => {
    it(title, async () => {
      const clock = createStepClock()
      const subject = await options.create({ clock })
      try {
        for (const id of ['a', 'b', 'c']) await subject.store.sessions.create({ id, source: 'cli' })
        await check(subject.store, clock)
      } finally {
        await subject.close?.()
      }
    })
  }
  const found = async ({ summaries }: SummarySubject['store'], query: string) =>
    (await summaries.search(query)).map(({ sessionId }) => sessionId)
  describe('SessionSummaries', () => {
    summaryCase('has none at first', async (store) => {
      expect(await store.summaries.get('a')).toBeNull()
      expect(await store.summaries.search('anything')).toEqual([])
    })
    summaryCase('gives back what was saved, in place of the one before', async ({ summaries }, clock) => {
      await summaries.save({ sessionId: 'a', text: 'They fixed the build.', keywords: ['docker'], upToSeq: 4 })
      clock.step(1_000)
      const second = { sessionId: 'a', text: 'They moved to podman.', keywords: ['podman', '构建'], upToSeq: 9 }
      await summaries.save({ ...second, keywords: [...second.keywords, ' podman '] })
      expect(await summaries.get('a')).toEqual({ ...second, atMs: clock.now() })
    })
    summaryCase('finds by words of text and keywords, and no longer by those of before', async (store) => {
      const { summaries } = store
      await summaries.save({ sessionId: 'a', text: 'The build of the images was fixed.', upToSeq: 1 })
      await summaries.save({ sessionId: 'b', text: 'A recipe for bread.', keywords: ['build'], upToSeq: 1 })
      await summaries.save({ sessionId: 'c', text: '部署失败的原因', upToSeq: 1 })
      expect((await found(store, 'build')).toSorted()).toEqual(['a', 'b'])
      expect(await found(store, 'build NOT recipe')).toEqual(['a'])
      expect(await found(store, 'imag*')).toEqual(['a'])
      expect(await found(store, '失败')).toEqual(['c'])
      await summaries.save({ sessionId: 'a', text: 'Nothing of it.', upToSeq: 2 })
      expect(await found(store, 'build')).toEqual(['b'])
    })
    summaryCase('takes a limit and leaves sessions out', async ({ summaries }) => {
      for (const sessionId of ['a', 'b', 'c']) await summaries.save({ sessionId, text: 'the same words', upToSeq: 1 })
      expect(await summaries.search('same', { limit: 2 })).toHaveLength(2)
      const rest = await summaries.search('same', { excludeSessions: ['a', 'c'] })
      expect(rest.map(({ sessionId }) => sessionId)).toEqual(['b'])
    })
    summaryCase('never rejects because of what a query says', async ({ summaries }) => {
      await summaries.save({ sessionId: 'a', text: 'a text', upToSeq: 1 })
      for (const query of ['', '"', 'AND', 'NOT a', '(', 'a*', '\0', '\ud800', 'NEAR(a b)', 'keywords:a'])
        await expect(summaries.search(query)).resolves.toBeInstanceOf(Array)
    })
    summaryCase('goes with its session', async (store) => {
      await store.summaries.save({ sessionId: 'a', text: 'gone soon', upToSeq: 1 })
      await store.sessions.delete('a')
      expect(await store.summaries.get('a')).toBeNull()
      expect(await found(store, 'gone')).toEqual([])
    })
    summaryCase('refuses an unknown session and an empty text', async ({ summaries }) => {
      const unknown = summaries.save({ sessionId: 'nobody', text: 'x', upToSeq: 1 })
      await expect(unknown).rejects.toMatchObject({ code: 'store.unknown_session' })
      const empty = summaries.save({ sessionId: 'a', text: ' ', upToSeq: 1 })
      await expect(empty).rejects.toMatchObject({ code: 'store.bad_summary' })
    })
  })
}
