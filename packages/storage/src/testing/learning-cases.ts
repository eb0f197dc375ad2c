import { describe, expect, it } from 'vitest'
import type { OpenStore } from './store-case.js'
import { createStepClock } from './store-case.js'

const port = { pattern: 'EADDRINUSE address already in use 8080', errorType: 'terminal', fix: 'Stop the other server.' }

/** Past failures: kept, merged, found, matched. */
export function learningCases(open: OpenStore): void {
  describe('learnings', () => {
    it('are none at first', async () => {
      const { learnings } = await open()
      expect(await learnings.find()).toEqual([])
      expect(await learnings.match({ text: 'EADDRINUSE', tool: 'terminal' })).toBeNull()
    })

    it('are given back as they were saved, the same failure merged and counted', async () => {
      const clock = createStepClock()
      const { learnings } = await open({ clock })
      const first = await learnings.save({ ...port, context: 'dev server', tags: ['net'] })
      expect(first.isMerged).toBe(false)
      expect(first.learning).toMatchObject({
        ...port,
        context: 'dev server',
        tags: ['net'],
        createdAtMs: clock.now(),
        timesUsed: 0,
      })
      const again = await learnings.save({
        ...port,
        pattern: `${port.pattern} now`,
        fix: 'Take another port.',
        tags: ['port'],
      })
      expect(again).toMatchObject({
        isMerged: true,
        learning: {
          id: first.learning.id,
          fix: 'Take another port.',
          context: 'dev server',
          tags: ['net', 'port'],
          timesUsed: 1,
        },
      })
      expect(await learnings.find()).toEqual([again.learning])
    })

    it('are found by words and tags, and counted when they match a failure', async () => {
      const { learnings } = await open()
      await learnings.save(port)
      await learnings.save({
        pattern: 'permission denied while installing',
        fix: 'Use a virtual environment.',
        tags: ['pip'],
      })
      expect(await learnings.find({ query: 'virtual environment' })).toMatchObject([{ tags: ['pip'] }])
      expect(await learnings.find({ tag: 'pip' })).toHaveLength(1)
      expect(await learnings.find({ limit: 1 })).toHaveLength(1)
      const failure = { text: 'Error: listen EADDRINUSE: address already in use :::8081', tool: 'terminal' }
      expect(await learnings.match(failure)).toMatchObject({ fix: port.fix, timesUsed: 1 })
      expect(await learnings.match({ ...failure, tool: 'read_file' })).toBeNull()
    })

    it('that were seen never take the place of one that was written, and are written once a person changed them', async () => {
      const { learnings } = await open()
      const { learning } = await learnings.save({ ...port, fix: 'seen', tags: ['seen', 'outside', 'net'] })
      await learnings.save({ ...port, fix: 'seen again', tags: ['seen'] })
      expect(await learnings.find()).toMatchObject([{ fix: 'seen again', tags: ['net', 'seen'] }])
      expect(await learnings.edit(learning.id, { fix: ' mine ', person: null })).toMatchObject({
        fix: 'mine',
        tags: ['net'],
      })
      await learnings.save({ ...port, fix: 'seen', tags: ['seen'] })
      expect(await learnings.find()).toMatchObject([{ id: learning.id, fix: 'mine', tags: ['net'] }])
    })

    it('are changed and removed by whose they are alone', async () => {
      const { learnings } = await open()
      const { learning } = await learnings.save(port)
      const { id } = learning
      expect(await learnings.edit(id, { fix: 'x', person: 'anna' })).toBeNull()
      expect(await learnings.remove(id, { person: 'anna' })).toBe(false)
      await expect(learnings.edit(id, { fix: ' ', person: null })).rejects.toMatchObject({ code: 'store.bad_learning' })
      expect(await learnings.remove(id, { person: null })).toBe(true)
      expect(await learnings.remove(id, { person: null })).toBe(false)
      expect(await learnings.find()).toEqual([])
    })

    it('need a pattern and a fix', async () => {
      const { learnings } = await open()
      await expect(learnings.save({ pattern: ' ', fix: 'x' })).rejects.toMatchObject({ code: 'store.bad_learning' })
    })
  })
}
