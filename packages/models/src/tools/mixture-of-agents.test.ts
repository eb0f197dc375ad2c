import type { ModelClient } from '@hermes/contracts/model'
import type { ToolContext } from '@hermes/contracts/tool'
import { createFakeClock, startModelServer } from '@hermes/testkit'
import { describe, expect, it } from 'vitest'
import { createModelClient } from '../index.js'
import { createMixtureOfAgentsClient } from '../mixture/mixture-client.js'
import { createMixtureOfAgentsTool } from './mixture-of-agents.js'

const context = { sessionId: 's', signal: new AbortController().signal } as ToolContext

describe('mixture_of_agents', () => {
  it('gives the answer that came of what several models said', async () => {
    const server = await startModelServer()
    server.setHandler(({ body }) => ({ text: body.model === 'aggregator' ? 'Weighed: 4.' : `${body.model} says 4.` }))
    const client = (model: string): ModelClient =>
      createModelClient({ provider: 'custom', model, baseUrl: server.baseUrl, clock: createFakeClock() })
    const mixture = async () =>
      createMixtureOfAgentsClient({
        provider: 'moa',
        model: 'default',
        aggregator: client('aggregator'),
        references: [client('first'), client('second')],
      })
    const tool = createMixtureOfAgentsTool({ mixture })
    expect(tool.available?.()).toBe(true)
    expect(await tool.execute({ question: '2 + 2?' }, context)).toEqual({ text: 'Weighed: 4.' })
    const last = JSON.stringify(server.requests.at(-1)!.body.messages)
    for (const words of ['2 + 2?', 'first says 4.', 'second says 4.']) expect(last).toContain(words)
    await server.close()
  })

  it('is not there without a mixture, and says so when it is called all the same', async () => {
    const tool = createMixtureOfAgentsTool({ mixture: null })
    expect(tool.available?.()).toBe(false)
    expect(await tool.execute({ question: '2 + 2?' }, context)).toMatchObject({
      isError: true,
      text: expect.stringContaining('moa.presets'),
    })
  })
})
