import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ModelServer, startModelServer, type TemporaryHome, temporaryHome } from '@hermes/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openRuntime } from '../open-runtime.js'
import type { Runtime } from '../runtime.js'

let home: TemporaryHome
let server: ModelServer
let runtime: Runtime

beforeEach(async () => {
  home = await temporaryHome()
  server = await startModelServer()
  server.setHandler(() => ({ text: 'ok', usage: { inputTokens: 90, outputTokens: 10, costUsd: 0.25 } }))
})
afterEach(async () => {
  await runtime.close()
  await server.close()
})

async function open(config: object = {}): Promise<Runtime> {
  const model = { default: 'm', base_url: server.baseUrl }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify({ model, ...config }))
  const world = { env: {}, cwd: home.path, user: 'u', tempDir: home.path }
  runtime = await openRuntime({ home: home.path, userHome: home.path, ...world })
  return runtime
}

async function say(text: string, session?: string) {
  const found = session === undefined ? null : await (await runtime.storage()).sessions.get(session)
  const { agent } = await runtime.createAgent(found ? { session: found } : {})
  return { id: agent.sessionId, ...(await agent.run(text).result) }
}

describe('spending', () => {
  it('is in the ledger once the home is closed, with session, purpose and price', async () => {
    await open()
    const { id } = await say('hi')
    await runtime.close()
    await open()
    const { usage: ledger } = await runtime.storage()
    expect(await ledger.totals({ by: 'session' })).toMatchObject([
      {
        key: id,
        calls: 1,
        knownCostUsd: 0.25,
        priceSources: ['reported'],
        usage: { inputTokens: 90, outputTokens: 10 },
      },
    ])
    expect(await ledger.totals({ by: 'purpose' })).toMatchObject([{ key: 'turn' }])
  })

  it('stops at a budget, over sessions and restarts, and goes on where it stopped once the budget is raised', async () => {
    await open({ budget: { day: { usd: 0.5 } } })
    await say('one')
    await say('two')
    const stopped = await say('three')
    expect(stopped).toMatchObject({ status: 'stopped', error: { code: 'models.budget_spent' } })
    await runtime.close()
    await open({ budget: { day: { usd: 0.5 } } })
    expect(await say('four')).toMatchObject({ status: 'stopped' })
    expect(server.requests).toHaveLength(2)
    await runtime.close()
    await open({ budget: { day: { usd: 5 } } })
    expect(await say('go on', stopped.id)).toMatchObject({ status: 'completed' })
    const sent = JSON.stringify(server.requests.at(-1)!.body.messages)
    expect(sent).toContain('three')
    expect(sent).toContain('go on')
  })

  it('of agents that were handed a task counts for the session that handed it on', async () => {
    await open({ budget: { session: { tokens: 250 } } })
    const usage = { inputTokens: 90, outputTokens: 10 }
    server.setHandler(({ body }) => {
      const isChild = !JSON.stringify(body.messages).includes('Hand it on.')
      if (isChild) return { text: 'Done.', usage }
      const isFirst = !body.messages.some(({ role }) => role === 'tool')
      return isFirst
        ? { toolCalls: [{ name: 'delegate_task', args: { goal: 'Do a part of it.' } }], usage }
        : { toolCalls: [{ name: 'todo_read', args: {} }], usage }
    })
    const { id, ...result } = await say('Hand it on.')
    expect(result).toMatchObject({ status: 'stopped', error: { code: 'models.budget_spent' } })
    expect(server.requests).toHaveLength(3)
    await runtime.close()
    await open()
    expect(
      (await (await runtime.storage()).usage.totals({ by: 'session' })).map(({ key, calls }) => [key, calls]),
    ).toEqual([[id, 3]])
  })

  it('of a summary counts for the session that is compacted, and for its turn', async () => {
    await open({ budget: { turn: { tokens: 1_000_000 } }, compression: { threshold_tokens: 6_000, protect_last_n: 1 } })
    server.setHandler(() => ({ text: 'ok', usage: { inputTokens: 7_000, outputTokens: 10, costUsd: 0.25 } }))
    const { agent } = await runtime.createAgent({})
    for (const word of ['one', 'two', 'three']) await agent.run(`${word} `.repeat(3_000)).result
    await runtime.close()
    await open()
    const { usage: ledger } = await runtime.storage()
    expect((await ledger.totals({ by: 'purpose' })).map(({ key }) => key).sort()).toEqual(['summary', 'turn'])
    expect((await ledger.totals({ by: 'session' })).map(({ key }) => key)).toEqual([agent.sessionId])
  })
})
