import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger } from '@hermes/contracts'
import { userText } from '@hermes/contracts/conversation'
import type { ModelEvent } from '@hermes/contracts/model'
import { createModelClient } from '@hermes/models'
import { createFakeClock, type ModelServer, startModelServer } from '@hermes/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { HomeModels, type HomeModelsOptions } from './home-models.js'
import type { ModelChoice } from './model-choice.js'

let cacheDir: string
let server: ModelServer
beforeEach(async () => {
  cacheDir = await mkdtemp(join(tmpdir(), 'hermes-home-models-'))
  server = await startModelServer()
})
afterEach(async () => {
  await server.close()
  await rm(cacheDir, { recursive: true, force: true })
})

/** An endpoint that is not on this machine; what goes there reaches the scripted server. */
const REMOTE = 'http://models.example/v1'
const fetchRemote: typeof fetch = (url, init) => fetch(String(url).replace(REMOTE, server.baseUrl), init)

const choice = (): ModelChoice => ({
  provider: 'custom',
  catalogueId: 'custom',
  model: 'mystery',
  baseUrl: REMOTE,
  apiKey: null,
})

/** The same on this machine. */
const here = (): ModelChoice => ({ ...choice(), baseUrl: server.baseUrl })

function open(over: Partial<HomeModelsOptions> = {}) {
  const config = { model_overrides: {}, models_dev: { refresh: false } }
  return new HomeModels({
    cacheDir,
    config,
    fetchTo: () => fetchRemote,
    clock: { now: createFakeClock().now, sleep: async () => undefined },
    logger: silentLogger,
    ...over,
  })
}

async function ask(models: HomeModels, words = 'hi', chosen = choice()): Promise<ModelEvent[]> {
  const client = createModelClient({ provider: 'custom', model: 'mystery', baseUrl: server.baseUrl, maxRetries: 0 })
  const events: ModelEvent[] = []
  for await (const event of models
    .watch(client, [chosen])
    .stream({ messages: [userText(words)], tools: [] }, { purpose: 'turn' }))
    events.push(event)
  return events
}

const tooLong = (message: string) =>
  ({ fault: 'status', status: 400, body: { error: { message, code: 'context_length_exceeded' } } }) as const

