import { defineTool } from '@hermes/contracts/tool'
import { type ScriptedStep, scriptedModel } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { type AnswerDemands, createAgent } from '../index.js'

const look = defineTool({
  name: 'look',
  toolset: 'test',
  description: 'Looks.',
  parameters: { type: 'object', properties: {} },
  effect: 'read',
  concurrency: 'parallel',
  execute: () => 'seen',
})

function setUp(...steps: readonly ScriptedStep[]) {
  const model = scriptedModel(steps)
  return { model, agent: createAgent({ model, tools: [look], extensions: [] }) }
}

const city: AnswerDemands = {
  format: {
    type: 'json-schema',
    name: 'city',
    schema: { type: 'object', properties: { size: { type: 'integer' } }, required: ['size'] },
  },
}

it('has an answer mended that is not of the form, and gives the JSON alone', async () => {
  const { agent, model } = setUp(
    { calls: [['1', 'look', {}]] },
    { text: 'It is big.' },
    { text: '{"size":"7"}' },
    { text: 'Here:\n```json\n{"size":7}\n```' },
    { text: 'Any time.' },
  )
  expect(await agent.run('How big?', { demands: city }).result).toMatchObject({
    status: 'completed',
    text: '{"size":7}',
  })
  const ends = model.requests.map(({ messages }) => JSON.stringify(messages.at(-1)))
  expect(ends[0]).toContain('fits the schema city')
  expect(ends[2]).toContain('It is not JSON.')
  expect(ends[3]).toContain('does not fit the schema: size')
  expect(model.requests.map(({ answerFormat }) => answerFormat?.type)).toEqual(Array(4).fill('json-schema'))
  // The next run demands nothing, on the same prefix.
  expect(await agent.run('Thanks.').result).toMatchObject({ text: 'Any time.' })
  expect(model.requests.at(-1)).not.toHaveProperty('answerFormat')
  const texts = model.requests.map(({ tools, messages }) => JSON.stringify([tools, messages]).slice(0, -2))
  for (const [index, text] of texts.slice(1).entries()) expect(text.startsWith(texts[index]!)).toBe(true)
})

it('fails with one line when no answer is of the form, and at once for a schema that cannot be used', async () => {
  const { agent, model } = setUp({ text: '1' }, { text: '2' }, { text: '3' })
  const { status, error } = await agent.run('How big?', { demands: { format: { type: 'json' } } }).result
  expect([status, error]).toMatchObject(['failed', { code: 'agent.unfit_answer' }])
  expect(error?.message).toMatch(/^The model gave no answer .* 3 times\. It is JSON, but no object\.$/)
  const broken = { type: 'json-schema', name: 'broken', schema: { $ref: '#/nowhere' } } as const
  expect(await agent.run('And?', { demands: { format: broken } }).result).toMatchObject({
    error: { code: 'agent.bad_format' },
  })
  expect(model.requests).toHaveLength(3)
})

it('gives the JSON alone where the output limit parts it, and no summary in its place at the limit of steps', async () => {
  const parts = [{ text: '```json\n{"size": ', finish: 'length' }, { text: '7}\n```' }] as const
  expect(await setUp(...parts).agent.run('How big?', { demands: city }).result).toMatchObject({
    status: 'completed',
    text: '{"size": 7}',
  })
  const atLimit = async (text: string) => {
    const model = scriptedModel([{ calls: [['1', 'look', {}]] }, { text }])
    const agent = createAgent({ model, tools: [look], extensions: [], steps: { max: 1 } })
    const result = await agent.run('How big?', { demands: city }).result
    expect(JSON.stringify(model.requests[1]!.messages.at(-1))).toContain('give your answer now')
    return result
  }
  expect(await atLimit('```json\n{"size": 7}\n```')).toMatchObject({ status: 'stopped', text: '{"size": 7}' })
  expect(await atLimit('I looked once.')).toMatchObject({ status: 'failed', error: { code: 'agent.unfit_answer' } })
  expect(await atLimit('')).toMatchObject({ status: 'failed', error: { code: 'agent.unfit_answer' } })
})

it('gives a stored answer only where it is as demanded now, else has it mended', async () => {
  const { agent, model } = setUp(
    { text: 'It is big.' },
    { text: '{"size":7}' },
    { text: 'No.' },
    { calls: [['1', 'look', {}]] },
    { text: '{"size":8}' },
  )
  await agent.run('How big?').result
  const resume = { resume: true } as const
  expect(await agent.run(resume, { demands: city }).result).toMatchObject({ status: 'completed', text: '{"size":7}' })
  const sent = JSON.stringify(model.requests[1]!.messages.slice(-2))
  expect(sent).toContain('It is not JSON.')
  expect(sent).toContain('fits the schema city')
  expect(await agent.run(resume, { demands: city }).result).toMatchObject({ text: '{"size":7}' })
  expect(await agent.run(resume).result).toMatchObject({ text: '{"size":7}' })
  expect(model.requests).toHaveLength(2)
  const called = { ...city, calls: ['look'] }
  expect(await agent.run(resume, { demands: called }).result).toMatchObject({ text: '{"size":8}' })
  expect(await agent.run(resume, { demands: called }).result).toMatchObject({ text: '{"size":8}' })
  expect(model.requests).toHaveLength(5)
})

it('ends a reply at a stop, shown and kept alike, with what it would have called', async () => {
  const { agent, model } = setUp({ text: 'One. END Two.', calls: [['1', 'look', {}]] }, { text: 'Yes.' })
  const run = agent.run('Count.', { demands: { stop: ['END'] } })
  let shown = ''
  for await (const event of run) if (event.type === 'message-delta') shown += event.text
  expect([shown, (await run.result).text]).toEqual(['One. ', 'One. '])
  await agent.run('Done?').result
  expect(JSON.stringify(model.requests[1]!.messages)).not.toMatch(/Two|look/)
  const silent = setUp({ text: 'END' })
  expect(await silent.agent.run('Count.', { demands: { stop: ['END'] } }).result).toMatchObject({
    status: 'completed',
    text: '',
  })
})

it('finds a stop that the output limit parts: the reply ends before its beginning and is gone on with from there', async () => {
  const { agent, model } = setUp({ text: 'one ST', finish: 'length' }, { text: 'STOP two' }, { text: 'Yes.' })
  const run = agent.run('Count.', { demands: { stop: ['STOP'] } })
  let shown = ''
  for await (const event of run) if (event.type === 'message-delta') shown += event.text
  expect([shown, (await run.result).text]).toEqual(['one ', 'one '])
  await agent.run('Done?').result
  for (const { messages } of model.requests.slice(1)) expect(JSON.stringify(messages)).not.toMatch(/"one ST|STOP/)
})

it('has a tool called before the answer: by the request, and in words where the model answers all the same', async () => {
  const { agent, model } = setUp({ text: 'No need.' }, { calls: [['1', 'look', {}]] }, { text: 'Seen.' })
  expect(await agent.run('Look.', { demands: { calls: ['look'] } }).result).toMatchObject({ text: 'Seen.' })
  expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual([{ name: 'look' }, { name: 'look' }, undefined])
  expect(JSON.stringify(model.requests[1]!.messages.at(-1))).toContain('Call look first.')
})
