import { defineTool, type Tool } from '@hermes/contracts/tool'
import { scriptedModel } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { createAgent } from '../../agent.js'
import { todoReminder } from './extension.js'

const tool = (name: string, over: Partial<Tool> = {}): Tool =>
  ({
    ...defineTool({
      name,
      toolset: 'test',
      description: name,
      effect: 'read',
      parameters: { type: 'object' },
      execute: () => name,
    }),
    ...over,
  }) as Tool

const todo = tool('todo_write', {
  keepsData: true,
  execute: () => ({ data: { todos: [{ id: '1', content: 'x', status: 'pending' }] } }),
})

it('reminds of an open task list after ten calls', async () => {
  const calls = Array.from({ length: 11 }, (_, index) => [`c${index}`, 'look', {}] as const)
  const model = scriptedModel([{ calls: [['t', 'todo_write', {}]] }, { calls }, { text: 'ok' }])
  const agent = createAgent({ model, tools: [todo, tool('look')], extensions: [todoReminder()] })
  await agent.run('go').result
  const reminded = model.requests[2]!.messages.filter((message) =>
    JSON.stringify(message.content).includes('since the task list'),
  )
  expect(reminded).toHaveLength(1)
  expect(reminded[0]).toMatchObject({ callId: 'c9' })
})

it('points to the task list at the first error since it was written, and not at every one', async () => {
  const fail = tool('fail', { execute: () => ({ isError: true, text: 'no' }) })
  const turns = ['a', 'b', 't', 'c'].map((id) => ({ calls: [[id, id === 't' ? 'todo_write' : 'fail', {}]] as const }))
  const model = scriptedModel([{ calls: [['t0', 'todo_write', {}]] }, ...turns, { text: 'ok' }])
  const agent = createAgent({ model, tools: [todo, fail], extensions: [todoReminder()] })
  await agent.run('go').result
  const pointed = model.requests
    .at(-1)!
    .messages.filter((message) => JSON.stringify(message.content).includes('see todo_write'))
  expect(pointed.map((message) => message.role === 'tool' && message.callId)).toEqual(['a', 'c'])
})
