import { checkConversation, messageText } from '@hermes/contracts/conversation'
import type { Extension } from '@hermes/contracts/extension'
import type { Action } from '@hermes/contracts/policy'
import { defineTool } from '@hermes/contracts/tool'
import { type ScriptedStep, scriptedModel } from '@hermes/testkit'
import { describe, expect, it } from 'vitest'
import { hook } from '../__fixtures__/hook.js'
import { createAgent, createMemoryStore } from '../index.js'

const look = defineTool({
  name: 'look',
  toolset: 'test',
  description: 'look',
  parameters: { type: 'object', properties: {} },
  execute: () => 'seen',
})
const fetchAction: Action = { type: 'fetch', url: 'https://a.example/', method: 'GET' }
const act = defineTool({
  name: 'act',
  toolset: 'test',
  description: 'act',
  parameters: { type: 'object', properties: {} },
  execute: async (_, { permit }) => {
    await permit(fetchAction)
    return 'done'
  },
})

function setUp(turns: readonly ScriptedStep[], extensions: readonly Extension[] = []) {
  const model = scriptedModel(turns)
  const store = createMemoryStore()
  const make = () => createAgent({ model, tools: [look, act], session: { store, id: 's' }, extensions })
  return { model, store, make, agent: make() }
}

describe('undo', () => {
  it('takes the last turn back: the next request is what it would have been without it', async () => {
    const { agent, model } = setUp([
      { text: 'First.' },
      { calls: [['a', 'look', {}]] },
      { text: 'Second.' },
      { text: 'Other.' },
    ])
    await agent.run('one').result
    await agent.run('two').result
    expect(await agent.undo()).toEqual({ messages: 4, text: 'two' })
    await agent.run('another two').result
    const { messages } = model.requests.at(-1)!
    expect(messages.map(messageText).slice(1)).toEqual(['one', 'First.', 'another two'])
    expect(checkConversation(messages)).toEqual([])
    const [firstRequest] = model.requests
    expect(JSON.stringify(messages.slice(0, 2))).toBe(JSON.stringify(firstRequest!.messages))
  })

  it('lets tools know that earlier results are out of sight', async () => {
    const seen: number[] = []
    const count = defineTool({ ...look, execute: (_, { state }) => String(seen.push(state.compactions())) })
    const turn = (id: string): ScriptedStep[] => [{ calls: [[id, 'look', {}]] }, { text: 'Done.' }]
    const model = scriptedModel([...turn('a'), ...turn('b')])
    const agent = createAgent({ model, tools: [count], session: { store: createMemoryStore(), id: 's' } })
    await agent.run('one').result
    await agent.undo()
    await agent.run('two').result
    expect(seen).toEqual([0, 1])
  })

  it('holds for another process that goes on with the session', async () => {
    const { agent, make, model } = setUp([{ text: 'First.' }, { text: 'Second.' }, { text: 'Third.' }])
    await agent.run('one').result
    const other = make()
    await other.run('two').result
    await agent.undo()
    await other.run('three').result
    expect(model.requests.at(-1)!.messages.map(messageText).slice(1)).toEqual(['one', 'First.', 'three'])
  })

  it('takes several turns back, all of them when fewer are there, and says so when there is none', async () => {
    const { agent, store } = setUp([{ text: 'First.' }, { text: 'Second.' }])
    expect(await agent.undo()).toBeNull()
    await agent.run('one').result
    await agent.run('two').result
    expect(await agent.undo({ turns: 5 })).toEqual({ messages: 4, text: 'one' })
    expect(await agent.undo()).toBeNull()
    expect((await store.log.entries('s')).filter(({ type }) => type === 'message')).toHaveLength(4)
  })

  it('leaves no call of the turn open that was taken back', async () => {
    const { agent, model } = setUp([
      (_, signal) => {
        agent.interrupt()
        signal?.throwIfAborted()
        throw new Error('not reached')
      },
      { text: 'Fine.' },
    ])
    await agent.run('one').result
    await agent.undo()
    expect(await agent.run('two').result).toMatchObject({ status: 'completed' })
    expect(model.requests.at(-1)!.messages.map(messageText).slice(1)).toEqual(['two'])
  })
})

describe('hooks around actions', () => {
  it('are told of an action before it is done, with the turn it belongs to, and of the end of the run', async () => {
    const notified: unknown[] = []
    const { agent } = setUp(
      [{ calls: [['a', 'act', {}]] }, { text: 'Done.' }],
      [
        hook('before-action', (event) => {
          notified.push([event.action, event.callId, event.turnSeq])
          event.notice('Look here.')
        }),
        hook('run-end', ({ session }) => void notified.push(session.id)),
      ],
    )
    const run = agent.run('go')
    const notices: string[] = []
    for await (const event of run) if (event.type === 'notice') notices.push(event.text)
    const start = agent.entries().find((entry) => entry.type === 'message')
    expect(notified).toEqual([[fetchAction, 'a', start!.seq], 's'])
    expect(notices).toEqual(['Look here.'])
  })

  it('neither stop an action nor a run when they throw', async () => {
    const { agent } = setUp(
      [{ calls: [['a', 'act', {}]] }, { text: 'Done.' }],
      [
        hook('before-action', () => {
          throw new Error('broken hook')
        }),
        hook('run-end', () => Promise.reject(new Error('broken hook'))),
      ],
    )
    expect(await agent.run('go').result).toMatchObject({ status: 'completed', text: 'Done.' })
    const result = agent.entries().find((entry) => entry.type === 'message' && entry.message.role === 'tool')
    expect(result).toMatchObject({ message: { content: [{ text: 'done' }] } })
  })
})
