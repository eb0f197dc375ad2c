import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { MARKS } from '@hermes/storage'
import { type ModelServer, startModelServer, temporaryHome } from '@hermes/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openRuntime } from '../open-runtime.js'
import type { ReadyAgent, Runtime } from '../runtime.js'

const SUMMARY = 'The **tax** form was filled in.\n\n**Keywords:** tax, form 12b'

let home: Awaited<ReturnType<typeof temporaryHome>>
let server: ModelServer
let runtime: Runtime

beforeEach(async () => {
  home = await temporaryHome()
  server = await startModelServer()
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
  const world = { env: {}, cwd: home.path, user: 'u', tempDir: home.path }
  runtime = await openRuntime({ home: home.path, userHome: home.path, ...world })
  return runtime.createAgent({})
}

async function talk(ready: ReadyAgent, ...lines: readonly string[]): Promise<string> {
  for (const line of lines) await ready.agent.run(line).result
  return ready.agent.sessionId
}

const summaryOf = async (id: string) => (await runtime.storage()).summaries.get(id)
const summarize = (id: string) => runtime.doSessionJob('session-summary', id)
const TWO = ['Fill in form 12b for my tax.', 'And sign it.'] as const

describe('the summary of a session', () => {
  it('is found by its words, gives tags, and is booked as its own purpose', async () => {
    const id = await talk(await open(), ...TWO)
    expect(await summarize(id)).toBe(true)
    expect(await summaryOf(id)).toMatchObject({
      text: 'The **tax** form was filled in.',
      keywords: ['tax', 'form 12b'],
    })
    expect(JSON.stringify(server.requests.at(-1)!.body)).toContain('Person: And sign it.')
    const storage = await runtime.storage()
    expect(await storage.summaries.search('tax')).toMatchObject([{ sessionId: id }])
    expect(await storage.sessions.tags(id)).toEqual(['form 12b', 'tax'])
    await runtime.close()
    await open()
    const totals = await (await runtime.storage()).usage.totals({ by: 'purpose' })
    expect(totals.map(({ key, calls }) => [key, calls])).toEqual([
      ['summary', 1],
      ['turn', 2],
    ])
  })

  it('gives no tag that has a meaning, and leaves those that are there', async () => {
    const id = await talk(await open(), ...TWO)
    const { sessions } = await runtime.storage()
    await sessions.setTags(id, [MARKS.pinned])
    server.setHandler(() => ({ text: `Done.\n\nKeywords: tax, ${MARKS.archived}` }))
    expect(await summarize(id)).toBe(true)
    expect(await sessions.tags(id)).toEqual([MARKS.pinned, 'tax'])
  })

  it('is written anew only when the session has gone on, and leaves the tags of a person', async () => {
    const ready = await open()
    const id = await talk(ready, ...TWO)
    expect([await summarize(id), await summarize(id)]).toEqual([true, false])
    const before = (await summaryOf(id))!
    const { sessions } = await runtime.storage()
    await sessions.setTags(id, ['of the person'])
    await talk(ready, 'And send it.')
    expect(await summarize(id)).toBe(true)
    expect((await summaryOf(id))!.upToSeq).toBeGreaterThan(before.upToSeq)
    expect(await sessions.tags(id)).toEqual(['of the person'])
  })

  it('is done by the model that config.yaml names, in its language', async () => {
    const task = { provider: 'custom', base_url: server.baseUrl, model: 'small', language: 'French', max_tokens: 99 }
    await summarize(await talk(await open({ session_summary: task }), ...TWO))
    expect(server.requests.at(-1)!.body).toMatchObject({ model: 'small', max_tokens: 99 })
    expect(JSON.stringify(server.requests.at(-1)!.body)).toContain('in French')
  })

  it('is not asked for where config.yaml says no, nor for a session of one exchange or none', async () => {
    const off = await talk(await open({ session_summary: { enabled: false } }), ...TWO)
    expect(runtime.sessionJobs).not.toContain('session-summary')
    expect(await summarize(off)).toBe(false)
    await runtime.close()
    const short = await talk(await open(), 'Hi.')
    expect([await summarize(short), await summarize('there-is-none')]).toEqual([false, false])
    expect(server.requests).toHaveLength(3)
  })

  it('that fails or takes too long says so, and ends with the home', async () => {
    const id = await talk(await open({ session_summary: { timeout: 1 } }), ...TWO)
    server.setHandler(() => ({ fault: 'status', status: 403 }))
    await expect(summarize(id)).rejects.toThrow('403')
    server.setHandler(() => ({ fault: 'stall', text: 'half' }))
    await expect(summarize(id)).rejects.toThrow('It took longer than 1 s.')
    const ended = expect(summarize(id)).rejects.toMatchObject({ name: 'AbortError' })
    await runtime.close()
    await ended
  })
})
