import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LogFields, silentLogger } from '@hermes/contracts'
import { createFakeClock } from '@hermes/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { PRICES_RELEASE, packagedFacts } from './genai-prices.js'
import { createModelDirectory, type ModelDirectoryOptions } from './index.js'

const DAY_MS = 86_400_000
const NOW_MS = Date.UTC(2026, 10, 1)
let cacheDir: string
const closers: (() => void)[] = []
beforeEach(async () => {
  cacheDir = await mkdtemp(join(tmpdir(), 'hermes-models-'))
})
afterEach(async () => {
  for (const close of closers.splice(0)) close()
  await rm(cacheDir, { recursive: true, force: true })
})

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const clock = () => createFakeClock(NOW_MS)
const directory = (options: Partial<ModelDirectoryOptions> = {}) =>
  createModelDirectory({ cacheDir, fetchTo: () => fetch, clock: clock(), ...options })

const anthropic = { provider: 'anthropic', baseUrl: 'https://api.anthropic.com', model: 'claude-sonnet-4-5' }
const unknown = { provider: 'custom', baseUrl: 'https://llm.example/v1', model: 'mystery-7b' }

const published = {
  anthropic: {
    id: 'anthropic',
    models: {
      'claude-sonnet-4-5': {
        tool_call: true,
        reasoning: true,
        modalities: { input: ['text', 'image'], output: ['text'] },
        limit: { context: 900_000, output: 64_000 },
        cost: { input: 4, output: 16, cache_read: 0.4, context_over_200k: { input: 8, output: 24 } },
      },
    },
  },
  broken: 3,
}

