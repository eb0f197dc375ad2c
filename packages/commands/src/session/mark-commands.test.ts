import type { CommandContext } from '@hermes/contracts/extension'
import { expect, it } from 'vitest'
import { shownSessions } from './find-session.js'
import { commandsOfMarks } from './mark-commands.js'

it('/pin and /archive put one mark on a session and take it away, and leave its other tags', async () => {
  let tags: readonly string[] = ['tea']
  const found = { type: 'found', session: { id: 's' } }
  const sessions = {
    resolve: async () => found,
    tags: async () => tags,
    setTags: async (_id: string, to: readonly string[]) => void (tags = to),
  }
  const commands = commandsOfMarks({ storage: async () => ({ sessions }) as never })
  const run = (name: string, args = {}) =>
    commands.find((one) => one.name === name)!.run(args, { session: { id: 's' } } as unknown as CommandContext)
  expect(await run('pin')).toMatchObject({ text: expect.stringMatching(/^s is pinned/) })
  await run('archive', { session: 'the one' })
  expect(tags).toEqual(['tea', 'hermes:pinned', 'hermes:archived'])
  expect(await run('pin', { off: true })).toMatchObject({ text: 's is not pinned.' })
  expect(tags).toEqual(['tea', 'hermes:archived'])
})

it('lists have what is pinned first, whatever the limit is', async () => {
  const list = async ({ tag, withoutTag, limit = 20 }: { tag?: string; withoutTag?: string; limit?: number }) =>
    [
      { id: 'new', tags: [] as string[] },
      { id: 'middle', tags: [] },
      { id: 'old', tags: ['hermes:pinned'] },
    ]
      .filter(({ tags }) => (tag === undefined || tags.includes(tag)) && !tags.includes(withoutTag ?? ''))
      .slice(0, limit)
  const shown = await shownSessions({ sessions: { list } } as never, { limit: 1 })
  expect(shown.map(({ id, isPinned }) => [id, isPinned])).toEqual([
    ['old', true],
    ['new', false],
  ])
})
