import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type ModelServer, startModelServer, type TemporaryHome, temporaryHome } from '@hermes/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openRuntime } from '../open-runtime.js'
import type { Runtime } from '../runtime.js'

let home: TemporaryHome
let model: ModelServer
let service: Server
let runtime: Runtime | null
let calls: { path: string; key: unknown; body: Record<string, unknown> }[]
let status: number

beforeEach(async () => {
  home = await temporaryHome()
  model = await startModelServer()
  runtime = null
  calls = []
  status = 200
  service = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    calls.push({
      path: request.url ?? '',
      key: request.headers['x-api-key'],
      body: text === '' ? {} : JSON.parse(text),
    })
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ results: [{ id: '1', memory: 'The boat is blue.' }] }))
  }).listen(0, '127.0.0.1')
  await once(service, 'listening')
})
afterEach(async () => {
  await runtime?.close()
  service.closeAllConnections()
  service.close()
  await model.close()
  await home.remove()
})

const address = () => `http://127.0.0.1:${(service.address() as AddressInfo).port}`
async function open(memory: Record<string, unknown>, env: Record<string, string> = {}): Promise<Runtime> {
  const config = { model: { default: 'm', base_url: model.baseUrl }, memory, checkpoints: { enabled: false } }
  await mkdir(join(home.path, 'work'), { recursive: true })
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify(config))
  const world = { env, cwd: join(home.path, 'work'), user: 'ada', tempDir: home.path }
  runtime = await openRuntime({ home: home.path, userHome: home.path, ...world })
  return runtime
}
const messages = (request: number) => model.requests[request]!.body.messages

describe('a provider that config.yaml names', () => {
  it('is asked about each message and told of each exchange, with the key of the home', async () => {
    const { createAgent } = await open({ provider: 'mem0', base_url: address() }, { MEM0_API_KEY: 'key-9' }).then(
      (opened) => ({
        createAgent: opened.createAgent.bind(opened),
      }),
    )
    model.enqueue({ text: 'Blue.' })
    const { agent } = await createAgent({})
    expect(await agent.run('Which colour has the boat?').result).toMatchObject({ status: 'completed', text: 'Blue.' })
    await runtime!.close()
    expect(calls.map(({ path, key }) => [path, key])).toEqual([
      ['/search', 'key-9'],
      ['/memories', 'key-9'],
    ])
    expect(calls[0]!.body).toMatchObject({ query: 'Which colour has the boat?', user_id: 'ada' })
    expect(calls[1]!.body).toMatchObject({
      user_id: 'ada',
      messages: [{ content: 'Which colour has the boat?' }, { content: 'Blue.' }],
    })
    expect(JSON.stringify(messages(0).at(-1))).toMatch(
      /<memory-context [0-9a-f]+>.*- The boat is blue\..*Which colour/s,
    )
    expect(JSON.stringify(messages(0)[0])).not.toContain('boat')
  })

  it('never stops a turn when it fails', async () => {
    const { longMemory } = await open({ provider: 'mem0', base_url: address() })
    status = 503
    model.enqueue({ text: 'I do not know.' })
    const { agent } = await runtime!.createAgent({})
    expect(await agent.run('Which colour has the boat?').result).toMatchObject({ status: 'completed' })
    expect(JSON.stringify(messages(0))).not.toContain('memory-context')
    await expect(longMemory!.check({ signal: AbortSignal.timeout(5_000) })).rejects.toMatchObject({
      code: 'memory.provider_unavailable',
    })
  })

  it.each([
    [{ provider: 'mem0' }, /needs a key: put MEM0_API_KEY into \.env/],
    [{ provider: 'nobody' }, /"nobody" is none of honcho, mem0, supermemory, local/],
    [{ provider: 'local' }, /needs embeddings: put OPENAI_API_KEY into \.env/],
  ])('says what is missing, and the turn goes on: %j', async (memory, problem) => {
    const { longMemory } = await open(memory)
    model.enqueue({ text: 'Hello.' })
    const { agent } = await runtime!.createAgent({})
    expect(await agent.run('Hello').result).toMatchObject({ status: 'completed' })
    await expect(longMemory!.describe()).rejects.toThrow(problem)
  })

  it('reads its account from the file of the home', async () => {
    await writeFile(
      join(home.path, 'mem0.json'),
      JSON.stringify({ host: address(), user_id: 'eve', api_key: 'file-key' }),
    )
    const { longMemory } = await open({ provider: 'mem0' })
    expect(await longMemory!.describe()).toEqual({ address: address(), userId: 'eve' })
  })

  it('uses no other account where the file of the home is broken, and quotes nothing of it', async () => {
    await writeFile(join(home.path, 'mem0.json'), '{"api_key": "file-key", oops')
    const { longMemory } = await open({ provider: 'mem0' })
    await expect(longMemory!.describe()).rejects.toThrow(/mem0\.json cannot be used: it is not valid JSON\. Fix it/)
  })

  it('is not there without one', async () => {
    expect((await open({})).longMemory).toBeNull()
  })
})
