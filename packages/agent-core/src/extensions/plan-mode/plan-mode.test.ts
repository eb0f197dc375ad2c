import { defineTool } from '@hermes/contracts/tool'
import { type ScriptedStep, scriptedModel } from '@hermes/testkit'
import { describe, expect, it } from 'vitest'
import { createAgent, createMemoryStore, isPlanning } from '../../index.js'

const done: string[] = []
const tool = (name: string, effect: 'read' | 'write') =>
  defineTool({
    name,
    toolset: 'test',
    description: name,
    effect,
    parameters: { type: 'object' },
    execute: (_, { state }) => {
      done.push(name)
      return JSON.stringify(state.latest('todo_write')?.data ?? null)
    },
  })
const todo = defineTool<{ todos: { id: string; content: string; status: string }[] }>({
  name: 'todo_write',
  toolset: 'test',
  description: 'todo',
  effect: 'read',
  keepsData: true,
  parameters: { type: 'object' },
  execute: ({ todos }) => ({ data: { todos } }),
})
const tools = [tool('look', 'read'), tool('change', 'write'), todo]
const CHANGE: ScriptedStep = { calls: [['c', 'change', {}]] }
const LOOK: ScriptedStep = { calls: [['l', 'look', {}]] }
const PLAN = { text: 'This is how:\n\n1. Change a.\n2) Check it.\n\n- not a step' }

function setUp(turns: readonly ScriptedStep[], store = createMemoryStore(), sessionId?: string) {
  done.length = 0
  const model = scriptedModel(turns)
  const agent = createAgent({ model, tools, session: { store, ...(sessionId === undefined ? {} : { id: sessionId }) } })
  const text = (index: number) => JSON.stringify(model.requests[index]!.messages.at(-1)!.content)
  return { agent, model, store, text }
}

describe('plan mode', () => {
  it('refuses what may change something, with the same tools defined, until a plan is accepted', async () => {
    const { agent, model, text } = setUp([LOOK, CHANGE, PLAN, CHANGE, { text: 'Done.' }])
    expect(await agent.plan()).toBe(true)
    expect(await agent.plan()).toBe(false)
    await agent.run('Do it.').result
    expect(text(0)).toMatch(/Plan mode is on.*Do it\./)
    expect(text(2)).toContain('change was not run: plan mode is on')
    expect(done).toEqual(['look'])
    expect(await agent.endPlan('accept')).toBe(true)
    expect(await agent.endPlan('accept')).toBe(false)
    expect(await agent.run({ resume: true }).result).toMatchObject({ status: 'completed', text: 'Done.' })
    expect(text(3)).toMatch(/accepted the plan\. It is the task list now:\\n1\. Change a\.\\n2\. Check it\./)
    expect(done).toEqual(['look', 'change'])
    for (const { tools: defined } of model.requests) expect(defined).toEqual(model.requests[0]!.tools)
    for (const [index, { messages }] of model.requests.slice(0, -1).entries())
      expect(model.requests[index + 1]!.messages.slice(0, messages.length)).toEqual(messages)
  })

  it('has the steps of the accepted plan as the task list', async () => {
    const { agent, text } = setUp([PLAN, LOOK, { text: 'ok' }])
    await agent.plan()
    await agent.run('Do it.').result
    await agent.endPlan('accept')
    await agent.run({ resume: true }).result
    const todos = [
      { id: '1', content: 'Change a.', status: 'pending' },
      { id: '2', content: 'Check it.', status: 'pending' },
    ]
    expect(JSON.parse(JSON.parse(text(2))[0].text)).toEqual({ todos })
  })

  it('keeps the task list that the model wrote while it planned', async () => {
    const todos = [{ id: 'a', content: 'Mine.', status: 'pending' }]
    const { agent, text } = setUp([{ calls: [['t', 'todo_write', { todos }]] }, PLAN, LOOK, { text: 'ok' }])
    await agent.plan()
    await agent.run('Do it.').result
    await agent.endPlan('accept')
    await agent.run({ resume: true }).result
    expect(text(2)).toContain('1. Mine.')
    expect(JSON.parse(JSON.parse(text(3))[0].text)).toEqual({ todos })
  })

  it('is kept in the log, and can be left without a plan', async () => {
    const { agent, store } = setUp([PLAN])
    await agent.plan()
    await agent.run('Do it.').result
    const { sessionId } = agent
    expect(isPlanning(await store.log.entries(sessionId))).toBe(true)
    const resumed = setUp([CHANGE, { text: 'Refused.' }, CHANGE, { text: 'Done.' }], store, sessionId)
    await resumed.agent.run('Just do it.').result
    expect(done).toEqual([])
    await resumed.agent.endPlan('leave')
    expect(isPlanning(resumed.agent.entries())).toBe(false)
    await resumed.agent.run('Now.').result
    expect(done).toEqual(['change'])
    expect(resumed.text(2)).toMatch(/Plan mode is off.*Now\./)
  })

  it('begins beside a run under way', async () => {
    const { agent } = setUp([
      async function* () {
        await agent.plan()
        yield* scriptedModel([CHANGE]).stream({ messages: [], tools: [] }, {} as never)
      },
      { text: 'Refused.' },
    ])
    await agent.run('Do it.').result
    expect(done).toEqual([])
  })
})
