// What stands around a call of the model or of a tool: it happens once, whatever extensions do.
import { type Logger, silentLogger } from '@hermes/contracts'
import type { Extension } from '@hermes/contracts/extension'
import { defineTool, type Tool } from '@hermes/contracts/tool'
import { type ScriptedStep, scriptedModel } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { hook } from '../__fixtures__/hook.js'
import { createAgent } from '../index.js'

const ONE_CALL: readonly ScriptedStep[] = [{ calls: [['a', 'look', { n: 1 }]] }, { text: 'Done.' }]
function setUp(extensions: readonly Extension[], turns = ONE_CALL, { external = false } = {}) {
  const model = scriptedModel(turns)
  const lines: string[] = []
  const log = (text: string) => void lines.push(text)
  const logger: Logger = { ...silentLogger, warn: log, error: log }
  let runs = 0
  const look = defineTool<{ n?: number }>({
    name: 'look',
    toolset: 'test',
    description: 'look',
    effect: 'read',
    external,
    parameters: { type: 'object', properties: { n: { type: 'integer' } } },
    execute: async ({ n = 0 }) => {
      runs += 1
      return `seen ${n}`
    },
  }) as Tool
  const agent = createAgent({ model, tools: [look], extensions, logger })
  const run = async () => {
    const { status, text } = await agent.run('Go.').result
    return { status, text, runs, result: JSON.stringify(model.requests.at(-1)?.messages.at(-1)) }
  }
  return { run, model, lines, agent }
}

const text = (of: string) => ({ content: [{ type: 'text', text: of }], isError: false }) as const

it('how a model is asked is changed, and the conversation is not', async () => {
  const calm = hook('model-request', ({ request }) => ({ temperature: (request.temperature ?? 0) + 0.2 }), {
    by: 'calm',
  })
  const short = hook(
    'model-request',
    ({ request }) => ({ temperature: request.temperature! * 2, maxOutputTokens: 5 }),
    {
      by: 'short',
    },
  )
  const odd = hook('model-request', () => ({ messages: [] }) as never, { by: 'odd' })
  const { run, model, lines } = setUp([calm, odd, short])
  expect(await run()).toMatchObject({ status: 'completed' })
  expect(model.requests.map(({ temperature, maxOutputTokens }) => [temperature, maxOutputTokens])).toEqual([
    [0.4, 5],
    [0.4, 5],
  ])
  expect(model.requests[1]!.messages.length).toBeGreaterThan(2)
  expect(lines).toEqual(Array(2).fill('Hook model-request of odd failed and was skipped.'))
})

it('handlers stand around a call of a tool, the first outermost, and change what comes of it', async () => {
  const seen: string[] = []
  const wrap = (by: string) =>
    hook(
      'tool-execution',
      async ({ proceed, tool, args }) => {
        seen.push(`${by} before ${tool.name} ${JSON.stringify(args)}`)
        const [part] = (await proceed()).content
        seen.push(`${by} after`)
        return text(`${by}(${part?.type === 'text' ? part.text : ''})`)
      },
      { by },
    )
  const { run } = setUp([wrap('outer'), wrap('inner')])
  expect(await run()).toMatchObject({ runs: 1, result: expect.stringContaining('outer(inner(seen 1))') })
  expect(seen).toEqual(['outer before look {"n":1}', 'inner before look {"n":1}', 'inner after', 'outer after'])
})

it.each<readonly [string, Parameters<typeof hook<'tool-execution'>>[1]]>([
  ['goes on twice', async ({ proceed }) => void (await Promise.all([proceed(), proceed()]))],
  ['does not go on', () => undefined],
  [
    'fails before it went on',
    () => {
      throw new Error('broken')
    },
  ],
  [
    'fails after it went on',
    async ({ proceed }) => {
      await proceed()
      throw new Error('broken')
    },
  ],
  ['takes too long', () => new Promise(() => undefined)],
  ['gives nonsense', () => 7 as never],
])('a tool runs once where a handler %s', async (_, handler) => {
  const { run } = setUp([hook('tool-execution', handler, { timeoutMs: 50 })], ONE_CALL)
  expect(await run()).toMatchObject({ status: 'completed', runs: 1, result: expect.stringContaining('seen 1') })
})

it('a result in the place of a call that was not run keeps the taint of its tool', async () => {
  const kept = hook('tool-execution', () => text('from the cache'))
  const { run, agent } = setUp([kept], ONE_CALL, { external: true })
  expect(await run()).toMatchObject({ runs: 0, result: expect.stringContaining('from the cache') })
  const [message] = agent.entries().filter((entry) => entry.type === 'message' && entry.message.role === 'tool')
  expect(JSON.stringify(message)).toContain('"origin":"external"')
})

it('an answer in the place of the model ends the turn unasked; once the model was asked it has none', async () => {
  const first = setUp([hook('model-execution', () => ({ text: 'From memory.' }))], [])
  expect(await first.run()).toMatchObject({ status: 'completed', text: 'From memory.' })
  expect(first.model.requests).toEqual([])
  const heard: string[] = []
  const late = hook('model-execution', async ({ proceed, request }) => {
    const { message } = await proceed()
    heard.push(`${request.messages.length} ${message.content.map(({ type }) => type).join()}`)
    return { text: 'Too late.' }
  })
  const second = setUp([late])
  expect(await second.run()).toMatchObject({ status: 'completed', text: 'Done.', runs: 1 })
  expect(heard).toEqual([expect.stringMatching(/ tool-call$/), expect.stringMatching(/ text$/)])
})
