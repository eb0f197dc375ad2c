import { defineTool } from '@hermes/contracts/tool'
import { createFakeClock, scriptedModel } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { createAgent } from '../index.js'

/** An agent with ten seconds for a run, and a tool that takes that works as long as it is asked to. */
function hurried(steps: Parameters<typeof scriptedModel>[0]) {
  const clock = createFakeClock()
  const ended: string[] = []
  const work = defineTool<{ seconds: number }>({
    name: 'work',
    toolset: 'test',
    description: 'Works.',
    parameters: { type: 'object', properties: { seconds: { type: 'number' } }, required: ['seconds'] },
    execute: async ({ seconds }, { signal }) => {
      await clock.sleep(seconds * 1_000, signal).catch((error: unknown) => {
        ended.push('interrupted')
        throw error
      })
      return 'worked'
    },
  })
  const model = scriptedModel(steps)
  return { agent: createAgent({ model, tools: [work], clock, steps: { maxSeconds: 10 } }), model, clock, ended }
}
const call = (id: string, seconds: number) => ({ calls: [[id, 'work', { seconds }] as const] })

it('ends a run whose time is over, what is under way included, and the session goes on', async () => {
  const { agent, clock, ended, model } = hurried([call('a', 600), { text: 'Well then.' }])
  const run = agent.run('Work.').result
  await clock.waitForSleepers(2)
  await clock.advance(10_000)
  expect(await run).toMatchObject({
    status: 'stopped',
    error: {
      code: 'agent.time_limit',
      message: 'The time for this run, 10 seconds, is over. Continue the session to go on.',
    },
  })
  expect(ended).toEqual(['interrupted'])
  expect(model.requests).toHaveLength(1)
  expect(await agent.run('Leave it.').result).toMatchObject({ status: 'completed', text: 'Well then.' })
  expect(clock.pending()).toEqual([])
})

it('tells the model once when most of the time is used', async () => {
  const { agent, clock, model } = hurried([call('a', 7), call('b', 1.5), call('c', 0.5), { text: 'Done.' }])
  const run = agent.run('Work.').result
  for (const ms of [7_000, 1_500, 500]) {
    await clock.waitForSleepers(2)
    await clock.advance(ms)
  }
  expect(await run).toMatchObject({ status: 'completed', text: 'Done.' })
  const notified = model.requests.map(
    ({ messages }) => JSON.stringify(messages).split('for this run 1.5 seconds are left').length - 1,
  )
  expect(notified).toEqual([0, 0, 1, 1])
})

it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('takes no limit of %s seconds', (maxSeconds) => {
  expect(() => createAgent({ model: scriptedModel([]), steps: { maxSeconds } })).toThrow(
    'steps.maxSeconds must be more than 0',
  )
})
