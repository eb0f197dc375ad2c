// Libraries from npm that speak the OpenAI API, unmodified, in front of one gateway.
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { HumanMessage } from '@langchain/core/messages'
import { tool as langChainTool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { Agent, tool as agentTool, OpenAIProvider, Runner, setTracingDisabled } from '@openai/agents'
import { generateText, jsonSchema, Output, stepCountIs, streamText, tool } from 'ai'
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { type Gateway, KEY, startGateway } from '../support/gateway.js'
import { useScene } from '../support/scene.js'

const scene = useScene({ isShared: true })
let gateway: Gateway

beforeAll(async () => {
  gateway = await startGateway(['--base-url', scene.server.baseUrl, '-m', 'test'], scene)
})
afterAll(() => gateway.stop())

const City = z.object({ name: z.string(), size: z.number() })
const OSLO = { name: 'Oslo', size: 7 }
const says = (content: string) => [{ role: 'user', content } as const]
const call = (city: string) => ({ name: 'client__get_weather', args: { city } })
const weather = z.object({ city: z.string() })
const sent = () => scene.server.requests.filter(({ body }) => body?.messages !== undefined)
const lastSent = () => JSON.stringify(sent().at(-1)!.body.messages.at(-1))

describe('openai', () => {
  it('parses an answer that fits its schema, mended where the first one does not', async () => {
    const before = sent().length
    scene.server.enqueue({ text: 'Oslo has 7.' }, { text: `\`\`\`json\n${JSON.stringify(OSLO)}\n\`\`\`` })
    const { choices } = await gateway.client().chat.completions.parse({
      model: 'hermes-agent',
      messages: says('Which city?'),
      response_format: zodResponseFormat(City, 'city'),
    })
    expect(choices[0]!.message.parsed).toEqual(OSLO)
    const [first, second] = sent().slice(before)
    expect(first!.body).toMatchObject({ response_format: { type: 'json_schema', json_schema: { name: 'city' } } })
    expect(JSON.stringify(second!.body.messages.at(-1))).toContain('It is not JSON.')
  })

  it('parses what it streams, and hears nothing but the answer', async () => {
    scene.server.enqueue(
      { text: 'Let me look.', toolCalls: [{ name: 'read_file', args: { path: 'none.txt' } }] },
      { text: JSON.stringify(OSLO) },
    )
    const stream = gateway.client().chat.completions.stream({
      model: 'hermes-agent',
      messages: says('Streamed: which city?'),
      response_format: zodResponseFormat(City, 'city'),
    })
    const { choices } = await stream.finalChatCompletion()
    expect(choices[0]!.message).toMatchObject({ content: JSON.stringify(OSLO), parsed: OSLO })
  })

  it('parses responses, whole and streamed', async () => {
    const ask = { model: 'hermes-agent', text: { format: zodTextFormat(City, 'city') } }
    scene.server.enqueue({ text: JSON.stringify(OSLO) })
    const whole = await gateway.client().responses.parse({ ...ask, input: 'A response: which city?' })
    expect(whole).toMatchObject({ output_parsed: OSLO, text: { format: { type: 'json_schema', name: 'city' } } })
    scene.server.enqueue({ text: JSON.stringify(OSLO) })
    const stream = gateway.client().responses.stream({ ...ask, input: 'A streamed response: which city?' })
    expect((await stream.finalResponse()).output_parsed).toEqual(OSLO)
  })

  it('is lastSent in one line where no answer fits, and where the run waits for somebody', async () => {
    scene.server.enqueue({ text: 'a' }, { text: 'b' }, { text: 'c' })
    const request = { model: 'hermes-agent', response_format: { type: 'json_object' } } as const
    const unfit = gateway.client().chat.completions.create({ ...request, messages: says('Unfit?') })
    await expect(unfit).rejects.toMatchObject({ status: 502, code: 'agent.unfit_answer' })
    scene.server.enqueue({ toolCalls: [{ name: 'clarify', args: { question: 'Which Oslo?' } }] })
    const parked = gateway.client().chat.completions.create({ ...request, messages: says('Parked?') })
    await expect(parked).rejects.toMatchObject({
      status: 409,
      code: 'run_parked',
      message: expect.stringContaining('Which Oslo?'),
    })
  })

  it('gets an answer up to its stop, streamed as whole, and goes on in the same session', async () => {
    scene.server.enqueue({ text: 'One. Two. END Three.' })
    const stream = gateway.client().chat.completions.stream({
      model: 'hermes-agent',
      messages: says('Count.'),
      stop: 'END',
    })
    const [choice] = (await stream.finalChatCompletion()).choices
    expect(choice).toMatchObject({ finish_reason: 'stop', message: { content: 'One. Two. ' } })
    scene.server.enqueue({ text: 'Yes.' })
    const messages = [...says('Count.'), choice!.message, ...says('Again?')]
    const { response } = await gateway
      .client()
      .chat.completions.create({ model: 'hermes-agent', messages, stop: ['END'] })
      .withResponse()
    expect(response.headers.get('x-hermes-session-id')).toMatch(/^api-[0-9a-f]{16}$/)
    expect(JSON.stringify(sent().at(-1)!.body.messages)).not.toContain('Three')
  })

  it('has its tool called when it must be, by name too, and not where it must not', async () => {
    const tools = ['get_weather', 'get_time'].map((name) => ({ type: 'function' as const, function: { name } }))
    const ask = (content: string, tool_choice: 'none' | 'required' | object) =>
      gateway.client().chat.completions.create({
        model: 'hermes-agent',
        messages: says(content),
        tools,
        tool_choice: tool_choice as 'none',
      })
    scene.server.enqueue({ text: 'It is cold.' }, { toolCalls: [call('Oslo')] })
    const required = await ask('Required?', 'required')
    expect(required.choices[0]).toMatchObject({ finish_reason: 'tool_calls' })
    expect(sent().at(-1)!.body).toMatchObject({ tool_choice: 'required' })
    scene.server.enqueue({ toolCalls: [call('Oslo')] })
    await ask('Named?', { type: 'function', function: { name: 'get_weather' } })
    expect(sent().at(-1)!.body).toMatchObject({ tool_choice: { function: { name: 'client__get_weather' } } })
    scene.server.enqueue({ toolCalls: [call('Oslo')] }, { text: 'Cold, I guess.' })
    const none = await ask('None?', 'none')
    expect(none.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'Cold, I guess.' } })
    expect(lastSent()).toContain('answer without its tools')
  })
})

