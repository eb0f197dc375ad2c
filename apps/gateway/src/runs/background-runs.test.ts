// Runs on a real home, through the routes: begun, followed, answered, stopped, and taken up by the next process.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { silentLogger } from '@hermes/contracts'
import { type MetaStore, openStorage } from '@hermes/storage'
import { createFakeClock } from '@hermes/testkit'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type ApiStage, apiStage } from '../__fixtures__/api-stage.js'
import { ApiError } from '../api-error.js'
import { BackgroundRuns } from './background-runs.js'
import { RunOwners } from './run-owners.js'
import { StoredRuns } from './stored-runs.js'

const BOB = 'the-key-of-bob-0123456789'
const HOUR_MS = 3_600_000
const clock = createFakeClock(Date.now())
let stage: ApiStage

beforeAll(async () => {
  const config = {
    gateway: { api_server: { answer_approvals: true } },
    people: { bob: { key: [`sha256:${createHash('sha256').update(BOB).digest('hex')}`] } },
  }
  stage = await apiStage(config, { clock })
})
afterAll(() => stage.close())
beforeEach(() => stage.server.setHandler(null))

interface Run {
  readonly run_id: string
  readonly status: string
  readonly session_id: string | null
  readonly output: string | null
}

const json = async (answer: Promise<Response>) => (await answer).json() as Promise<Run>
/** No two begin in one moment, so that their order is known. */
const begin = async (input: string, more: object = {}, headers = {}) => {
  await clock.advance(1)
  return json(stage.ask('/v1/runs', { input, ...more }, headers))
}
const get = (id: string) => json(stage.ask(`/v1/runs/${id}`))
const becomes = (id: string, status: string) =>
  expect.poll(async () => (await get(id)).status, { timeout: 10_000, interval: 10 }).toBe(status)

/** The model hears of what is running a little later. */
const requestsAre = (count: number) =>
  expect.poll(() => stage.server.requests.length, { timeout: 10_000, interval: 10 }).toBe(count)

/** No process begins in the moment in which another one did. */
const restart = async () => {
  await clock.advance(1)
  await stage.restart()
}

/** The events from the one after `last` on, as `[id, data]`, until the stream ends or `isEnough`. */
async function events(id: string, last?: string, isEnough: (event: string) => boolean = () => false) {
  const answer = await stage.ask(
    `/v1/runs/${id}/events`,
    undefined,
    last === undefined ? {} : { 'last-event-id': last },
  )
  const all: { id: string; event: string; data: Record<string, unknown> }[] = []
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const [, eventId = '', event = '', data = '{}'] = /^(?:id: (.*)\n)?event: (.*)\ndata: (.*)\n/.exec(read.value) ?? []
    all.push({ id: eventId, event, data: JSON.parse(data) as Record<string, unknown> })
    if (isEnough(event)) await reader.cancel()
  }
  return all
}

it('goes on without its client, and a reader that comes back hears what it missed, each event once', async () => {
  stage.server.enqueue(
    { text: 'Let me see.', toolCalls: [{ name: 'read_file', args: { path: 'none.txt' } }] },
    { text: 'There is none.' },
  )
  const begun = await begin('Look.')
  expect(begun).toMatchObject({ object: 'hermes.run', status: 'started', output: null })
  const first = await events(begun.run_id, undefined, (event) => event === 'tool.started')
  const rest = await events(begun.run_id, first.at(-1)!.id)
  const names = [...first, ...rest].map(({ event }) => event)
  expect(names.slice(0, 2)).toEqual(['run.started', 'message.delta'])
  expect(names.slice(names.indexOf('tool.started'))).toEqual(
    expect.arrayContaining(['tool.started', 'tool.completed', 'message.delta', 'run.completed']),
  )
  expect(new Set([...first, ...rest].map(({ id }) => id)).size).toBe(names.length)
  expect(rest.at(-1)!.data).toMatchObject({ status: 'completed', output: 'There is none.', run_id: begun.run_id })
  expect(await get(begun.run_id)).toMatchObject({ status: 'completed', usage: { output_tokens: expect.any(Number) } })
})