describe('facts about a model', () => {
  it('come from the package when nobody else says more, with the day of its release', async () => {
    const facts = await directory().facts(anthropic)
    expect(facts.prices).toMatchObject({
      source: 'genai-prices',
      asOf: PRICES_RELEASE.asOf,
      value: { inputPerMillion: 3, outputPerMillion: 15, cacheReadPerMillion: 0.3, cacheWritePerMillion: 3.75 },
    })
    expect(facts.contextLength.source).toBe('genai-prices')
    expect(facts.contextLength.value).toBeGreaterThanOrEqual(200_000)
  })

  it('are kept, so that the package is not loaded again within a day', async () => {
    const first = await directory().facts(anthropic)
    const file = join(cacheDir, 'models', 'packaged.json')
    const text = await readFile(file, 'utf8')
    await writeFile(file, text.replaceAll('"inputPerMillion":3,', '"inputPerMillion":33,'))
    expect((await directory().facts(anthropic)).prices?.value.inputPerMillion).toBe(33)
    const later = createFakeClock(NOW_MS + DAY_MS)
    expect(await directory({ clock: later }).facts(anthropic)).toEqual(first)
  })

  it('never give the price of another endpoint', async () => {
    for (const model of ['gpt-5', 'claude-sonnet-4-5', 'mystery-7b'])
      expect((await directory().facts({ ...unknown, model })).prices).toBeNull()
  })

  it('fall back on the family of a name, and then on a default', async () => {
    const window = async (model: string) => (await directory().facts({ ...unknown, model })).contextLength
    expect(await window('my-qwen3-finetune')).toEqual({ value: 131_072, source: 'family' })
    expect(await window('anthropic/claude-sonnet-4.6')).toEqual({ value: 1_000_000, source: 'family' })
    expect(await window('mystery-7b')).toEqual({ value: 256_000, source: 'default' })
  })

  it('come from the strongest source: configuration, what was learned, the endpoint, models.dev, the package', async () => {
    const url = await serve((_request, response) => response.end(JSON.stringify(published)))
    const endpoint = await serve((_request, response) =>
      response.end(JSON.stringify({ data: [{ id: anthropic.model, context_length: 700_000 }] })),
    )
    const made = directory({
      modelsDevUrl: url,
      fetchTo: (baseUrl) => (baseUrl === url ? fetch : redirected(endpoint)),
    })
    const source = async (requested = {}) => (await made.facts({ ...anthropic, ...requested })).contextLength
    expect(await source()).toMatchObject({ source: 'genai-prices' })
    expect(await made.refresh()).toBe('updated')
    expect(await source()).toEqual({ value: 900_000, source: 'models.dev' })
    await made.probe({ ...anthropic, apiKey: 'k' })
    expect(await source()).toEqual({ value: 700_000, source: 'endpoint' })
    await made.learn(anthropic, 65_536)
    expect(await source()).toEqual({ value: 65_536, source: 'learned' })
    expect(await source({ contextLength: 50_000 })).toEqual({ value: 50_000, source: 'config' })
  })

  it('are overridden by name, at one endpoint or at all, and for models that nobody knows', async () => {
    const overrides = {
      'claude-sonnet-4-5': { context_window: 10_000, supports_vision: false, input_price: 1, output_price: 2 },
      'custom/mystery-7b': { max_output_tokens: 5_000 },
      _default: { context_window: 12_345 },
    }
    const known = await directory({ overrides }).facts(anthropic)
    expect(known.contextLength).toEqual({ value: 10_000, source: 'config' })
    expect(known.abilities.vision).toBe(false)
    expect(known.prices).toEqual({
      source: 'config',
      asOf: null,
      value: { inputPerMillion: 1, outputPerMillion: 2 },
    })
    expect(await directory({ overrides }).facts(unknown)).toMatchObject({
      contextLength: { value: 12_345, source: 'config' },
      maxOutputTokens: { value: 5_000, source: 'config' },
    })
  })

  it('give the window alone from what is at hand', async () => {
    const window = async (requested = {}) => (await directory().window({ ...anthropic, ...requested })).value
    expect(await window()).toBe(200_000)
    await expect(readdir(cacheDir)).resolves.toEqual([])
    const { contextLength } = await directory().facts(anthropic)
    expect(await window()).toBe(contextLength.value)
    await directory().learn(anthropic, 40_000)
    expect(await window()).toBe(40_000)
    expect(await window({ contextLength: 9_000 })).toBe(9_000)
  })

  it('believe a refusal for a week, until it is forgotten, and only what the family can have', async () => {
    const minimax = { ...unknown, model: 'MiniMax-M2' }
    const source = async (requested: typeof unknown, nowMs = NOW_MS) => {
      const made = directory({ clock: createFakeClock(nowMs) })
      const window = await made.window(requested)
      expect((await made.facts(requested)).contextLength).toEqual(window)
      return window
    }
    await directory().learn(minimax, 2_013)
    expect(await source(minimax)).toEqual({ value: 204_800, source: 'family' })
    await directory().learn(minimax, 32_768)
    expect(await source(minimax)).toEqual({ value: 32_768, source: 'learned' })
    expect((await source(minimax, NOW_MS + 8 * DAY_MS)).source).toBe('family')
    await directory().learn(unknown, 100)
    expect((await source(unknown)).source).toBe('default')
    // What an older version learned is weighed too.
    const file = join(cacheDir, 'models', 'learned.json')
    await writeFile(file, (await readFile(file, 'utf8')).replace('32768', '2013'))
    expect((await source(minimax)).source).toBe('family')
    await directory().learn(minimax, 32_768)
    await directory().forget()
    expect((await source(minimax)).source).toBe('family')
  })

  it('survive a damaged cache and a home that cannot be written to', async () => {
    await directory().learn(unknown, 4_096)
    const folder = join(cacheDir, 'models')
    for (const name of await readdir(folder)) await writeFile(join(folder, name), '{"half')
    expect((await directory().facts(unknown)).contextLength.source).toBe('default')
    const nowhere = directory({ cacheDir: join(folder, 'learned.json') })
    await nowhere.learn(unknown, 4_096)
    expect((await nowhere.facts(unknown)).contextLength.source).toBe('default')
  })
})

/** Reaches `origin` whatever address is asked for. */
function redirected(origin: string): typeof fetch {
  return (input, init) => fetch(`${origin}${new URL(String(input)).pathname}`, init)
}

