import type { SessionStore } from '@hermes/contracts/store'
import { defineTool, type Tool } from '@hermes/contracts/tool'
import { scriptedModel } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { hook } from '../__fixtures__/hook.js'
import { type Agent, type AgentEvent, createAgent, createMemoryStore } from '../index.js'

/** An agent that is stopped at a moment of its run, and what began in it after that. */
function stoppedAt(moment: 'permit' | 'call-start' | 'progress', concurrency: Tool['concurrency'] = 'exclusive') {
  const began: string[] = []
  let agent: Agent | null = null
  const stop = () => agent?.interrupt('user')
  const touch = defineTool<{ name: string }>({
    name: 'touch',
    toolset: 'test',
    description: 'Touches.',
    parameters: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    concurrency: concurrency ?? 'exclusive',
    ...(moment === 'permit' ? { actions: () => [{ type: 'read' as const, path: '/a', backend: 'local' }] } : {}),
    execute: async ({ name }, { progress }) => {
      began.push(name)
      progress('touching')
      await new Promise((resolve) => setImmediate(resolve))
      return 'touched'
    },
  })
  const calls = ['a', 'b', 'c'].map((name) => [name, 'touch', { name }] as const)
  const model = scriptedModel([{ calls }, { text: 'never' }])
  const extensions = moment === 'permit' ? [hook('before-action', () => stop())] : []
  agent = createAgent({
    model,
    tools: [touch],
    session: { store: storeThat(moment === 'call-start' ? stop : () => undefined) },
    extensions,
  })
  return { agent, began, model }
}

/** A store that tells when the start of a call is written down. */
function storeThat(tell: () => void): SessionStore {
  const store = createMemoryStore()
  const append: SessionStore['log']['append'] = (sessionId, entries, options) => {
    if (entries.some(({ type }) => type === 'call-start')) tell()
    return store.log.append(sessionId, entries, options)
  }
  return { ...store, log: { ...store.log, append } }
}

it.each(['permit', 'call-start'] as const)('starts no tool when it is stopped at the %s of one', async (moment) => {
  const { agent, began, model } = stoppedAt(moment)
  expect((await agent.run('go').result).status).toBe('interrupted')
  expect(began).toEqual([])
  expect(model.requests).toHaveLength(1)
})

it.each(['exclusive', 'parallel'] as const)(
  'starts no further tool and asks no model once a tool is stopped: %s',
  async (how) => {
    const { agent, began, model } = stoppedAt('progress', how)
    const run = agent.run('go')
    const after: AgentEvent['type'][] = []
    let isStopped = false
    for await (const event of run) {
      if (isStopped) after.push(event.type)
      if (event.type !== 'tool-progress' || isStopped) continue
      agent.interrupt('user')
      isStopped = true
      expect(began.splice(0).length).toBe(how === 'parallel' ? 3 : 1)
    }
    expect((await run.result).status).toBe('interrupted')
    expect(began).toEqual([])
    expect(after).not.toContain('message-start')
    expect(model.requests).toHaveLength(1)
  },
)
