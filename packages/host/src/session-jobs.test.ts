// What is due for sessions beside their runs, by several processes of one home.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openRuntime } from '@hermes/runtime'
import { type CapturedRequest, createFakeClock, startModelServer, temporaryHome } from '@hermes/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { createSessionHost, type SessionHandle, type SessionHostOptions } from './index.js'

const LEFT_AFTER_MS = 600_000

async function stage(config = 'memory: {flush_min_turns: 2}') {
  const [server, temporary] = [await startModelServer(), await temporaryHome()]
  const clock = createFakeClock(Date.parse('2026-03-01T12:00:00Z'))
  const home = join(temporary.path, '.hermes')
  await mkdir(home)
  await writeFile(join(home, 'config.yaml'), `${config}\n`)
  const requested: string[] = []
  server.setHandler((request) => {
    const kind = kindOf(request)
    if (kind !== null) requested.push(kind)
    return { text: kind === 'memory' ? '{"operations": []}' : kind === null ? 'Done.' : `The ${kind}.` }
  })
  const enter = async (options: Partial<SessionHostOptions> = {}) => {
    const world = { env: {}, cwd: temporary.path, user: 'ada', tempDir: temporary.path, clock }
    const runtime = await openRuntime({ home, userHome: temporary.path, ...world })
    const host = createSessionHost({ runtime, clock, ...options })
    onTestFinished(async () => {
      await host.close()
      await runtime.close()
    })
    const aside: string[] = []
    const open = (): SessionHandle => {
      const onAside = () => aside.push(...requested.slice(-1))
      return host.open({ platform: 'test', permissions: 'deny', baseUrl: server.baseUrl, model: 'm', onAside })
    }
    const talk = async (...lines: readonly string[]): Promise<SessionHandle> => {
      const session = open()
      for (const line of lines) await session.send(line).result
      return session
    }
    const jobs = async () =>
      (await (await runtime.storage()).jobs.list()).map(({ kind, status }) => `${kind} ${status}`).sort()
    return { runtime, host, open, talk, jobs, aside }
  }
  onTestFinished(async () => {
    await server.close()
    await temporary.remove()
  })
  return { server, clock, requested, enter }
}

function kindOf({ body }: CapturedRequest): string | null {
  const text = JSON.stringify(body.messages)
  if (text.includes('Name the conversation below')) return 'title'
  if (text.includes('Sum up the conversation')) return 'summary'
  return text.includes('what an agent remembers') ? 'memory' : null
}

const WAITING = ['memory-review waiting', 'session-summary waiting', 'skill-review waiting']

it('gives a title after the first run, and the rest a moment after the session was left', async () => {
  const { clock, requested, enter } = await stage()
  const { talk, jobs, aside } = await enter()
  const session = await talk('Fill in the form.', 'And sign it.')
  await expect.poll(jobs).toEqual([...WAITING, 'session-title done'].toSorted())
  expect(requested).toEqual(['title'])
  // Whoever shows the session shows its title, and what that cost.
  await expect.poll(() => aside).toEqual(['title'])
  await session.end('left')
  await expect.poll(() => clock.pending()).toContain(5_000)
  await clock.advance(4_999)
  expect(requested).toEqual(['title'])
  await clock.advance(1)
  await expect
    .poll(jobs)
    .toEqual(['memory-review done', 'session-summary done', 'session-title done', 'skill-review done'])
  expect(requested.toSorted()).toEqual(['memory', 'summary', 'title'])
})

it('waits for its time where an agent only makes room for another', async () => {
  const { clock, requested, enter } = await stage('auxiliary: {title_generation: {enabled: false}}')
  const { host, talk, jobs } = await enter({ maxAgents: 1, idleMs: 3_600_000 })
  const session = await talk('Fill in the form.', 'And sign it.')
  await expect.poll(jobs).toEqual(WAITING)
  await talk('Something else.')
  await expect.poll(() => host.agentOf(session.id)).toBeNull()
  await expect.poll(jobs).toEqual([...WAITING, ...WAITING].toSorted())
  await clock.advance(5_000)
  await session.send('Is it signed?').result
  expect(requested).toEqual([])
})