it('is one run for one key, also after a restart, and a conflict for another body', async () => {
  stage.server.enqueue({ text: 'Once.' })
  const key = { 'idempotency-key': 'k1' }
  const both = await Promise.all([begin('Once?', {}, key), begin('Once?', {}, key)])
  expect(both[0]!.run_id).toBe(both[1]!.run_id)
  await becomes(both[0]!.run_id, 'completed')
  await restart()
  const again = await stage.ask('/v1/runs', { input: 'Once?' }, key)
  expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([202, 'true'])
  expect(await again.json()).toMatchObject({ run_id: both[0]!.run_id, status: 'completed', output: 'Once.' })
  expect((await stage.ask('/v1/runs', { input: 'Twice?' }, key)).status).toBe(409)
  // Nobody has its events any more; how it ended is known.
  expect(await events(both[0]!.run_id)).toMatchObject([{ event: 'run.completed', data: { output: 'Once.' } }])
})

it('waits for an approval and goes on with it, in the same session', async () => {
  stage.server.enqueue({ toolCalls: [{ name: 'terminal', args: { command: 'rm -rf build' } }] }, { text: 'Removed.' })
  const { run_id: id } = await begin('Clean up.')
  await becomes(id, 'waiting_for_approval')
  const [waiting] = [await get(id)]
  expect((await stage.ask(`/v1/runs/${id}/approval`, { choice: 'once', approval_id: 'other' })).status).toBe(409)
  // Another gateway had taken it up before it waited.
  const { meta } = await stage.runtime.storage()
  const row = JSON.parse((await meta.get(`api.run:${id}`))!) as object
  await meta.set(`api.run:${id}`, JSON.stringify({ ...row, owner: 'elsewhere:1:0123', attempt: 2 }))
  await restart()
  const answered = await json(stage.ask(`/v1/runs/${id}/approval`, { choice: 'once' }))
  expect(answered).toMatchObject({ session_id: waiting!.session_id })
  await becomes(id, 'completed')
  expect(await get(id)).toMatchObject({ output: 'Removed.', session_id: waiting!.session_id })
})

it('asks, and takes what it is told for the answer', async () => {
  stage.server.enqueue({ toolCalls: [{ name: 'clarify', args: { question: 'Which one?' } }] }, { text: 'The red one.' })
  const { run_id: id } = await begin('Paint it.')
  await becomes(id, 'waiting_for_answer')
  await stage.ask(`/v1/runs/${id}/steer`, { text: 'red' })
  await becomes(id, 'completed')
  expect(JSON.stringify(stage.server.requests.at(-1)!.body)).toContain('red')
  expect((await stage.ask(`/v1/runs/${id}/steer`, { text: 'more' })).status).toBe(409)
})

it('demands of the answer after a question what was demanded before, and takes one of two answers', async () => {
  stage.server.enqueue(
    { toolCalls: [{ name: 'clarify', args: { question: 'Which colour?' } }] },
    { text: '{"colour":"red"}' },
  )
  const demands = { text: { format: { type: 'json_object' } }, instructions: 'Be brief.' }
  const { run_id: id } = await begin('Paint it, as data.', demands)
  await becomes(id, 'waiting_for_answer')
  expect(await get(id)).toMatchObject({ output: '', question: { question: 'Which colour?' } })
  const before = stage.server.requests.length
  const both = await Promise.all(['red', 'blue'].map((text) => stage.ask(`/v1/runs/${id}/steer`, { text })))
  expect(both.map(({ status }) => status)).toEqual([200, 409])
  await becomes(id, 'completed')
  expect(await get(id)).toMatchObject({ output: '{"colour":"red"}' })
  expect(stage.server.requests.slice(before).map(({ body }) => body)).toMatchObject([
    { response_format: { type: 'json_object' } },
  ])
})

