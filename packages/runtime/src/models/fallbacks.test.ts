import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ModelServer, startModelServer, type TemporaryHome, temporaryHome } from '@hermes/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openRuntime } from '../open-runtime.js'
import type { Runtime } from '../runtime.js'
import { chooseFallbacks } from './fallbacks.js'

const modelOptions = { configured: {}, endpoints: {}, secrets: { OPENROUTER_API_KEY: 'or', SPARE: 'spare' } }

describe('chooseFallbacks', () => {
  it('gives the endpoints of complete entries in their order, each with its key', () => {
    const entries = [
      { provider: 'openrouter', model: 'a/b' },
      { provider: 'custom', model: 'c', base_url: 'http://127.0.0.1:1/v1', key_env: 'SPARE' },
      { provider: 'openrouter' },
      'openrouter',
    ]
    expect(chooseFallbacks(entries, modelOptions)).toMatchObject({
      choices: [
        { provider: 'openrouter', model: 'a/b', apiKey: 'or' },
        { provider: 'custom', model: 'c', baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'spare' },
      ],
      problems: [],
    })
  })

  it('says which entry cannot be used and why', () => {
    const { choices, problems } = chooseFallbacks([{ provider: 'openai', model: 'gpt-4.1' }], modelOptions)
    expect(choices).toEqual([])
    expect(problems).toEqual([expect.stringMatching(/^fallback_providers\.0 cannot be used: OpenAI needs a key/)])
  })
})

describe('fallback_providers', () => {
  let home: TemporaryHome
  let runtime: Runtime
  let servers: readonly [ModelServer, ModelServer]
  beforeEach(async () => {
    home = await temporaryHome()
    servers = [await startModelServer(), await startModelServer()]
  })
  afterEach(async () => {
    await runtime.close()
    await Promise.all(servers.map((server) => server.close()))
  })

  it('answer the turn when the model does not, and the next turn goes back', async () => {
    const [first, second] = servers
    const config = {
      model: { default: 'm', base_url: first.baseUrl },
      fallback_providers: [{ provider: 'custom', model: 'n', base_url: second.baseUrl }],
    }
    await writeFile(join(home.path, 'config.yaml'), JSON.stringify(config))
    const world = { env: {}, cwd: home.path, user: 'u', tempDir: home.path }
    runtime = await openRuntime({ home: home.path, userHome: home.path, ...world })
    const { agent } = await runtime.createAgent({})
    first.enqueue({ fault: 'status', status: 404, body: { error: { message: 'The model does not exist.' } } })
    second.enqueue({ text: 'from the second' })
    expect(await agent.run('hi').result).toMatchObject({ status: 'completed', text: 'from the second' })
    first.enqueue({ text: 'from the first' })
    expect(await agent.run('hi').result).toMatchObject({ status: 'completed', text: 'from the first' })
  })
})