describe.each([
  ['@ai-sdk/openai, responses', () => createOpenAI({ baseURL: gateway.baseUrl, apiKey: KEY })('hermes-agent')],
  ['@ai-sdk/openai, chat', () => createOpenAI({ baseURL: gateway.baseUrl, apiKey: KEY }).chat('hermes-agent')],
  [
    '@ai-sdk/openai-compatible',
    () =>
      createOpenAICompatible({
        name: 'hermes',
        baseURL: gateway.baseUrl,
        apiKey: KEY,
        supportsStructuredOutputs: true,
      })('hermes-agent'),
  ],
])('ai with %s', (name, model) => {
  it('gives text, streams it, runs its tools and gets objects', async () => {
    scene.server.enqueue({ text: 'Hello.' }, { text: 'Hello again.' })
    expect((await generateText({ model: model(), prompt: `${name}: hello?` })).text).toBe('Hello.')
    expect(await streamText({ model: model(), prompt: `${name}: and streamed?` }).text).toBe('Hello again.')
    scene.server.enqueue({ toolCalls: [call('Oslo')] }, { text: 'Cold.' })
    const run = await generateText({
      model: model(),
      prompt: `${name}: weather?`,
      stopWhen: stepCountIs(3),
      tools: {
        get_weather: tool({
          description: 'The weather.',
          inputSchema: jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } } }),
          execute: ({ city }) => `${city}: -3`,
        }),
      },
    })
    expect([run.text, run.steps.length]).toEqual(['Cold.', 2])
    expect(lastSent()).toContain('Oslo: -3')
    scene.server.enqueue({ text: JSON.stringify(OSLO) })
    const { output } = await generateText({
      model: model(),
      prompt: `${name}: which city?`,
      output: Output.object({ schema: City }),
    })
    expect(output).toEqual(OSLO)
  })
})

it('@langchain/openai gives text, streams it, binds tools and gets objects', async () => {
  const model = new ChatOpenAI({ model: 'hermes-agent', apiKey: KEY, configuration: { baseURL: gateway.baseUrl } })
  scene.server.enqueue({ text: 'Hello.' }, { text: 'Hello again.' })
  expect((await model.invoke('LangChain: hello?')).content).toBe('Hello.')
  let streamed = ''
  for await (const chunk of await model.stream('LangChain: streamed?')) streamed += String(chunk.content)
  expect(streamed).toBe('Hello again.')
  const getWeather = langChainTool(({ city }: z.output<typeof weather>) => `${city}: -3`, {
    name: 'get_weather',
    description: 'The weather.',
    schema: weather,
  })
  const bound = model.bindTools([getWeather])
  scene.server.enqueue({ toolCalls: [call('Oslo')] }, { text: 'Cold.' })
  const request = new HumanMessage('LangChain: weather?')
  const first = await bound.invoke([request])
  const result = await getWeather.invoke({ ...first.tool_calls![0]!, type: 'tool_call' })
  expect((await bound.invoke([request, first, result])).content).toBe('Cold.')
  expect(lastSent()).toContain('Oslo: -3')
  scene.server.enqueue({ text: JSON.stringify(OSLO) })
  expect(await model.withStructuredOutput(City, { method: 'jsonSchema' }).invoke('LangChain: city?')).toEqual(OSLO)
})

it('@openai/agents runs an agent with tools and an output of a type', async () => {
  setTracingDisabled(true)
  const runner = new Runner({ modelProvider: new OpenAIProvider({ apiKey: KEY, baseURL: gateway.baseUrl }) })
  const agent = new Agent({
    name: 'Weather',
    instructions: 'Tell the weather.',
    model: 'hermes-agent',
    outputType: City,
    tools: [
      agentTool({
        name: 'get_weather',
        description: 'The weather.',
        parameters: weather,
        execute: ({ city }) => `${city}: -3`,
      }),
    ],
  })
  scene.server.enqueue({ toolCalls: [call('Oslo')] }, { text: JSON.stringify(OSLO) })
  const { finalOutput } = await runner.run(agent, 'Agents: weather?')
  expect(finalOutput).toEqual(OSLO)
  expect(lastSent()).toContain('Oslo: -3')
})
