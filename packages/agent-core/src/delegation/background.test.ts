import { silentLogger } from '@hermes/contracts'
import type { InboxMessage } from '@hermes/contracts/store'
import { defineTool } from '@hermes/contracts/tool'
import { createToolRegistry } from '@hermes/registry'
import { createFakeClock, finish, type ScriptedStep, scriptedModel } from '@hermes/testkit'
import { describe, expect, it } from 'vitest'
import { createAgent, createMemoryStore } from '../index.js'
import { createDelegateTaskTool } from '../tools/index.js'
import { ChildTree } from './child-tree.js'
import type { Delegation } from './delegation.js'

const HAND_OUT: ScriptedStep = {
  calls: [['d', 'delegate_task', { tasks: [{ goal: 'count' }], background: true }]],
}

/** A parent with one child in the background, whose model waits until it is let go. */
function setUp(
  turns: readonly ScriptedStep[],
  options: { readonly notices?: boolean; readonly childCalls?: boolean } = {},
) {
  const clock = createFakeClock(0)
  const store = createMemoryStore({ clock })
  const warnings: unknown[] = []
  const logger = { ...silentLogger, warn: (...warning: unknown[]) => void warnings.push(warning) }
  const tree = new ChildTree({ clock, logger })
  const open = Promise.withResolvers<string>()
  const child = scriptedModel([
    async function* (_, signal) {
      signal!.addEventListener('abort', () => open.reject(signal!.reason))
      const text = await open.promise
      yield finish(text, options.childCalls ? [['x', 'change', {}]] : [])
    },
    { text: 'Changed.' },
  ])
  const changed: string[] = []
  const change = defineTool({
    name: 'change',
    toolset: 't',
    description: 'c',
    effect: 'write',
    parameters: { type: 'object' },
    execute: () => {
      changed.push('change')
      return 'ok'
    },
  })
  const delegation: Delegation = {
    limits: { maxChildren: 3, maxDepth: 1, maxAnswerChars: 1_000 },
    depth: 0,
    tree,
    createChild: async () => ({
      agent: createAgent({ model: child, clock, tools: [change] }),
      close: async () => undefined,
    }),
  }
  const model = scriptedModel(turns)
  const wait = { name: 'wait', toolset: 't', description: 'w', parameters: { type: 'object' } } as const
  const tools = createToolRegistry({
    tools: [
      createDelegateTaskTool({ delegation, clock }),
      {
        ...wait,
        execute: async () => {
          open.resolve('It is 3.')
          await expect.poll(() => tree.list()[0]?.state).toBe('completed')
          return 'waited'
        },
      },
    ],
  })
  const { notices = true } = options
  const agent = createAgent({ model, tools, session: { store, children: tree, notices }, clock })
  const text = (index: number) => JSON.stringify(model.requests[index]!.messages.at(-1))
  return { agent, store, model, child, changed, warnings, tree, open, text }
}