describe('prices', () => {
  it('say where they come from, rise with the size of a request, and know prefixes kept for an hour', async () => {
    const url = await serve((_request, response) => response.end(JSON.stringify(published)))
    const made = directory({ modelsDevUrl: url })
    expect(await made.prices({ ...anthropic, cacheTtl: '1h' })).toMatchObject({
      source: `genai-prices ${PRICES_RELEASE.asOf}`,
      cacheWritePerMillion: 6,
    })
    await made.refresh()
    expect(await made.prices(anthropic)).toEqual({
      source: 'models.dev 2026-11-01',
      inputPerMillion: 4,
      outputPerMillion: 16,
      cacheReadPerMillion: 0.4,
      tiers: [{ aboveInputTokens: 200_000, inputPerMillion: 8, outputPerMillion: 24, cacheReadPerMillion: 0.4 }],
    })
    expect(await made.prices(unknown)).toBeNull()
  })

  it('of prefixes kept for an hour come from the package, else are twice the input, where a list has none', async () => {
    const cost = {
      input: 3,
      output: 15,
      cache_write: 3.75,
      context_over_200k: { input: 7, output: 22, cache_write: 8.75 },
    }
    const models = {
      'claude-sonnet-4-5': { cost },
      'claude-of-tomorrow': { cost },
      'keeps-nothing': { cost: { input: 1, output: 2 } },
    }
    const url = await serve((_request, response) => response.end(JSON.stringify({ anthropic: { models } })))
    const made = directory({ modelsDevUrl: url })
    await made.refresh()
    const hour = (model: string) => made.prices({ ...anthropic, model, cacheTtl: '1h' })
    expect(await hour('claude-sonnet-4-5')).toMatchObject({
      source: 'models.dev 2026-11-01',
      inputPerMillion: 3,
      cacheWritePerMillion: 6,
    })
    expect(await hour('claude-of-tomorrow')).toMatchObject({
      cacheWritePerMillion: 6,
      tiers: [{ inputPerMillion: 7, cacheWritePerMillion: 14 }],
    })
    expect(await hour('keeps-nothing')).not.toHaveProperty('cacheWritePerMillion')
    expect(await made.prices({ ...anthropic, cacheTtl: '5m' })).toMatchObject({ cacheWritePerMillion: 3.75 })
  })

  it('of a package with tiers are brought to whole requests', () => {
    const requested = { provider: 'openai', baseUrl: 'https://api.openai.com/v1', model: 'gpt-5.5' }
    expect(packagedFacts(requested, NOW_MS)?.prices).toMatchObject({
      inputPerMillion: 5,
      outputPerMillion: 30,
      tiers: [{ inputPerMillion: 10, outputPerMillion: 45, cacheReadPerMillion: 1 }],
    })
  })

  it('name the release of the package that is installed', async () => {
    const file = createRequire(import.meta.url).resolve('@pydantic/genai-prices')
    const manifest = JSON.parse(await readFile(join(file, '../../package.json'), 'utf8')) as { version: string }
    expect(PRICES_RELEASE.version).toBe(manifest.version)
  })
})

