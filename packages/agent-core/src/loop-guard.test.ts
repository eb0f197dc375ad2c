import type { JsonObject } from '@hermes/contracts'
import { defineTool } from '@hermes/contracts/tool'
import type { ToolOutcome } from '@hermes/registry'
import { describe, expect, it } from 'vitest'
import { createAgent } from './index.js'
import { LoopGuard } from './loop-guard.js'
import { type ScriptedTurn, scriptedModel } from './testing-model.js'

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
    })
    expect([1, 2, 3].map(() => start('delegate_task', { goal: 'x' }).type)).toEqual(['allow', 'allow', 'block'])
    expect([1, 2, 3].map((n) => start('web_search', { query: `${n}` }).type)).toEqual(['allow', 'allow', 'block'])
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

  it.each([
    ['a process that is waited for', 'process', outcome('still running')],
    ['a test that fails until it is mended', 'terminal', outcome('1 failed', true)],
    ['a page that does not load yet', 'web_extract', failed],
  ])('never refuses %s', (_, toolName, result) => {
    const guard = new LoopGuard({ hardStops: true })
    repeat(guard, 60, { toolName, outcome: result, effect: 'read' })
    expect(guard.before(toolName, {})).toEqual({ type: 'allow' })
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
  const calls = (count: number): ScriptedTurn[] =>
    Array.from({ length: count }, (_, n) => ({ calls: [[`c${n}`, 'broken', { n }]] as const }))

  it('is told so on the result', async () => {
    const model = scriptedModel([...calls(3), { text: 'I give up.' }])
    const agent = createAgent({ model, tools: [broken] })
    expect(await agent.run('go').result).toMatchObject({ status: 'completed' })
    expect(JSON.stringify(model.requests[3]!.messages.at(-1))).toContain('broken has failed 3 times in a row')
  })

  it('ends where nobody watches, and can be continued', async () => {
    const model = scriptedModel([...calls(9), { text: 'Back.' }])
    const agent = createAgent({ model, tools: [broken], loopGuard: { hardStops: true } })
    const { status, error } = await agent.run('go').result
    expect(status).toBe('stopped')
    expect(error).toMatchObject({ code: 'agent.loop', message: expect.stringContaining('failed 8 times in a row') })
    expect(await agent.run('Try again.').result).toMatchObject({ status: 'completed', text: 'Back.' })
  })
})
