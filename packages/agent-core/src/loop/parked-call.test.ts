import { defineTool, type ToolContext } from '@hermes/contracts/tool'
import { scriptedModel } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { type AgentEvent, createAgent } from '../index.js'

/** Gives what `results` has of its call, and parks where that has nothing. */
const later = (results: ReadonlyMap<string, string>) =>
  defineTool({
    name: 'later',
    toolset: 'test',
    description: 'Its results come from outside.',
    parameters: { type: 'object', properties: {} },
    effect: 'read',
    concurrency: 'parallel',
    execute: (_args, { callId, park }: ToolContext) => results.get(callId) ?? park!(),
  })

it('parks the run of a call whose result comes later, and makes it again when it is resumed', async () => {
  const results = new Map<string, string>()
  const calls = ['a', 'b'].map((id) => [id, 'later', {}] as const)
  const model = scriptedModel([{ calls }, { text: 'All there.' }])
  const agent = createAgent({ model, tools: [later(results)] })
  expect(await agent.run('go').result).toMatchObject({ status: 'parked', pending: ['a'] })
  expect(await agent.run({ resume: true }).result).toMatchObject({ status: 'parked', pending: ['a'] })
  results.set('b', 'second')
  // What is there is kept, whatever still waits.
  expect(await agent.run({ resume: true }).result).toMatchObject({ status: 'parked', pending: ['a'] })
  results.delete('b')
  results.set('a', 'first')
  const ended: string[] = []
  const run = agent.run({ resume: true })
  for await (const event of run) if (event.type === 'tool-end') ended.push(textOf(event))
  expect(await run.result).toMatchObject({ status: 'completed', text: 'All there.' })
  expect(ended).toEqual(['first'])
  expect(model.requests).toHaveLength(2)
})

const textOf = ({ content }: AgentEvent & { readonly type: 'tool-end' }) =>
  content.map((part) => (part.type === 'text' ? part.text : '')).join('')