describe('refresh', () => {
  it('asks once a day at most, also after a failure, unless it is told to', async () => {
    let requested = 0
    const url = await serve((_request, response) => {
      requested++
      if (requested === 1) response.writeHead(500)
      response.end(requested === 2 ? '<html>' : JSON.stringify(published))
    })
    const time = clock()
    const reasons: unknown[] = []
    const logger = { ...silentLogger, info: (_: string, fields?: LogFields) => void reasons.push(fields?.['error']) }
    const made = directory({ modelsDevUrl: url, clock: time, logger })
    expect(await made.refresh()).toBe('failed')
    expect(await made.refresh()).toBe('fresh')
    expect(await made.refresh({ force: true })).toBe('failed')
    expect(reasons).toEqual(['the server answered 500', expect.stringMatching(/not valid JSON/)])
    time.advance(DAY_MS)
    expect(await made.refresh()).toBe('updated')
    expect(await directory({ modelsDevUrl: url, clock: time }).refresh()).toBe('fresh')
    expect(requested).toBe(3)
    expect(await made.names('anthropic')).toEqual(['claude-sonnet-4-5'])
    expect(await readdir(join(cacheDir, 'models'))).toEqual(['models-dev-tried.json', 'models-dev.json'])
  })

  it('keeps the old catalogue when the network is gone, and does not reject on abort', async () => {
    const url = await serve((_request, response) => response.end(JSON.stringify(published)))
    await directory({ modelsDevUrl: url }).refresh()
    const gone = directory({ modelsDevUrl: 'http://127.0.0.1:1/api.json' })
    expect(await gone.refresh({ force: true })).toBe('failed')
    expect(await gone.refresh({ force: true, signal: AbortSignal.abort() })).toBe('failed')
    expect((await gone.facts(anthropic)).contextLength.source).toBe('models.dev')
  })
})