describe('HomeModels', () => {
  it('remembers the window that a refusal names, in the next process too', async () => {
    const models = open()
    expect(await models.window(choice())).toBe(256_000)
    server.enqueue(tooLong("This model's maximum context length is 32768 tokens."))
    await expect(ask(models)).rejects.toMatchObject({ code: 'transport.context_overflow' })
    expect(await models.window(choice())).toBe(32_768)
    expect(await open().window(choice())).toBe(32_768)
    server.enqueue(tooLong('maximum context length is 99999 tokens'))
    await expect(ask(models)).rejects.toThrow()
    expect(await open().window(choice())).toBe(32_768)
  })

  it('remembers where a tier for long contexts begins', async () => {
    const models = open()
    const message = 'Extra usage is required for long context requests.'
    server.enqueue({ fault: 'status', status: 429, body: { error: { message } } })
    await expect(ask(models)).rejects.toMatchObject({ code: 'transport.long_context_tier' })
    expect(await open().window(choice())).toBe(200_000)
  })

  it('knows a window without waiting once it was looked up, or where it is configured', async () => {
    const models = open()
    expect(models.knownWindow({ ...choice(), contextLength: 30_000 })).toBe(30_000)
    expect(models.knownWindow(choice())).toBeUndefined()
    await models.window(choice())
    expect(models.knownWindow(choice())).toBe(256_000)
  })

  it('takes the next smaller usual window where a refusal names none', async () => {
    server.enqueue(tooLong('Input is too long for requested model.'))
    await expect(ask(open(), 'word '.repeat(20_000))).rejects.toThrow()
    expect(await open().window(choice())).toBe(16_000)
  })

  it('names the models that were likely meant where the endpoint does not know one', async () => {
    const unknown = (message: string) => ({ fault: 'status', status: 404, body: { error: { message } } }) as const
    server.enqueue(unknown('The model `scriptd` does not exist.'), unknown('The model `zzz` does not exist.'))
    const names = async (model: string) => {
      const client = createModelClient({ provider: 'custom', model, baseUrl: server.baseUrl, maxRetries: 0 })
      const request = { messages: [userText('hi')], tools: [] }
      const chosen = { ...choice(), model }
      for await (const _ of open().watch(client, [chosen]).stream(request, { purpose: 'turn' }));
    }
    await expect(names('scriptd')).rejects.toMatchObject({
      code: 'transport.model_not_found',
      message: expect.stringMatching(/"scriptd".* Did you mean scripted\?$/),
    })
    await expect(names('zzz')).rejects.toThrow(/^(?!.*Did you mean)/)
  })

  it('learns nothing from another failure, or about a model that only stood in', async () => {
    server.enqueue({ fault: 'status', status: 500 }, tooLong('maximum context length is 32768 tokens'))
    await expect(ask(open())).rejects.toThrow()
    await expect(ask(open(), 'hi', { ...choice(), model: 'other' })).rejects.toThrow()
    expect(await open().window(choice())).toBe(256_000)
  })

  it('asks the endpoint about its model after the first answer, once', async () => {
    let requested = 0
    const list = createServer((_request, response) => {
      requested++
      response.end(JSON.stringify({ data: [{ id: 'mystery', max_model_len: 48_000 }] }))
    }).listen(0, '127.0.0.1')
    await once(list, 'listening')
    const origin = `http://127.0.0.1:${(list.address() as AddressInfo).port}`
    const models = open({ fetchTo: () => (_url, init) => fetch(origin, init) })
    server.setHandler(() => ({ text: 'ok' }))
    await ask(models)
    await ask(models)
    await expect.poll(() => models.window(choice())).toBe(48_000)
    expect(requested).toBe(2)
    await models.close()
    list.closeAllConnections()
    list.close()
  })

  it('fetches the catalogue of models for endpoints elsewhere only, and never when that is switched off', async () => {
    const fetched: string[] = []
    const fetchTo = (baseUrl: string): typeof fetch => {
      return async () => {
        fetched.push(baseUrl)
        return new Response('{"x":{"models":{"m":{}}}}')
      }
    }
    server.setHandler(() => ({ text: 'ok' }))
    const elsewhere = { ...choice(), catalogueId: 'openai', baseUrl: 'https://api.openai.com/v1' }
    const off = { model_overrides: {}, models_dev: { refresh: false } }
    const on = { model_overrides: {}, models_dev: { refresh: true } }
    for (const [chosen, config] of [
      [here(), on],
      [elsewhere, off],
      [elsewhere, on],
    ] as const) {
      const models = open({ fetchTo, config })
      const before = fetched.length
      await ask(models, 'hi', chosen)
      await expect.poll(() => fetched.length).toBeGreaterThan(before)
      await (await models.directory()).facts({ provider: 'openai', baseUrl: elsewhere.baseUrl, model: 'gpt-4.1' })
    }
    await expect.poll(() => fetched.at(-1)).toBe('https://models.dev/api.json')
    expect(fetched.filter((url) => url.includes('models.dev'))).toHaveLength(1)
    await expect.poll(() => readFile(join(cacheDir, 'models/models-dev.json'), 'utf8')).toContain('"providers"')
  })

  it('looks up prices for endpoints elsewhere, and for this machine only what is configured', async () => {
    const openai = { ...choice(), catalogueId: 'openai', baseUrl: 'https://api.openai.com/v1', model: 'gpt-4.1' }
    const prices = async (chosen: ModelChoice, models = open()) => {
      const of = models.pricesOf(chosen, '5m')
      return typeof of === 'function' ? of(chosen.model) : of
    }
    expect(await prices(openai)).toMatchObject({ inputPerMillion: 2, outputPerMillion: 8 })
    expect(await prices(here())).toBeNull()
    const config = {
      model_overrides: { mystery: { input_price: 1, output_price: 2 } },
      models_dev: { refresh: false },
    }
    expect(await prices(here(), open({ config }))).toMatchObject({ inputPerMillion: 1, source: 'config' })
  })
})
