// What nobody saved is looked for once more before a session loses it: when it is compacted, and after its end.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type CapturedRequest,
  createFakeClock,
  type FakeClock,
  type ModelServer,
  type ModelStep,
  startModelServer,
  type TemporaryHome,
  temporaryHome,
} from '@hermes/testkit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openRuntime } from '../open-runtime.js'
import type { ReadyAgent, Runtime } from '../runtime.js'

const RECORD = '## Active Task\nread on\n\n## Goal\nread\n\n## Completed Actions\n1. read a lot'
const KEPT = { operations: [{ target: 'user', action: 'add', content: 'Prefers metric units.' }] }

let home: TemporaryHome
let server: ModelServer
let clock: FakeClock
let runtime: Runtime
const script: ModelStep[] = []
let summary: ModelStep

beforeEach(async () => {
  home = await temporaryHome()
  server = await startModelServer()
  clock = createFakeClock(Date.parse('2026-03-01T12:00:00Z'))
  summary = { text: 'About notes.' }
  await writeFile(join(home.path, 'notes.txt'), 'a line of notes\n'.repeat(400))
  server.setHandler((request) => {
    if (isReview(request)) return { text: JSON.stringify(KEPT) }
    const text = JSON.stringify(request.body.messages)
    if (text.includes('You write the record')) return { text: RECORD }
    return text.includes('Sum up the conversation') ? summary : (script.shift() ?? { text: 'Done.' })
  })
  await open()
})
afterEach(async () => {
  await runtime.close()
  await server.close()
  await home.remove()
})

async function open(auxiliary: object = {}): Promise<void> {
  const model = { provider: 'custom', default: 'm', base_url: server.baseUrl, context_length: 100_000 }
  const tasks = { title_generation: { enabled: false }, ...auxiliary }
  const config = { model, auxiliary: tasks, memory: { flush_min_turns: 2 } }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify(config))
  const place = { home: home.path, userHome: home.path, cwd: home.path, tempDir: home.path }
  runtime = await openRuntime({ ...place, env: {}, user: 'me', yolo: true, clock })
}

const isReview = ({ body }: CapturedRequest) => JSON.stringify(body.messages).includes('what an agent remembers')
const reviews = () => server.requests.filter(isReview)
const remembered = () => readFile(join(home.path, 'memories', 'USER.md'), 'utf8').catch(() => '')

async function talk(): Promise<ReadyAgent> {
  const ready = await runtime.createAgent({})
  for (let page = 0; page < 12; page++)
    script.push({ toolCalls: [{ name: 'read_file', args: { path: 'notes.txt', offset: 1 + page * 30, limit: 30 } }] })
  await ready.agent.run('Read the notes. I want metric units.').result
  await ready.agent.run('Thank you.').result
  return ready
}

it('keeps what lasts of the messages that a compaction takes out', async () => {
  const { agent, close } = await talk()
  expect(reviews()).toEqual([])
  expect(await agent.compact()).toMatchObject({ type: 'compacted' })
  await expect.poll(remembered).toBe('Prefers metric units.\n')
  expect(JSON.stringify(reviews()[0]!.body.messages)).toContain('User: Read the notes. I want metric units.')
  await close()
})

it('keeps what lasts of a session that was left', async () => {
  const { close } = await talk()
  await close()
  await clock.advance(5_000)
  await expect.poll(remembered).toBe('Prefers metric units.\n')
  expect(reviews()).toHaveLength(1)
})

it('keeps what lasts also where no summary is written', async () => {
  await runtime.close()
  await open({ session_summary: { enabled: false } })
  await (await talk()).close()
  await clock.advance(5_000)
  await expect.poll(remembered).toBe('Prefers metric units.\n')
  expect(JSON.stringify(server.requests.map(({ body }) => body))).not.toContain('Sum up the conversation')
})

it('keeps what lasts also when the summary fails', async () => {
  summary = { fault: 'status', status: 403 }
  await (await talk()).close()
  await clock.advance(5_000)
  await expect.poll(remembered).toBe('Prefers metric units.\n')
})

it('does not look through what was compacted once more when it is left', async () => {
  const older = await runtime.createAgent({})
  await older.agent.run('An older session.').result
  await older.agent.run('Thank you.').result
  await older.close()
  await clock.advance(1_000)
  const { agent, close } = await talk()
  await agent.compact()
  const storage = await runtime.storage()
  await expect.poll(() => storage.meta.get('looked_through')).toContain(agent.sessionId)
  await agent.run('One more thing.').result
  await close()
  await runtime.close()
  await clock.advance(600_001)
  await open()
  void runtime.finishSessions()
  await clock.advance(5_000)
  // The newest comes first, so the others are done when the older one is.
  await expect
    .poll(() => reviews().map(({ body }) => JSON.stringify(body).includes('An older session.')))
    .toContain(true)
  expect(reviews()).toHaveLength(2)
})

it('keeps nobody who leaves waiting: the next home looks through what was left, beside its first answer', async () => {
  const { close } = await talk()
  await close()
  await runtime.close()
  expect(reviews()).toEqual([])
  await clock.advance(600_001)
  await open()
  const next = await runtime.createAgent({})
  await next.agent.run('Hello.').result
  void runtime.finishSessions()
  await clock.advance(5_000)
  await expect.poll(remembered).toBe('Prefers metric units.\n')
  expect(reviews()).toHaveLength(1)
})

it('looks again and again through what others leave behind, in a process that never exits', async () => {
  const staying = await runtime.createAgent({})
  await staying.agent.run('Hello.').result
  void runtime.finishSessions()
  await clock.advance(5_000)
  const first = runtime
  // Another process on the same home, which is killed: nobody closes its session.
  await open()
  const killed = runtime
  await talk()
  runtime = first
  await clock.advance(600_001)
  await staying.agent.run('Still here.').result
  void runtime.finishSessions()
  await clock.advance(5_000)
  await expect.poll(remembered).toBe('Prefers metric units.\n')
  await clock.advance(600_001)
  await staying.agent.run('And now.').result
  void runtime.finishSessions()
  await clock.advance(5_000)
  expect(reviews()).toHaveLength(1)
  await killed.close()
})

it('spends nothing on a session in which little was said', async () => {
  const { agent, close } = await runtime.createAgent({})
  await agent.run('I want metric units.').result
  await close()
  await clock.advance(5_000)
  await runtime.close()
  expect(reviews()).toEqual([])
})