describe('probe', () => {
  const servers: readonly (readonly [string, string, Record<string, unknown>, object])[] = [
    ['custom', '/v1/models', { data: [{ id: 'm', max_model_len: 32_768 }] }, { value: 32_768 }],
    [
      'openrouter',
      '/v1/models',
      { data: [{ id: 'm', context_length: 9, top_provider: { context_length: 8 } }] },
      { value: 8 },
    ],
    ['llamacpp', '/props', { default_generation_settings: { n_ctx: 8_192 } }, { value: 8_192 }],
    ['lmstudio', '/api/v0/models/m', { max_context_length: 9, loaded_context_length: 4_096 }, { value: 4_096 }],
    ['ollama', '/api/show', { parameters: 'num_ctx 16384', model_info: { 'q.context_length': 4 } }, { value: 16_384 }],
    ['ollama', '/api/ps', { models: [{ name: 'm:latest', context_length: 4_096 }] }, { value: 4_096 }],
    ['custom', '/api/ps', { models: [{ name: 'm', context_length: 16_384 }] }, { value: 16_384 }],
  ]
  it.each(servers)('asks %s at %s', async (provider, path, body, contextLength) => {
    const paths: string[] = []
    const origin = await serve((request, response) => {
      paths.push(String(request.url))
      if (request.url === path) response.end(JSON.stringify(body))
      else response.writeHead(404).end('{}')
    })
    const requested = { provider, baseUrl: `${origin}/v1`, model: 'm' }
    const made = directory()
    await made.probe({ ...requested, apiKey: null })
    expect((await made.facts(requested)).contextLength).toMatchObject({ ...contextLength, source: 'endpoint' })
    const before = paths.length
    await made.probe({ ...requested, apiKey: null })
    // What is loaded on this machine changes. Who answered is known, so nobody else is asked.
    expect(paths.slice(before)).toContain(path)
    expect(paths.length - before).toBe(path.startsWith('/api/show') || path === '/api/ps' ? 2 : 1)
  })

  it('takes what Ollama has loaded over what it could load, and never what a model was trained for', async () => {
    const loaded: { name: string; context_length: number }[] = []
    const capabilities = ['tools']
    const origin = await serve((request, response) => {
      if (request.url === '/api/ps') return void response.end(JSON.stringify({ models: loaded }))
      const model_info = { 'qwen3.context_length': 262_144 }
      if (request.url === '/api/show') return void response.end(JSON.stringify({ model_info, capabilities }))
      response.writeHead(404).end('{}')
    })
    const requested = { provider: 'ollama', baseUrl: `${origin}/v1`, model: 'qwen3' }
    const window = async (model = 'qwen3') => {
      await directory().probe({ ...requested, model, apiKey: null })
      const facts = await directory().facts({ ...requested, model })
      expect(await directory().window({ ...requested, model })).toEqual(facts.contextLength)
      return facts.contextLength
    }
    expect(await window()).toEqual({ value: 32_768, source: 'default' })
    expect((await directory().facts(requested)).abilities.tools).toBe(true)
    loaded.push({ name: 'qwen3:latest', context_length: 4_096 })
    expect(await window()).toEqual({ value: 4_096, source: 'endpoint' })
    loaded[0]!.context_length = 65_536
    expect(await window()).toEqual({ value: 65_536, source: 'endpoint' })
    expect(await window('qwen3-coder:480b-cloud')).toEqual({ value: 262_144, source: 'endpoint' })
  })

  it('asks everything again when another server is behind the address', async () => {
    let path = '/v1/models'
    let body: object = { data: [{ id: 'm', max_model_len: 32_768 }] }
    const origin = await serve((request, response) => {
      if (request.url === path) response.end(JSON.stringify(body))
      else response.writeHead(404).end('{}')
    })
    const requested = { provider: 'custom', baseUrl: `${origin}/v1`, model: 'm' }
    await directory().probe({ ...requested, apiKey: null })
    ;[path, body] = ['/props', { default_generation_settings: { n_ctx: 8_192 } }]
    await directory().probe({ ...requested, apiKey: null })
    expect((await directory().window(requested)).value).toBe(8_192)
  })

  it('leaves a server on this machine that tells nothing alone for an hour, unless told to try again', async () => {
    let requests = 0
    let status = 503
    const origin = await serve((_request, response) => {
      requests++
      response.writeHead(status).end('{}')
    })
    const clock = createFakeClock(NOW_MS)
    const requested = { provider: 'custom', baseUrl: `${origin}/v1`, model: 'm', apiKey: null }
    const made = directory({ clock })
    const asks = async (isAgain = false) => {
      requests = 0
      await made.probe({ ...requested, isAgain })
      return requests > 0
    }
    // What fails says nothing about what the server knows.
    expect([await asks(), await asks()]).toEqual([true, true])
    status = 404
    expect([await asks(), await asks(), await asks(true)]).toEqual([true, false, true])
    await clock.advance(3_600_000)
    expect(await asks()).toBe(true)
  })

  it('asks an endpoint of Anthropic in its own way, and Bedrock not at all', async () => {
    const seen: (readonly [url: string | undefined, headers: object])[] = []
    const origin = await serve((request, response) => {
      seen.push([request.url, request.headers])
      const can = { image_input: { supported: true }, thinking: { supported: false } }
      const model = { type: 'model', id: 'm', max_input_tokens: 500_000, max_tokens: 64_000, capabilities: can }
      response.end(JSON.stringify(model))
    })
    const made = directory()
    const requested = { provider: 'anthropic', baseUrl: origin, model: 'm' }
    await made.probe({ ...requested, apiKey: 'k', headers: { 'x-team': 'blue' } })
    const headers = {
      'x-api-key': 'k',
      'anthropic-version': expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      'x-team': 'blue',
    }
    expect(seen).toEqual([['/v1/models/m', expect.objectContaining(headers)]])
    expect(seen[0]![1]).not.toHaveProperty('authorization')
    expect(await made.facts(requested)).toMatchObject({
      contextLength: { value: 500_000, source: 'endpoint' },
      maxOutputTokens: { value: 64_000, source: 'endpoint' },
      abilities: { vision: true, reasoning: false },
    })
    await made.probe({ ...requested, provider: 'custom', api: 'anthropic-messages', apiKey: 'k' })
    expect(seen.map(([url]) => url)).toEqual(['/v1/models/m', '/v1/models/m'])
    await made.probe({ ...requested, provider: 'bedrock', apiKey: 'k' })
    expect(seen).toHaveLength(2)
  })

  it('keeps nothing of an endpoint that does not say, and asks it again', async () => {
    const origin = await serve((_request, response) => response.writeHead(500).end('no'))
    const requested = { provider: 'custom', baseUrl: `${origin}/v1`, model: 'm' }
    await directory().probe({ ...requested, apiKey: null })
    await directory().probe({ ...requested, baseUrl: 'http://127.0.0.1:1/v1', apiKey: null })
    expect((await directory().facts(requested)).contextLength.source).toBe('default')
  })
})
