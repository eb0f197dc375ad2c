import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ModelServer, startModelServer, type TemporaryHome, temporaryHome } from '@hermes/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openRuntime } from '../open-runtime.js'
import type { Runtime } from '../runtime.js'
import { chooseMixture } from './mixtures.js'

const modelOptions = {
  configured: { provider: 'moa', model: 'default' },
  endpoints: {},
  secrets: { OPENROUTER_API_KEY: 'o', ANTHROPIC_API_KEY: 'a' },
}
const presets = {
  pair: {
    reference_models: [
      { provider: 'openrouter', model: 'a/b' },
      { provider: 'anthropic', model: 'c' },
    ],
    aggregator: { provider: 'anthropic', model: 'd' },
  },
  bad: { reference_models: [] },
}
const settings = { default_preset: 'pair', presets }

describe('chooseMixture', () => {
  it('gives the models of a preset, each with its key', () => {
    expect(chooseMixture({ settings, modelOptions })).toMatchObject({
      preset: 'pair',
      references: [
        { provider: 'openrouter', model: 'a/b', apiKey: 'o' },
        { provider: 'anthropic', model: 'c', apiKey: 'a' },
      ],
      aggregator: { provider: 'anthropic', model: 'd' },
    })
  })

  it('names the presets there are, and how to make one', () => {
    expect(() => chooseMixture({ settings, preset: 'trio', modelOptions })).toThrow(
      'There is no mixture of models "trio". There are: pair, bad.',
    )
    const none = { default_preset: 'default', presets: {} }
    expect(() => chooseMixture({ settings: none, modelOptions })).toThrow(/Make one: .*moa\.presets\.NAME/)
    expect(() => chooseMixture({ settings, preset: 'bad', modelOptions })).toThrow(/reference_models must be a list/)
  })
})

describe('the provider moa', () => {
  let home: TemporaryHome
  let servers: readonly [ModelServer, ModelServer]
  let runtime: Runtime
  beforeEach(async () => {
    home = await temporaryHome()
    servers = [await startModelServer(), await startModelServer()]
  })
  afterEach(async () => {
    await runtime.close()
    await Promise.all(servers.map((server) => server.close()))
  })

  async function open(): Promise<void> {
    const [main, reference] = servers
    const config = {
      model: { default: 'm', base_url: main.baseUrl },
      moa: {
        presets: { default: { reference_models: [{ provider: 'custom', model: 'r', base_url: reference.baseUrl }] } },
      },
    }
    await writeFile(join(home.path, 'config.yaml'), JSON.stringify(config))
    const world = { env: {}, cwd: home.path, user: 'u', tempDir: home.path }
    runtime = await openRuntime({ home: home.path, userHome: home.path, ...world })
  }

  it('answers with what its models think together, and so does the session when it goes on', async () => {
    const [main, reference] = servers
    reference.setHandler(() => ({ text: 'I would say 4.' }))
    main.setHandler(() => ({ text: 'It is 4.' }))
    await open()
    expect(runtime.chooseModel({ provider: 'moa' })).toMatchObject({ provider: 'moa', model: 'default' })
    const { agent, provider, model, models } = await runtime.createAgent({ provider: 'moa' })
    expect([provider, model, await models()]).toEqual(['moa', 'default', ['default']])
    expect(await agent.run('2 + 2?').result).toMatchObject({ status: 'completed', text: 'It is 4.' })
    expect(JSON.stringify(main.requests[0]!.body.messages)).toContain('I would say 4.')
    expect(reference.requests.map(({ body }) => body.model)).toEqual(['r'])
    const session = (await (await runtime.storage()).sessions.get(agent.sessionId))!
    expect(session).toMatchObject({ provider: 'moa', model: 'default' })
    await runtime.close()
    await open()
    await (await runtime.createAgent({ session })).agent.run('And 3 + 3?').result
    expect(reference.requests).toHaveLength(2)
    await runtime.close()
    await open()
    const { usage: ledger } = await runtime.storage()
    expect((await ledger.totals({ by: 'purpose' })).map(({ key, calls }) => [key, calls])).toEqual([
      ['moa.reference', 2],
      ['turn', 2],
    ])
  })

  it('is also a tool, where there is a preset', async () => {
    const [main, reference] = servers
    reference.setHandler(() => ({ text: 'I would say 4.' }))
    main.enqueue(
      { toolCalls: [{ name: 'mixture_of_agents', args: { question: '2 + 2?' } }] },
      { text: 'Weighed: 4.' },
      { text: 'It is 4.' },
    )
    await open()
    const { agent } = await runtime.createAgent({ toolsets: ['moa'] })
    expect(await agent.run('Ask around.').result).toMatchObject({ status: 'completed', text: 'It is 4.' })
    expect(JSON.stringify(main.requests[1]!.body.messages)).toContain('I would say 4.')
    expect(JSON.stringify(main.requests[2]!.body.messages)).toContain('Weighed: 4.')
    expect((await runtime.tools()).find(({ name }) => name === 'mixture_of_agents')).toMatchObject({
      isAvailable: true,
      isEnabled: true,
    })
  })
})
