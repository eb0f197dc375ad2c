import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ModelServer, startModelServer, type TemporaryHome, temporaryHome } from '@hermes/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openRuntime } from '../open-runtime.js'
import type { ReadyAgent, Runtime } from '../runtime.js'

let home: TemporaryHome
let server: ModelServer
let other: ModelServer
let runtime: Runtime

beforeEach(async () => {
  home = await temporaryHome()
  ;[server, other] = await Promise.all([startModelServer(), startModelServer()])
})
afterEach(async () => {
  await runtime.close()
  await Promise.all([server.close(), other.close()])
})

async function open(config: object = {}): Promise<ReadyAgent> {
  const model = { default: 'm', base_url: server.baseUrl }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify({ model, ...config }))
  const world = { env: {}, cwd: home.path, user: 'u', tempDir: home.path }
  runtime = await openRuntime({ home: home.path, userHome: home.path, ...world })
  return runtime.createAgent({})
}

const name = ({ agent }: ReadyAgent) => runtime.doSessionJob('session-title', agent.sessionId)
const titleOf = async ({ agent }: ReadyAgent) => (await (await runtime.storage()).sessions.get(agent.sessionId))?.title

describe('the title of a session', () => {
  it('is given by the model of the session, cleaned up, booked as its own purpose, and given once', async () => {
    const ready = await open()
    server.enqueue({ text: 'The sum is 4.' }, { text: '**Title: "Adding two and two."**\nMore words' })
    expect(await name(ready)).toBe(false)
    await ready.agent.run('What is 2 + 2?').result
    expect([await name(ready), await titleOf(ready)]).toEqual([true, 'Adding two and two'])
    expect(await name(ready)).toBe(false)
    const requested = JSON.stringify(server.requests[1]!.body.messages)
    expect(requested).toContain('What is 2 + 2?')
    expect(requested).toContain('The sum is 4.')
    expect(server.requests).toHaveLength(2)
    await runtime.close()
    const again = await open()
    expect(await (await runtime.storage()).usage.totals({ by: 'purpose' })).toMatchObject([
      { key: 'title', calls: 1 },
      { key: 'turn', calls: 1 },
    ])
    await again.close()
  })

  it('is asked of the model that config.yaml names, in the language it names', async () => {
    const task = {
      provider: 'custom',
      base_url: other.baseUrl,
      model: 'small',
      language: 'French',
      max_tokens: 50,
      temperature: 0.1,
    }
    const ready = await open({ auxiliary: { title_generation: task } })
    server.enqueue({ text: 'Yes.' })
    other.enqueue({ text: 'Une question' })
    await ready.agent.run('Is it?').result
    expect([await name(ready), await titleOf(ready)]).toEqual([true, 'Une question'])
    expect(other.requests[0]!.body).toMatchObject({ model: 'small', max_tokens: 50, temperature: 0.1 })
    expect(JSON.stringify(other.requests[0]!.body)).toContain('in French')
  })

  it('is not asked for where config.yaml says no, nor over a name that a person gave', async () => {
    const ready = await open({ auxiliary: { title_generation: { enabled: false } } })
    server.enqueue({ text: 'Yes.' })
    await ready.agent.run('Is it?').result
    expect(await name(ready)).toBe(false)
    await runtime.close()
    const named = await open()
    server.enqueue({ text: 'Yes.' })
    await named.agent.run('Is it?').result
    await (await runtime.storage()).sessions.update(named.agent.sessionId, { title: 'Mine' })
    expect(await name(named)).toBe(false)
    expect(await titleOf(named)).toBe('Mine')
    expect(server.requests).toHaveLength(2)
  })

  it('costs the conversation nothing when the model fails, and ends with the home', async () => {
    const ready = await open()
    server.enqueue({ text: 'Yes.' }, { fault: 'status', status: 401 })
    await ready.agent.run('Is it?').result
    await expect(name(ready)).rejects.toThrow('key')
    server.enqueue({ fault: 'stall', text: 'half' })
    const naming = name(ready)
    const ended = expect(naming).rejects.toMatchObject({ name: 'AbortError' })
    await server.waitForRequests(3)
    await runtime.close()
    await ended
  })

  it('does not take a name that another session has', async () => {
    const titles: unknown[] = []
    for (let session = 0; session < 2; session++) {
      const ready = await open()
      server.enqueue({ text: 'Yes.' }, { text: 'Same' })
      await ready.agent.run('Is it?').result
      await name(ready)
      titles.push(await titleOf(ready))
      await runtime.close()
    }
    expect(titles).toEqual(['Same', 'Same #2'])
  })
})

describe('the auxiliary task of looking at images', () => {
  it('goes to who can see: not to the model of the session when that is known to be blind', async () => {
    const model_overrides = { m: { supports_vision: false }, eyes: { supports_vision: true } }
    const fallback_providers = [{ provider: 'custom', model: 'eyes', base_url: other.baseUrl }]
    const ready = await open({ model_overrides, fallback_providers })
    expect(await ready.auxiliaryTask('vision')).toMatchObject({ provider: 'custom', model: 'eyes' })
    expect(await ready.auxiliaryTask('summary')).toMatchObject({ provider: 'custom', model: 'm' })
  })

  it('says what to do where nobody can', async () => {
    const ready = await open({ model_overrides: { m: { supports_vision: false } } })
    await expect(ready.auxiliaryTask('vision')).rejects.toMatchObject({
      code: 'models.no_auxiliary_task',
      message: expect.stringContaining('auxiliary.vision'),
    })
  })
})
