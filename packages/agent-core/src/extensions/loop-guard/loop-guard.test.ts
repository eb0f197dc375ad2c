import type { JsonObject } from '@hermes/contracts'
import type { Policy } from '@hermes/contracts/policy'
import { defineTool } from '@hermes/contracts/tool'
import type { ToolOutcome } from '@hermes/registry'
import { type ScriptedStep, scriptedModel } from '@hermes/testkit'
import { describe, expect, it } from 'vitest'
import { createAgent } from '../../index.js'
import { standardExtensions } from '../standard.js'
import { loopGuard } from './extension.js'
import { LoopGuard } from './loop-guard.js'

const hardStops = standardExtensions({ loopGuard: { hardStops: true } })

const outcome = (text: string, isError = false): ToolOutcome => ({ content: [{ type: 'text', text }], isError })
const failed = outcome('no', true)

/** Counts `times` equal calls and gives what was said on the last of them. */
function repeat(
  guard: LoopGuard,
  times: number,
  call: { toolName: string; args?: JsonObject; outcome: ToolOutcome; effect?: 'read' | 'write' },
) {
  let hint: string | null = null
  for (let count = 0; count < times; count++) hint = guard.after({ args: {}, effect: 'read', ...call })
  return hint
}

describe('the loop guard', () => {
  it('warns of a call that fails again with the same arguments, in whatever order they come', () => {
    const guard = new LoopGuard()
    const call = { toolName: 'patch', effect: 'write', outcome: failed } as const
    expect(guard.after({ ...call, args: { path: 'a', old: { x: 1, y: 2 } } })).toBeNull()
    expect(guard.after({ ...call, args: { old: { y: 2, x: 1 }, path: 'a' } })).toContain(
      'failed 2 times with the same arguments',
    )
  })

  it('warns of a tool that fails whatever the arguments', () => {
    const guard = new LoopGuard()
    const hints = ['a', 'b', 'c'].map((path) =>
      guard.after({ toolName: 'patch', args: { path }, effect: 'write', outcome: failed }),
    )
    expect(hints).toEqual([null, null, expect.stringContaining('patch has failed 3 times in a row')])
  })

  it('warns of a read that brings nothing new, not of one that does', () => {
    const guard = new LoopGuard()
    expect(repeat(guard, 2, { toolName: 'look', outcome: outcome('same') })).toContain('same result 2 times')
    expect(repeat(guard, 1, { toolName: 'look', outcome: outcome('other') })).toBeNull()
  })

  it('starts anew after a change that worked', () => {
    const guard = new LoopGuard({ hardStops: true })
    repeat(guard, 4, { toolName: 'look', outcome: outcome('same') })
    repeat(guard, 4, { toolName: 'patch', outcome: failed, effect: 'write' })
    guard.after({ toolName: 'write_file', args: {}, effect: 'write', outcome: outcome('done') })
    expect(repeat(guard, 1, { toolName: 'look', outcome: outcome('same') })).toBeNull()
    expect(repeat(guard, 1, { toolName: 'patch', outcome: failed, effect: 'write' })).toBeNull()
  })

  it.each([1, 2, 3, 4])('tells of %i calls that are made in a circle, and goes on with them', (calls) => {
    const guard = new LoopGuard({ hardStops: true })
    const round = (text: string) =>
      Array.from({ length: calls }, (_, n) =>
        guard.after({ toolName: 'terminal', args: { n }, effect: 'write', outcome: outcome(text) }),
      )
    const hints = [...round('same'), ...round('same'), ...round('same')]
    expect(hints.slice(0, -1).filter((hint) => hint !== null)).toEqual([])
    expect(hints.at(-1)).toMatch(
      /^\[(?:This call was|The last \d calls were) made 3 times now, with the same results\./,
    )
    expect(round('other').filter((hint) => hint !== null)).toEqual([])
    expect(guard.before('terminal', { n: 0 })).toEqual({ type: 'allow' })
  })

  it('lets a run start so many agents and web searches, whoever watches', () => {
    const guard = new LoopGuard({ caps: { subagents: 5, webSearches: 2 } })
    const start = (toolName: string, args: JsonObject) => guard.before(toolName, args)
    expect(start('delegate_task', { tasks: [{}, {}, {}] })).toEqual({ type: 'allow' })
    expect(start('delegate_task', { tasks: [{}, {}, {}] })).toEqual({
      type: 'block',
      text: 'Not run: a run starts 5 agents at most, and 3 were started. Go on with what you have.',
      isRepeated: false,
    })
    expect([1, 2, 3].map(() => start('delegate_task', { goal: 'x' }).type)).toEqual(['allow', 'allow', 'block'])
    expect([1, 2, 3].map((n) => start('web_search', { query: `${n}` }).type)).toEqual(['allow', 'allow', 'block'])
  })

  it('counts the searches of a program with those of its run, and how often it repeats them not at all', () => {
    const gates: ((event: never) => unknown)[] = []
    const hooks = {
      on: (point: string, gate: (event: never) => unknown) => point === 'before-tool-call' && gates.push(gate),
    }
    const { setup } = loopGuard({ hardStops: true, caps: { subagents: 5, webSearches: 3 } })
    setup({ hooks } as never)
    let kept: unknown
    const perRun = (_name: string, create: () => unknown) => (kept ??= create())
    const search = (caller: 'model' | 'program', n: number) =>
      gates[0]!({
        caller,
        reply: 1,
        callId: `${n}`,
        args: { query: 'x' },
        tool: { name: 'web_search' },
        perRun,
      } as never)
    expect([search('model', 1), search('program', 2), search('program', 3)]).toEqual([undefined, undefined, undefined])
    const reason = 'Not run: a run starts 3 web searches at most, and 3 were started. Go on with what you have.'
    expect([search('program', 4), search('model', 5)]).toEqual([1, 2].map(() => ({ type: 'block', reason })))
  })

  it('goes by limits of ones own', () => {
    const limits = { sameFailures: 1, toolFailures: 9, sameResults: 3 }
    const guard = new LoopGuard({ hardStops: true, warnAfter: limits, stopAfter: { ...limits, sameFailures: 2 } })
    expect(repeat(guard, 1, { toolName: 'patch', outcome: failed })).toContain('failed 1 times')
    expect(repeat(guard, 2, { toolName: 'look', outcome: outcome('same') })).toBeNull()
    expect(guard.before('patch', {}).type).toBe('allow')
    repeat(guard, 1, { toolName: 'patch', outcome: failed })
    expect(guard.before('patch', {}).type).toBe('block')
  })

  it('refuses the sixth call of its kind where nobody watches, and only there', () => {
    for (const hardStops of [true, false]) {
      const guard = new LoopGuard({ hardStops })
      repeat(guard, 5, { toolName: 'look', outcome: outcome('same') })
      repeat(guard, 5, { toolName: 'patch', outcome: failed, effect: 'write' })
      expect(guard.before('look', {}).type).toBe(hardStops ? 'block' : 'allow')
      expect(guard.before('patch', {}).type).toBe(hardStops ? 'block' : 'allow')
      expect(guard.before('patch', { path: 'other' }).type).toBe('allow')
      expect(guard.halted).toBeNull()
    }
  })

  it('is silent where warnings are switched off', () => {
    expect(repeat(new LoopGuard({ warnings: false }), 9, { toolName: 'look', outcome: failed })).toBeNull()
  })

  it('never refuses a process that is waited for, nor a test that fails between edits', () => {
    const guard = new LoopGuard({ hardStops: true })
    for (let round = 0; round < 60; round++) {
      repeat(guard, 1, { toolName: 'process', outcome: outcome('still running') })
      repeat(guard, 9, { toolName: 'terminal', outcome: outcome('1 failed', true), effect: 'write' })
      repeat(guard, 1, { toolName: 'patch', args: { round }, outcome: outcome('done'), effect: 'write' })
    }
    expect(guard.before('terminal', {})).toEqual({ type: 'allow' })
    expect(guard.before('process', {})).toEqual({ type: 'allow' })
  })

  it.each([
    ['a command that fails', 'terminal', { ...outcome('oh no'), data: { exit_code: 2 } }],
    ['a page that does not load', 'web_extract', failed],
  ])('refuses %s the eleventh time with nothing in between', (_, toolName, result) => {
    const guard = new LoopGuard({ hardStops: true })
    repeat(guard, 9, { toolName, outcome: result, effect: 'write' })
    expect(guard.before(toolName, {})).toEqual({ type: 'allow' })
    repeat(guard, 1, { toolName, outcome: result, effect: 'write' })
    expect(guard.before(toolName, {})).toMatchObject({ type: 'block' })
  })

  it('ends the run with the second reply whose calls it blocks, however many calls a reply has', () => {
    const guard = new LoopGuard({ hardStops: true })
    repeat(guard, 5, { toolName: 'patch', outcome: failed, effect: 'write' })
    repeat(guard, 5, { toolName: 'look', outcome: outcome('same') })
    for (const toolName of ['patch', 'patch', 'look']) expect(guard.before(toolName, {}).type).toBe('block')
    expect(guard.halted).toBeNull()
    guard.nextReply()
    expect(guard.before('look', {}).type).toBe('halt')
    expect(guard.halted).toContain('the same result 5 times')
    expect(guard.before('read_file', { path: 'a' }).type).toBe('halt')
  })

  it('lets fifty edits and checks in turn pass without a word', () => {
    const guard = new LoopGuard({ hardStops: true })
    for (let round = 0; round < 50; round++) {
      expect(guard.before('patch', { round })).toEqual({ type: 'allow' })
      expect(guard.after({ toolName: 'patch', args: { round }, effect: 'write', outcome: outcome('done') })).toBeNull()
      expect(guard.before('read_file', { path: 'a' })).toEqual({ type: 'allow' })
      expect(
        guard.after({ toolName: 'read_file', args: { path: 'a' }, effect: 'read', outcome: outcome('same') }),
      ).toBeNull()
    }
  })
})

describe('a run that goes in circles', () => {
  const broken = defineTool({
    name: 'broken',
    toolset: 'test',
    description: 'Fails.',
    effect: 'read',
    parameters: { type: 'object', properties: { n: { type: 'integer' } } },
    execute: () => ({ isError: true, text: 'It is broken.' }),
  })
  const calls = (count: number): ScriptedStep[] =>
    Array.from({ length: count }, (_, n) => ({ calls: [[`c${n}`, 'broken', { n }]] as const }))

  it('is told so on the result', async () => {
    const model = scriptedModel([...calls(3), { text: 'I give up.' }])
    const agent = createAgent({ model, tools: [broken] })
    expect(await agent.run('go').result).toMatchObject({ status: 'completed' })
    expect(JSON.stringify(model.requests[3]!.messages.at(-1))).toContain('broken has failed 3 times in a row')
  })

  const fine = defineTool({
    name: 'terminal',
    toolset: 'test',
    description: 'Runs.',
    parameters: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
    actions: ({ command }: { command: string }) => [{ type: 'spawn', command, cwd: '/', backend: 'local' }],
    execute: () => ({ text: 'exit 1', data: { exit_code: 1 } }),
  })
  const deny: Policy = {
    decide: async () => ({ type: 'deny', rule: 'no', reason: 'Not here.' }),
    settled: async () => ({ type: 'deny', rule: 'no', reason: 'Not here.' }),
    answer: async () => false,
    listen: () => () => undefined,
  }
  const vary = (n: number) => ({ command: `try ${n}` })
  const same = () => ({ command: 'try' })
  const cut = () => null

  it.each<[string, string, (n: number) => object | null, number, Policy | undefined]>([
    ['a call that fails', 'broken', () => ({ n: 1 }), 7, undefined],
    ['a call that fails, with arguments that vary', 'broken', (n) => ({ n }), 9, undefined],
    ['a command that fails', 'terminal', same, 12, undefined],
    ['a call that is denied', 'terminal', same, 9, deny],
    ['a call that is denied, with arguments that vary', 'terminal', vary, 9, deny],
    ['a tool that is not there', 'ghost', same, 7, undefined],
    ['a tool that is not there, with arguments that vary', 'ghost', vary, 9, undefined],
    ['arguments that do not fit', 'terminal', () => ({ argv: 1 }), 9, undefined],
    ['arguments that are cut off', 'broken', cut, 7, undefined],
  ])('ends soon where nobody watches: %s', async (_, name, args, most, policy) => {
    const model = scriptedModel(Array.from({ length: 91 }, (__, n) => ({ calls: [[`c${n}`, name, args(n)]] as const })))
    const options = { model, tools: [broken, fine], steps: { max: 90 }, extensions: hardStops }
    const agent = createAgent({ ...options, ...(policy ? { safety: { policy } } : {}) })
    const { status, error } = await agent.run('go').result
    expect({ status, code: error?.code }).toEqual({ status: 'stopped', code: 'agent.loop' })
    expect(model.requests.length).toBeLessThanOrEqual(most)
  })

  it('ends where nobody watches, and can be continued', async () => {
    const model = scriptedModel([...calls(9), { text: 'Back.' }])
    const agent = createAgent({ model, tools: [broken], extensions: hardStops })
    const { status, error } = await agent.run('go').result
    expect(status).toBe('stopped')
    expect(error).toMatchObject({ code: 'agent.loop', message: expect.stringContaining('failed 8 times in a row') })
    expect(await agent.run('Try again.').result).toMatchObject({ status: 'completed', text: 'Back.' })
  })
})