it('tells the next run of its session nothing that it is told once it is over', async () => {
  stage.server.enqueue({ text: 'First.' })
  const first = await begin('The first run.')
  await becomes(first.run_id, 'completed')
  const { session_id } = await get(first.run_id)
  const gate = Promise.withResolvers<void>()
  stage.server.setHandler(async () => {
    await gate.promise
    return { text: 'Second.' }
  })
  const before = stage.server.requests.length
  const second = await begin('The second run.', { session_id })
  await requestsAre(before + 1)
  expect((await stage.ask(`/v1/runs/${first.run_id}/steer`, { text: 'For the first alone.' })).status).toBe(409)
  gate.resolve()
  await becomes(second.run_id, 'completed')
  await stage.ask(
    '/v1/chat/completions',
    { messages: [{ role: 'user', content: 'And?' }] },
    {
      'x-hermes-session-id': session_id!,
    },
  )
  expect(JSON.stringify(stage.server.requests.at(-1)!.body)).not.toContain('For the first alone.')
})

it('goes on after many approvals and one end of the server, and tells its end to who heard the beginning', async () => {
  const calls = ['a', 'b', 'c'].map((name) => ({
    toolCalls: [{ name: 'terminal', args: { command: `rm -rf ${name}` } }],
  }))
  stage.server.enqueue(...calls)
  const { run_id: id } = await begin('Remove three.')
  await becomes(id, 'waiting_for_approval')
  const heard = await events(id, undefined, (event) => event === 'run.waiting_for_approval')
  const before = stage.server.requests.length
  for (const count of [1, 2]) {
    await stage.ask(`/v1/runs/${id}/approval`, { choice: 'once' })
    await requestsAre(before + count)
    await becomes(id, 'waiting_for_approval')
  }
  stage.server.setHandler(() => new Promise<never>(() => undefined))
  await stage.ask(`/v1/runs/${id}/approval`, { choice: 'once' })
  await requestsAre(before + 3)
  stage.server.setHandler(() => ({ text: 'All three.' }))
  await restart()
  await becomes(id, 'completed')
  await restart()
  const rest = await events(id, heard.at(-1)!.id)
  expect(rest).toMatchObject([{ event: 'run.completed', data: { output: 'All three.' } }])
  expect(await events(id, rest[0]!.id)).toEqual([])
})

it('is stopped, and is interrupted by the end of the server alone until the next one', async () => {
  stage.server.setHandler(() => new Promise<never>(() => undefined))
  const stopped = await begin('Stop me.')
  await becomes(stopped.run_id, 'running')
  await stage.ask(`/v1/runs/${stopped.run_id}/stop`, {})
  await becomes(stopped.run_id, 'cancelled')
  expect((await stage.ask(`/v1/runs/${stopped.run_id}/stop`, {})).status).toBe(409)
  const before = stage.server.requests.length
  const left = await begin('Leave me.')
  await requestsAre(before + 1)
  stage.server.setHandler(null)
  stage.server.enqueue({ text: 'Here I am.' })
  await restart()
  await becomes(left.run_id, 'completed')
  expect(await get(left.run_id)).toMatchObject({ output: 'Here I am.' })
  const users = stage.server.requests.at(-1)!.body.messages.filter(({ role }) => role === 'user')
  expect(JSON.stringify(users).split('Leave me.')).toHaveLength(2)
})

it('waits for its session where a killed process of another machine still holds that, past an end of the server', async () => {
  stage.server.setHandler(() => ({ text: 'Here.' }))
  const { run_id: id } = await begin('Are you there?')
  await becomes(id, 'completed')
  const { session_id: session } = await get(id)
  const { meta } = await stage.runtime.storage()
  const row = JSON.parse((await meta.get(`api.run:${id}`))!) as object
  await meta.set(`api.run.body:${id}`, JSON.stringify({ input: 'And now?', session_id: session, model: 'm' }))
  await meta.set(`api.run:${id}`, JSON.stringify({ ...row, status: 'running', endedAtMs: null, output: null }))
  const other = await openStorage({ path: join(stage.work, '../.hermes/state.db') })
  const lease = await other.leases.acquire(session!, { owner: 'elsewhere' })
  for (const _ of ['first', 'second']) {
    await restart()
    await becomes(id, 'started')
    await clock.waitForSleepers()
  }
  await lease.release()
  await other.close()
  const later = setInterval(() => void clock.advance(1_000), 20)
  await becomes(id, 'completed').finally(() => clearInterval(later))
  expect(await get(id)).toMatchObject({ output: 'Here.', session_id: session })
})