it('is done by another process ten minutes after the last word, once, however the first one ended', async () => {
  const { clock, requested, enter } = await stage('auxiliary: {title_generation: {enabled: false}}')
  const first = await enter()
  const session = await first.talk('Fill in the form.', 'And sign it.')
  await expect.poll(first.jobs).toEqual(WAITING)
  await clock.advance(LEFT_AFTER_MS - 1)
  await session.send('And send it.').result
  const others = [await enter(), await enter()]
  // Sessions of single exchanges, for which no model is requested.
  for (const { talk } of others) await talk('Hi.')
  await clock.advance(LEFT_AFTER_MS - 1)
  for (const { talk } of others) await talk('Hi.')
  expect(requested).toEqual([])
  await clock.advance(1)
  await Promise.all(others.map(({ talk }) => talk('Hi.')))
  await expect.poll(async () => (await first.runtime.storage()).summaries.get(session.id)).not.toBeNull()
  await session.send('Thanks.').result
  await clock.advance(LEFT_AFTER_MS)
  await others[0]!.talk('Hi.')
  await expect.poll(() => requested.filter((kind) => kind === 'summary')).toHaveLength(2)
})

it('is begun by a process in which nobody says anything, within a minute', async () => {
  const { clock, requested, enter } = await stage('auxiliary: {title_generation: {enabled: false}}')
  const gone = await enter()
  await gone.talk('Fill in the form.', 'And sign it.')
  await expect.poll(gone.jobs).toEqual(WAITING)
  const { jobs } = await enter({ idleMs: 3_600_000 })
  await clock.waitForSleepers()
  for (let minute = 0; minute < 9; minute++) {
    await clock.advance(60_000)
    await clock.waitForSleepers()
  }
  expect(requested).toEqual([])
  await clock.advance(60_000)
  await expect.poll(jobs).toEqual(['memory-review done', 'session-summary done', 'skill-review done'])
})

it('is left by a process that ends with its answer: it asks no model, and waits for none', async () => {
  const { clock, requested, enter } = await stage()
  const single = await enter({ leavesJobs: true })
  const session = await single.talk('Fill in the form.', 'And sign it.')
  await single.host.settle()
  expect(await single.jobs()).toEqual([...WAITING, 'session-title waiting'].toSorted())
  expect(requested).toEqual([])
  const staying = await enter()
  await staying.talk('Hi.')
  await expect.poll(() => requested).toEqual(['title', 'title'])
  await clock.advance(LEFT_AFTER_MS)
  await staying.talk('Hi.')
  await expect.poll(async () => (await staying.runtime.storage()).summaries.get(session.id)).not.toBeNull()
})

it('comes a few at a time where many were left, those of the own session first', async () => {
  const { server, requested, enter } = await stage(
    '{auxiliary: {session_summary: {enabled: false}, background_review: {enabled: false}}, memory: {flush_min_turns: 0}}',
  )
  const single = await enter({ leavesJobs: true })
  for (let count = 0; count < 5; count++) await single.talk(`Question ${count}`)
  await single.host.settle()
  const staying = await enter()
  const session = await staying.talk('My own.')
  await expect
    .poll(staying.jobs)
    .toEqual([
      ...Array.from({ length: 3 }, () => 'session-title done'),
      ...Array.from({ length: 3 }, () => 'session-title waiting'),
    ])
  expect(requested).toHaveLength(3)
  expect((await (await staying.runtime.storage()).sessions.get(session.id))?.title).toBe('The title')
  expect(server.violations).toEqual([])
})

it('that fails is tried again later, and leaves the rest to be done', async () => {
  const { server, clock, enter } = await stage(
    'auxiliary: {title_generation: {enabled: false}}\nmemory: {flush_min_turns: 2}',
  )
  const { talk, jobs } = await enter()
  server.setHandler((request) => {
    if (kindOf(request) === 'summary') return { fault: 'status', status: 403 }
    return { text: kindOf(request) === 'memory' ? '{"operations": []}' : 'Done.' }
  })
  await (await talk('Fill in the form.', 'And sign it.')).end('left')
  await expect.poll(() => clock.pending()).toContain(5_000)
  await clock.advance(5_000)
  await expect.poll(jobs).toEqual(['memory-review done', 'session-summary waiting', 'skill-review done'])
  server.setHandler((request) => ({ text: kindOf(request) === 'summary' ? 'The summary.' : 'Done.' }))
  await clock.advance(60_000)
  await talk('Hi.')
  await expect.poll(jobs).toContain('session-summary done')
})

it('is waited for when a process leaves, a second at most', async () => {
  const { server, clock, enter } = await stage()
  const { host, runtime, talk, jobs } = await enter()
  server.setHandler((request) => (kindOf(request) ? { fault: 'stall', text: 'half' } : { text: 'Done.' }))
  const session = await talk('Fill in the form.')
  await server.waitForRequests(2)
  const closed = host.close()
  await expect.poll(() => clock.pending()).toContain(1_000)
  await clock.advance(1_000)
  await closed
  expect(await jobs()).toContain('session-title running')
  expect((await (await runtime.storage()).sessions.get(session.id))?.title).toBeNull()
})
