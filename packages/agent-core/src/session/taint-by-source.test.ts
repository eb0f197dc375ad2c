import type { TextSource } from '@hermes/contracts/conversation'
import type { FolderTrust, Policy, Subject } from '@hermes/contracts/policy'
import { defineTool } from '@hermes/contracts/tool'
import { createAllowAllPolicy } from '@hermes/safety'
import { createFakeClock, type ScriptedStep, scriptedModel } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { ChildTree } from '../delegation/child-tree.js'
import type { Delegation } from '../delegation/delegation.js'
import { createAgent, createMemoryStore } from '../index.js'
import { createDelegateTaskTool } from '../tools/index.js'

const trust: FolderTrust = { isTrusted: async (path) => path.startsWith('/w/') }
const clock = createFakeClock(0)

function setUp() {
  const store = createMemoryStore({ clock })
  const subjects: Subject[] = []
  const allow = createAllowAllPolicy()
  const policy: Policy = {
    ...allow,
    settled: (id, options) => allow.settled(id, options),
    decide: (action, subject, options) => {
      subjects.push(subject)
      return allow.decide(action, subject, options)
    },
  }
  const reads = (name: string, sources: readonly TextSource[] | undefined) =>
    defineTool({
      ...{ name, toolset: 't', description: 'd', parameters: { type: 'object' }, effect: 'read', external: true },
      sources: () => sources,
      execute: () => 'text',
    })
  const acts = defineTool({
    ...{ name: 'act', toolset: 't', description: 'd', parameters: { type: 'object' } },
    actions: () => [{ type: 'send', target: 'x' }],
    execute: () => 'done',
  })
  const program = defineTool({
    ...{ name: 'program', toolset: 't', description: 'd', parameters: { type: 'object' } },
    execute: async (_, { tools }) => {
      await tools!.call('web', {})
      await tools!.call('act', {})
      return 'ran'
    },
  })
  const tools = [
    ...[
      reads('own', [{ type: 'file', path: '/w/README.md' }]),
      reads('other', [{ type: 'file', path: '/x/README.md' }]),
    ],
    ...[reads('web', [{ type: 'web', name: 'example.com' }]), reads('unknown', undefined), acts, program],
  ]
  const agent = (turns: readonly ScriptedStep[], more: object = {}, extra: readonly (typeof acts)[] = []) =>
    createAgent({
      ...{ model: scriptedModel(turns), tools: [...tools, ...extra], clock, safety: { policy, trust } },
      session: { store, ...more },
    })
  const calls = (...names: readonly string[]): ScriptedStep[] => [
    ...names.map((name, index): ScriptedStep => ({ calls: [[`c${index}`, name, {}]] })),
    { text: 'Done.' },
  ]
  return { agent, calls, subjects, store }
}

it('is tainted by what its sources do not clear, for good and by name', async () => {
  const { agent, calls, subjects, store } = setUp()
  const first = agent(calls('own', 'act', 'other', 'act', 'unknown', 'act'))
  await first.run('Go.').result
  expect(subjects.map(({ tainted, taintedBy }) => [tainted, taintedBy])).toEqual([
    [false, undefined],
    [true, ['README.md of /x']],
    [true, ['README.md of /x', 'text from outside']],
  ])
  // The folder was trusted as the text came in, or was not: a later process reads the log as it is.
  const resumed = createAgent({
    ...{ model: scriptedModel(calls('act')), tools: [], clock },
    session: { store, id: first.sessionId },
  })
  await resumed.run('And?').result
  expect(JSON.stringify(resumed.entries())).toContain('"taints":false')
})

it('has a program and a child inherit it, and what they read comes back with its name', async () => {
  const { agent, calls, subjects } = setUp()
  await agent(calls('program')).run('Go.').result
  expect(subjects).toMatchObject([{ tainted: true, taintedBy: ['example.com'] }])
  subjects.length = 0
  const tree = new ChildTree({ clock, logger: (await import('@hermes/contracts')).silentLogger })
  const delegation: Delegation = {
    ...{ limits: { maxChildren: 1, maxDepth: 1, maxAnswerChars: 1_000 }, depth: 0, tree },
    createChild: async () => ({ agent: agent(calls('act', 'web')), close: async () => undefined }),
  }
  const delegate = createDelegateTaskTool({ delegation, clock }) as never
  const hand: ScriptedStep = { calls: [['d', 'delegate_task', { goal: 'look' }]] }
  await agent([{ calls: [['o', 'other', {}]] }, hand, { calls: [['a', 'act', {}]] }, { text: '.' }], {}, [
    delegate,
  ]).run('Go.').result
  expect(subjects.map(({ taintedBy }) => taintedBy)).toEqual([['README.md of /x'], ['README.md of /x', 'example.com']])
  subjects.length = 0
  await agent([hand, { calls: [['a', 'act', {}]] }, { text: '.' }], {}, [delegate]).run('Go.').result
  expect(subjects.map(({ tainted, taintedBy }) => [tainted, taintedBy])).toEqual([
    [false, undefined],
    [true, ['example.com']],
  ])
})
