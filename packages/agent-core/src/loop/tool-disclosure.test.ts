import { defineTool, type Tool } from '@hermes/contracts/tool'
import { createToolRegistry } from '@hermes/registry'
import { createPolicy } from '@hermes/safety'
import { scriptedModel } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { type AgentEvent, type AgentOptions, createAgent } from '../index.js'

const hidden = (over: Partial<Tool<{ to: string }>> = {}) =>
  defineTool<{ to: string }>({
    name: 'post_note',
    toolset: 'mcp-notes',
    description: 'Posts a note.',
    parameters: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
    execute: ({ to }) => `Posted to ${to}.`,
    ...over,
  }) as Tool

function open(tools: readonly Tool[], options: Partial<AgentOptions> = {}) {
  const disclosure = { mode: 'on', budgetTokens: 0, listingTokens: 100, core: [] } as const
  const model = scriptedModel([
    { calls: [['s', 'tool_search', { query: 'post a note' }]] },
    { calls: [['c', 'tool_call', { name: 'post_note', arguments: { to: 'ada' } }]] },
    { text: 'Done.' },
  ])
  const agent = createAgent({ model, tools: createToolRegistry({ tools, disclosure }), ...options })
  return { model, agent }
}

it('opens a hidden tool and calls it, with the same definitions in every request', async () => {
  const { model, agent } = open([hidden()])
  const run = agent.run('Post a note to Ada.')
  const events: AgentEvent[] = []
  for await (const event of run) events.push(event)
  expect(await run.result).toMatchObject({ status: 'completed', text: 'Done.' })
  const sent = model.requests.map(({ tools }) => JSON.stringify(tools))
  expect(new Set(sent).size).toBe(1)
  expect(model.requests[0]!.tools.map(({ name }) => name)).toEqual(['tool_call', 'tool_search'])
  expect(events.filter(({ type }) => type === 'tool-start')).toMatchObject([
    { toolName: 'tool_search' },
    { toolName: 'post_note', args: { to: 'ada' } },
  ])
  expect(JSON.stringify(model.requests[2]!.messages.at(-1))).toContain('Posted to ada.')
})

it('asks the policy in the name of the tool that is called', async () => {
  const send = hidden({ actions: ({ to }) => [{ type: 'send', target: to }] })
  const policy = createPolicy({
    mode: 'ask',
    home: '/home/ada/.hermes',
    userHome: '/home/ada',
    rules: [{ pattern: 'post_note', effect: 'deny' }],
  })
  const { model, agent } = open([send], { safety: { policy } })
  await agent.run('Post a note to Ada.').result
  expect(JSON.stringify(model.requests[2]!.messages.at(-1))).toContain(
    'The permission rule \\"post_note: deny\\" forbids it.',
  )
})
