import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createFakeClock, type FakeClock, type ModelServer, startModelServer, temporaryHome } from '@hermes/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openRuntime } from '../open-runtime.js'
import type { ReadyAgent, Runtime } from '../runtime.js'

const SUMMARY = 'The **tax** form was filled in.\n\n**Keywords:** tax, form 12b'

let home: Awaited<ReturnType<typeof temporaryHome>>
let server: ModelServer
let clock: FakeClock
let runtime: Runtime

beforeEach(async () => {
  home = await temporaryHome()
  server = await startModelServer()
  clock = createFakeClock(Date.parse('2026-03-01T12:00:00Z'))
  server.setHandler(({ body }) => ({
    text: JSON.stringify(body.messages).includes('Sum up the conversation') ? SUMMARY : 'Done.',
  }))
})
afterEach(async () => {
  await runtime.close()
  await server.close()
})

async function open(auxiliary: object = {}): Promise<ReadyAgent> {
  const model = { default: 'm', base_url: server.baseUrl }
  const tasks = { title_generation: { enabled: false }, ...auxiliary }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify({ model, auxiliary: tasks }))
  const world = { env: {}, cwd: home.path, user: 'u', tempDir: home.path, clock }
  runtime = await openRuntime({ home: home.path, userHome: home.path, ...world })
  return runtime.createAgent({})
}

async function talk(ready: ReadyAgent, ...lines: readonly string[]): Promise<string> {
  for (const line of lines) await ready.agent.run(line).result
  return ready.agent.sessionId
}

const summaryOf = async (id: string) => (await runtime.storage()).summaries.get(id)
const requested = () => server.requests.filter(({ body }) => JSON.stringify(body).includes('Sum up the conversation'))
const TWO = ['Fill in form 12b for my tax.', 'And sign it.'] as const

describe('the summary of a session', () => {
  it('is written a moment after it was left, found by its words and booked as its own purpose', async () => {
    const ready = await open()
    const id = await talk(ready, ...TWO)
    await ready.close()
    expect(requested()).toHaveLength(0)
    await clock.advance(5_000)
    await expect
      .poll(() => summaryOf(id))
      .toMatchObject({
        text: 'The **tax** form was filled in.',
        keywords: ['tax', 'form 12b'],
      })
    expect(JSON.stringify(requested()[0]!.body)).toContain('Person: And sign it.')
    const storage = await runtime.storage()
    expect(await storage.summaries.search('tax')).toMatchObject([{ sessionId: id }])
    await expect.poll(() => storage.sessions.tags(id)).toEqual(['form 12b', 'tax'])
    await runtime.close()
    await open()
    const totals = await (await runtime.storage()).usage.totals({ by: 'purpose' })
    expect(totals.map(({ key, calls }) => [key, calls])).toEqual([
      ['summary', 1],
      ['turn', 2],
    ])
  })

  it('keeps nobody who leaves waiting: what one home left undone, the next one does beside its first answer', async () => {
    const first = await open()
    const id = await talk(first, ...TWO)
    await first.close()
    await runtime.close()
    expect(requested()).toHaveLength(0)
    await clock.advance(600_001)
    const second = await open()
    await talk(second, 'Something else.')
    void runtime.finishSessions()
    await clock.advance(5_000)
    await expect.poll(() => summaryOf(id)).not.toBeNull()
    expect(requested()).toHaveLength(1)
    expect(await summaryOf(second.agent.sessionId)).toBeNull()
  })

  it('is written anew only when the session has gone on', async () => {
    const ready = await open()
    const id = await talk(ready, ...TWO)
    await ready.close()
    await clock.advance(5_000)
    await expect.poll(() => summaryOf(id)).not.toBeNull()
    const before = (await summaryOf(id))!
    const session = (await (await runtime.storage()).sessions.get(id))!
    await expect.poll(async () => (await runtime.storage()).sessions.tags(id)).toHaveLength(2)
    await (await runtime.storage()).sessions.setTags(id, ['of the person'])
    const unchanged = await runtime.createAgent({ session })
    await unchanged.close()
    await clock.advance(5_000)
    const again = await runtime.createAgent({ session })
    await talk(again, 'And send it.')
    await again.close()
    await clock.advance(5_000)
    await expect.poll(async () => (await summaryOf(id))!.upToSeq).toBeGreaterThan(before.upToSeq)
    expect(requested()).toHaveLength(2)
    await runtime.close()
    await open()
    expect(await (await runtime.storage()).sessions.tags(id)).toEqual(['of the person'])
  })

  it('is done by the model that config.yaml names, in its language', async () => {
    const task = { provider: 'custom', base_url: server.baseUrl, model: 'small', language: 'French', max_tokens: 99 }
    const ready = await open({ session_summary: task })
    const id = await talk(ready, ...TWO)
    await ready.close()
    await clock.advance(5_000)
    await expect.poll(() => summaryOf(id)).not.toBeNull()
    expect(requested()[0]!.body).toMatchObject({ model: 'small', max_tokens: 99 })
    expect(JSON.stringify(requested()[0]!.body)).toContain('in French')
  })

  it('is not asked for where config.yaml says no, nor for a session of one exchange', async () => {
    const ready = await open({ session_summary: { enabled: false } })
    await talk(ready, ...TWO)
    await ready.close()
    await clock.advance(5_000)
    await runtime.close()
    const short = await open()
    await talk(short, 'Hi.')
    await short.close()
    await clock.advance(5_000)
    await runtime.close()
    expect(requested()).toHaveLength(0)
  })

  it('that fails leaves the others to be written', async () => {
    const first = await open()
    const id = await talk(first, ...TWO)
    await runtime.close()
    await clock.advance(600_001)
    const second = await open()
    const other = await talk(second, ...TWO)
    server.setHandler(({ body }) =>
      JSON.stringify(body).includes('Sum up') && requested().length === 1
        ? { fault: 'status', status: 403 }
        : { text: SUMMARY },
    )
    await second.close()
    await clock.advance(5_000)
    await expect.poll(() => summaryOf(id)).not.toBeNull()
    expect(await summaryOf(other)).toBeNull()
  })
})