it('is taken up by one gateway once that which had it is silent, whatever machine that was on', async () => {
  stage.server.setHandler(() => ({ text: 'Here.' }))
  const { run_id: id } = await begin('Who has me?')
  await becomes(id, 'completed')
  const { meta } = await stage.runtime.storage()
  const row = JSON.parse((await meta.get(`api.run:${id}`))!) as object
  const left = { ...row, status: 'running', endedAtMs: null, output: null, owner: 'elsewhere:1:0123' }
  await meta.set(`api.run.body:${id}`, JSON.stringify({ input: 'Who has me now?', model: 'm' }))
  await meta.set('api.process:elsewhere:1:0123', String(clock.now()))
  await meta.set(`api.run:${id}`, JSON.stringify(left))
  const runs = new StoredRuns(async () => meta)
  const [mine, other] = [0, 1].map(() => new RunOwners({ meta: async () => meta, clock }))
  expect(await mine!.isGone('elsewhere:1:0123')).toBe(false)
  /** As often as a gateway looks. */
  const pass = async () => {
    await clock.waitForSleepers()
    await clock.advance(15_000)
  }
  for (const _ of [1, 2, 3]) await pass()
  // It is slow, and still there.
  await meta.set('api.process:elsewhere:1:0123', String(clock.now()))
  for (const _ of [1, 2, 3]) await pass()
  expect([await mine!.isGone('elsewhere:1:0123'), (await runs.get(id))!.owner]).toEqual([false, 'elsewhere:1:0123'])
  for (const _ of [1, 2, 3]) await pass()
  await becomes(id, 'completed')
  expect(await runs.get(id)).toMatchObject({ output: 'Here.', attempt: 2 })
  // Of two that see it at once one has it.
  const stored = (await runs.get(id))!
  expect(await Promise.all([mine, other].map((one) => runs.take(stored, { ...stored, owner: one!.me })))).toEqual([
    true,
    false,
  ])
})

it('is ended where it is under way by a stop that another gateway was asked for', async () => {
  const heard = Promise.withResolvers<void>()
  stage.server.setHandler(() => {
    heard.resolve()
    return new Promise<never>(() => undefined)
  })
  const { run_id: id } = await begin('Go on and on.')
  await heard.promise
  const { meta } = await stage.runtime.storage()
  const runs = new StoredRuns(async () => meta)
  await becomes(id, 'running')
  await runs.save({ ...(await runs.get(id))!, status: 'cancelled', endedAtMs: clock.now(), owner: 'elsewhere:1:0123' })
  const reading = events(id)
  await clock.waitForSleepers()
  await clock.advance(15_000)
  expect((await reading).map(({ event }) => event)).not.toContain('run.completed')
  expect(await runs.get(id)).toMatchObject({ status: 'cancelled', owner: 'elsewhere:1:0123' })
})

it('is left to the gateway that has it by now, also where that has rested in between', async () => {
  const heard = Promise.withResolvers<void>()
  stage.server.setHandler(() => {
    heard.resolve()
    return new Promise<never>(() => undefined)
  })
  const { run_id: id } = await begin('Go on and on, as one.')
  await heard.promise
  const { meta } = await stage.runtime.storage()
  const runs = new StoredRuns(async () => meta)
  await becomes(id, 'running')
  const elsewhere = { ...(await runs.get(id))!, owner: 'elsewhere:1:0123', attempt: 1 }
  await meta.set('api.process:elsewhere:1:0123', String(clock.now()))
  await runs.save(elsewhere)
  const reading = events(id)
  await clock.waitForSleepers()
  await clock.advance(15_000)
  await reading
  expect(await runs.get(id)).toEqual(elsewhere)
  await runs.save({ ...elsewhere, status: 'cancelled', endedAtMs: clock.now() })
})

