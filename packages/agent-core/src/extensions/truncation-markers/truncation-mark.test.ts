import { defineTool } from '@hermes/contracts/tool'
import { scriptedModel } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { createAgent } from '../../index.js'
import { truncationMark } from './extension.js'

const MARK = '[… 4,212 characters left out here; all of it is in /x: read_file gives it page by page …]'
const markIn = (content: unknown) =>
  truncationMark({ rawArgs: JSON.stringify({ content }), args: { content } as never })

it.each([MARK, '[…99 characters left out…]', '[… 1,000,000 bytes left out …]'])('knows the mark %s', (mark) => {
  expect(markIn(`a\n${mark}\nb`)).toBe(mark)
  expect(markIn([{ deep: mark }])).toBe(mark)
})

it.each(['20 characters left out', '[… n characters left out]', '[…]', 'nothing left out'])(
  'takes %j for text',
  (text) => {
    expect(markIn(text)).toBeNull()
  },
)

it('runs no call that would write such a mark, unless it is sent once more; a read may name it', async () => {
  const ran: string[] = []
  const tool = (name: string, effect: 'read' | 'write') =>
    defineTool<{ text: string }>({
      name,
      toolset: 'test',
      description: name,
      effect,
      parameters: { type: 'object', properties: { text: { type: 'string' } } },
      execute: ({ text }) => {
        ran.push(`${name} ${text}`)
        return 'done'
      },
    })
  const text = `begin ${MARK} end`
  const model = scriptedModel([
    { calls: [['a', 'write', { text }]] },
    { calls: [['b', 'look', { text: MARK }]] },
    { calls: [['c', 'write', { text }]] },
    { text: 'Done.' },
  ])
  const agent = createAgent({ model, tools: [tool('write', 'write'), tool('look', 'read')] })
  expect(await agent.run('go').result).toMatchObject({ status: 'completed' })
  expect(ran).toEqual([`look ${MARK}`, `write ${text}`])
  expect(JSON.stringify(model.requests[1]!.messages.at(-1))).toContain('Not run: the arguments hold')
})
