import type { JsonObject } from '@hermes/contracts'
import type { ToolContext } from '@hermes/contracts/tool'
import { createToolRegistry } from '@hermes/registry'
import { createFakeClock, finish, type ScriptedStep, scriptedModel } from '@hermes/testkit'
import { describe, expect, it } from 'vitest'
import { createAgent } from '../index.js'
import { createDelegateTaskTool } from '../tools/index.js'
import type { ChildInfo } from './child-node.js'
import { ChildTree } from './child-tree.js'
import type { Delegation } from './delegation.js'

/** A model that says how far it is and waits. */
function gate(calls: readonly (readonly [string, string, object])[] = []) {
  const begun = Promise.withResolvers<void>()
  const open = Promise.withResolvers<void>()
  const turn: ScriptedStep = async function* (_, signal) {
    begun.resolve()
    signal!.addEventListener('abort', () => open.reject(signal!.reason))
    await open.promise
    yield finish('done', calls)
  }
  return { turn, begun: begun.promise, open: open.resolve }
}

function setUp(scripts: readonly (readonly ScriptedStep[])[], maxChildren = 3) {
  const clock = createFakeClock(0)
  const tree = new ChildTree({ clock })
  const made: string[] = []
  const models = scripts.map((script) => scriptedModel(script))
  const delegation: Delegation = {
    limits: { maxChildren, maxDepth: 1, maxAnswerChars: 1_000 },
    depth: 0,
    tree,
    createChild: async (_, { agentPath }) => {
      const model = models[made.length]!
      made.push(agentPath.join('/'))
      const agent = createAgent({ model, clock, session: { id: `child-${made.length}` } })
      return { agent, close: async () => undefined }
    },
  }
  const registry = createToolRegistry({ tools: [createDelegateTaskTool({ delegation, clock })] })
  const call = async (args: object) => {
    const prepared = await registry.prepare(
      { name: 'delegate_task', args: args as JsonObject },
      new Set(['delegate_task']),
    )
    if (prepared.type !== 'prepared') throw new Error('not prepared')
    const signal = new AbortController().signal
    return registry.execute(prepared, { signal, progress: () => undefined } as unknown as ToolContext)
  }
  return { tree, made, models, call }
}
const states = (tree: ChildTree) => tree.list().map(({ id, state }) => [id, state])

describe('the tree of children', () => {
  it('shows what is at work and how it ended, with what it came to', async () => {
    const [first, second] = [gate(), gate()]
    const { tree, made, call } = setUp([[first.turn], [second.turn]])
    const seen: string[] = []
    tree.watch(({ id, state }) => seen.push(`${id} ${state}`))
    const result = call({ tasks: [{ goal: 'a' }, { goal: 'b' }] })
    await Promise.all([first.begun, second.begun])
    expect(tree.list()).toMatchObject([
      { id: '1', goal: 'a', state: 'running', activity: 'asking test-model', sessionId: 'child-1', endedAtMs: null },
      { id: '2', goal: 'b', state: 'running' },
    ])
    expect(made).toEqual(['root/task-1', 'root/task-2'])
    first.open()
    second.open()
    await result
    expect(tree.list()).toMatchObject([
      { state: 'completed', modelCalls: 1, usage: { inputTokens: 10 }, endedAtMs: 0 },
      { state: 'completed' },
    ] satisfies Partial<Omit<ChildInfo, 'usage'> & { usage: object }>[])
    expect(tree.usage()).toMatchObject({ inputTokens: 20, outputTokens: 10 })
    expect(seen).toContain('1 waiting')
    expect(seen).toContain('2 completed')
  })

  it('ends one child and no other, which still gives a result', async () => {
    const [first, second] = [gate(), gate()]
    const { tree, call } = setUp([[first.turn], [second.turn]])
    const result = call({ tasks: [{ goal: 'a' }, { goal: 'b' }] })
    await Promise.all([first.begun, second.begun])
    expect(tree.kill('1', 'Not needed any more.')).toBe(true)
    expect(tree.kill('3')).toBe(false)
    second.open()
    expect((await result).data).toMatchObject([
      { status: 'interrupted', problem: 'Not needed any more.' },
      { status: 'completed' },
    ])
    expect(tree.kill('1')).toBe(false)
  })

  it('holds a child before its next model call and lets it go on', async () => {
    const first = gate()
    const { tree, models, call } = setUp([[{ calls: [['x', 'nothing', {}]] }, first.turn]])
    expect(tree.pause()).toBe(true)
    const result = call({ goal: 'a' })
    await expect.poll(() => states(tree)).toEqual([['1', 'paused']])
    expect(models[0]!.requests).toHaveLength(0)
    expect(tree.unpause()).toBe(true)
    expect(tree.unpause()).toBe(false)
    await first.begun
    expect(tree.pause('1')).toBe(true)
    first.open()
    expect((await result).data).toMatchObject([{ status: 'completed' }])
  })

  it('ends a child that is held', async () => {
    const { tree, call } = setUp([[{ text: 'never' }]])
    tree.pause()
    const result = call({ goal: 'a' })
    await expect.poll(() => tree.list()[0]?.activity).toBe('paused')
    tree.kill('1')
    expect((await result).data).toMatchObject([{ status: 'interrupted', problem: 'The user ended it.' }])
  })

  it('tells a child something that reaches it with its next tool result', async () => {
    const first = gate([['x', 'nothing', {}]])
    const { tree, models, call } = setUp([[first.turn, { text: 'As told.' }]])
    const result = call({ goal: 'a' })
    await first.begun
    const notified = tree.steer('1', 'Only the small ones.')
    first.open()
    expect((await result).data).toMatchObject([{ answer: 'As told.' }])
    expect(await notified).toBe('delivered')
    expect(JSON.stringify(models[0]!.requests[1]!.messages.at(-1))).toContain('Only the small ones.')
    expect(await tree.steer('1', 'Too late.')).toBeNull()
  })

  it('has so many at work and lets the others wait for their turn', async () => {
    const gates = [gate(), gate(), gate()]
    const { tree, made, call } = setUp(
      gates.map(({ turn }) => [turn]),
      1,
    )
    const results = [call({ goal: 'a' }), call({ goal: 'b' }), call({ goal: 'c' })]
    await gates[0]!.begun
    expect(states(tree)).toEqual([
      ['1', 'running'],
      ['2', 'waiting'],
      ['3', 'waiting'],
    ])
    tree.kill('2')
    expect((await results[1])!.data).toMatchObject([{ status: 'interrupted', session_id: null }])
    gates[0]!.open()
    await gates[1]!.begun
    expect(made).toHaveLength(2)
    gates[1]!.open()
    await Promise.all(results)
    expect(states(tree).map(([, state]) => state)).toEqual(['completed', 'interrupted', 'completed'])
  })
})