describe('a task in the background', () => {
  it('gives a handle at once, and its result with the next message, once', async () => {
    const { agent, store, tree, open, text } = setUp([
      HAND_OUT,
      { text: 'Started.' },
      { text: 'Three.' },
      { text: '…' },
    ])
    expect(await agent.run('Go.').result).toMatchObject({ status: 'completed', text: 'Started.' })
    expect(text(1)).toMatch(/Started in the background: task-[0-9a-f]{6}\. Each result will come to you by itself/)
    expect(await store.inbox!.waiting(agent.sessionId)).toEqual([])
    open.resolve('It is 3.')
    await expect.poll(() => tree.list()[0]?.state).toBe('completed')
    expect(await store.inbox!.waiting(agent.sessionId)).toHaveLength(1)
    await agent.run('And?').result
    expect(text(2)).toMatch(/Background task task-[0-9a-f]{6} \(count\) completed .*It is 3\..*And\?/)
    await agent.run('Again?').result
    expect(text(3)).not.toContain('Background task')
    expect(await store.inbox!.waiting(agent.sessionId)).toEqual([])
  })

  it('gives its result without a message when the agent is asked to go on', async () => {
    const { agent, tree, open, text } = setUp([HAND_OUT, { text: 'Started.' }, { text: 'Three.' }])
    await agent.run('Go.').result
    open.resolve('It is 3.')
    await expect.poll(() => tree.list()[0]?.state).toBe('completed')
    expect(await agent.run({ resume: true }).result).toMatchObject({ text: 'Three.' })
    expect(text(2)).toContain('It is 3.')
    // Nothing new: nobody is asked.
    expect(await agent.run({ resume: true }).result).toMatchObject({ status: 'completed', text: 'Three.' })
  })

  it('gives its result with a tool result of the run under way', async () => {
    const { agent, store, text } = setUp([HAND_OUT, { calls: [['w', 'wait', {}]] }, { text: 'Three.' }])
    expect(await agent.run('Go.').result).toMatchObject({ text: 'Three.' })
    expect(text(2)).toMatch(/waited.*Background task task-[0-9a-f]{6} \(count\) completed/)
    expect(await store.inbox!.waiting(agent.sessionId)).toEqual([])
  })

  it('tells it once when it comes just as a run begins', async () => {
    const turns = [HAND_OUT, { text: 'Started.' }, { calls: [['w', 'wait', {}]] }, { text: 'Three.' }] as const
    const { agent, store, tree, open, text } = setUp(turns)
    await agent.run('Go.').result
    const { waiting } = store.inbox!
    const comesNow: typeof waiting = async (sessionId) => {
      open.resolve('It is 3.')
      await expect.poll(() => tree.list()[0]?.state).toBe('completed')
      return waiting(sessionId)
    }
    Object.assign(store.inbox!, { waiting: comesNow })
    expect(await agent.run('And?').result).toMatchObject({ status: 'completed', text: 'Three.' })
    expect(text(2)).toContain('It is 3.')
    expect(text(3)).toContain('waited')
    expect(text(3)).not.toContain('It is 3.')
  })

  it('is known to have begun before its first request', async () => {
    const { agent, store, open } = setUp([HAND_OUT, { text: 'Started.' }])
    const held: unknown[] = []
    const { setWill } = store.inbox!
    Object.assign(store.inbox!, {
      setWill: (inboxMessage: InboxMessage) => {
        held.push(inboxMessage.body['text'])
        return setWill(inboxMessage)
      },
    })
    await agent.run('Go.').result
    await expect.poll(() => held).toHaveLength(2)
    expect(held[0]).toMatch(/was interrupted: .* It had not begun\./)
    expect(held[1]).toMatch(/was interrupted: .* What it did is in session \S+; nothing was undone\./)
    open.resolve('It is 3.')
  })

  it('outlives an interrupt of its parent, and ends with the tree', async () => {
    const { agent, store, tree } = setUp([HAND_OUT, { text: 'Started.' }])
    await agent.run('Go.').result
    agent.interrupt()
    expect(tree.list()).toMatchObject([{ state: 'running', isBackground: true }])
    await tree.close(5_000)
    expect(await store.inbox!.waiting(agent.sessionId)).toMatchObject([
      { kind: 'delegation.result', body: { text: expect.stringMatching(/interrupted .* Hermes was closed\./) } },
    ])
  })

  it.each(['accept', 'leave'] as const)('changes nothing while its parent plans, and goes on after %s', async (how) => {
    const { agent, child, changed, tree, open } = setUp([HAND_OUT, { text: 'Started.' }], { childCalls: true })
    await agent.run('Go.').result
    await expect.poll(() => child.requests).toHaveLength(1)
    await agent.plan()
    tree.pause()
    tree.unpause()
    // Its model was already at work; what it calls for has to wait.
    open.resolve('Changing it.')
    await expect.poll(() => tree.list()).toMatchObject([{ state: 'paused', activity: 'paused' }])
    expect(changed).toEqual([])
    await agent.endPlan(how)
    await expect.poll(() => tree.list()[0]?.state).toBe('completed')
    expect(changed).toEqual(['change'])
  })

  it('is ended with the tree while its parent plans', async () => {
    const { agent, changed, tree, open } = setUp([HAND_OUT, { text: 'Started.' }], { childCalls: true })
    await agent.run('Go.').result
    await agent.plan()
    open.resolve('Changing it.')
    await expect.poll(() => tree.list()[0]?.activity).toBe('paused')
    await tree.close(5_000)
    expect(tree.list()).toMatchObject([{ state: 'interrupted' }])
    expect(changed).toEqual([])
  })

  it('leaves a warning when its result cannot be stored', async () => {
    const { agent, store, warnings, tree, open } = setUp([HAND_OUT, { text: 'Started.' }])
    await agent.run('Go.').result
    Object.assign(store.inbox!, { send: () => Promise.reject(new Error('The disk is full.')) })
    open.resolve('It is 3.')
    await expect.poll(() => tree.list()[0]?.state).toBe('completed')
    expect(warnings).toMatchObject([[expect.stringContaining('could not be stored'), { error: 'The disk is full.' }]])
  })

  it('is waited for where nobody would hear of it later', async () => {
    const { agent, open, text } = setUp([HAND_OUT, { text: 'Three.' }], { notices: false })
    open.resolve('It is 3.')
    await agent.run('Go.').result
    expect(text(1)).toContain('It is 3.\\n\\nNothing runs in the background here, so this was waited for.')
  })
})