it('is seen by its person and the owner alone, and listed newest first', async () => {
  const bob = { authorization: `Bearer ${BOB}` }
  stage.server.enqueue({ text: 'For Bob.' })
  const { run_id: id } = await begin('I am Bob.', {}, bob)
  await becomes(id, 'completed')
  const owners = await begin('I am not.').then(({ run_id }) => run_id)
  expect((await stage.ask(`/v1/runs/${owners}`, undefined, bob)).status).toBe(404)
  const listed = async (headers = {}) =>
    (await (await stage.ask('/v1/runs?limit=2', undefined, headers)).json()) as { data: Run[]; has_more: boolean }
  expect(await listed(bob)).toMatchObject({ data: [{ run_id: id }], has_more: false })
  expect((await listed()).data.map(({ run_id }) => run_id)).toEqual([owners, id])
  for (const [body, status] of [
    ['{', 400],
    [{}, 400],
    [{ input: 'x', tools: [{ type: 'function', name: 'f' }] }, 400],
    [{ input: 'x', session_id: 'none' }, 404],
    [{ input: 'x', model: 'none' }, 404],
  ] as const)
    expect((await stage.ask('/v1/runs', body)).status).toBe(status)
})

it('is one run for one key, when the store fails and when two gateways are asked at once', async () => {
  const { meta } = await stage.runtime.storage()
  let isFailing = true
  const facts: MetaStore = {
    get: (key) => meta.get(key),
    list: (prefix) => meta.list(prefix),
    set: (key, value) => meta.set(key, value),
    swap: (changes) => (isFailing ? Promise.reject(new Error('The disk is full.')) : meta.swap(changes)),
  }
  const gateway = () =>
    new BackgroundRuns({
      ...{ runs: new StoredRuns(async () => facts), clock, logger: silentLogger, host: { steer: () => null } },
      owners: new RunOwners({ meta: async () => meta, clock }),
      chat: { checkModel: () => 'm', begin: () => Promise.reject(new ApiError('Nobody is here.', { code: 'nobody' })) },
      approvals: { list: async () => ({ data: [] }), answer: async () => ({}) },
      requireSession: async () => undefined,
    })
  const [here, there] = [gateway(), gateway()]
  const request = { body: '{"input":"Once?"}', person: null, key: 'of-two' }
  const before = (await here.list(null)).length
  await expect(here.begin(request)).rejects.toThrow('The disk is full.')
  isFailing = false
  const begun = await Promise.all([here.begin(request), there.begin(request), here.begin(request)])
  expect(begun.filter(({ isReplay }) => !isReplay)).toHaveLength(1)
  expect(new Set(begun.map(({ run }) => run.id)).size).toBe(1)
  expect(await here.list(null)).toHaveLength(before + 1)
  await Promise.all([here.settled(), there.settled()])
})

it('forgets runs, keys and what no run came of a day later, while the server goes on', async () => {
  const { meta } = await stage.runtime.storage()
  stage.server.setHandler(() => ({ text: 'Old.' }))
  /** What is done every hour is done before time goes on. */
  const pass = async (ms: number) => {
    await clock.waitForSleepers()
    await clock.advance(ms)
  }
  await pass(HOUR_MS / 2)
  const key = { 'idempotency-key': 'of-a-day' }
  const old = await begin('Keep me a day.', {}, key)
  await becomes(old.run_id, 'completed')
  const orphan = `api.run.body:run_${clock.now().toString(36).padStart(9, '0')}0123456789abcdef`
  await meta.set(orphan, '{}')
  const keysOf = async () => (await meta.list('api.')).map(({ key: name }) => name)
  for (let hour = 0; hour < 23; hour++) await pass(HOUR_MS)
  expect((await begin('Keep me a day.', {}, key)).run_id).toBe(old.run_id)
  expect(await keysOf()).toEqual(expect.arrayContaining([orphan, `api.run:${old.run_id}`]))
  await meta.set('api.begun:nobody', '{}')
  // More than a day, and no whole hour.
  await pass(HOUR_MS + HOUR_MS / 4)
  const again = await begin('Keep me a day.', {}, key)
  expect(again.run_id).not.toBe(old.run_id)
  await pass(HOUR_MS)
  await clock.waitForSleepers()
  const left = await keysOf()
  expect(left).not.toContain('api.begun:nobody')
  expect(left).not.toContain(orphan)
  expect(left).not.toContain(`api.run:${old.run_id}`)
  expect(left).toContain(`api.run:${again.run_id}`)
})
