// Runs on a real home, through the routes: begun, followed, answered, stopped, and taken up by the next process.
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type ApiStage, apiStage } from '../__fixtures__/api-stage.js'

const BOB = 'the-key-of-bob-0123456789'
let stage: ApiStage

beforeAll(async () => {
  stage = await apiStage({
    gateway: { api_server: { answer_approvals: true } },
    people: { bob: { key: [`sha256:${createHash('sha256').update(BOB).digest('hex')}`] } },
  })
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
const begin = (input: string, more: object = {}, headers = {}) =>
  json(stage.ask('/v1/runs', { input, ...more }, headers))
const get = (id: string) => json(stage.ask(`/v1/runs/${id}`))
const becomes = (id: string, status: string) =>
  expect.poll(async () => (await get(id)).status, { timeout: 10_000, interval: 10 }).toBe(status)

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
  await stage.restart()
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
  await stage.restart()
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

it('is stopped, and is interrupted by the end of the server alone until the next one', async () => {
  const hang = () => ({ hang: true }) as const
  stage.server.setHandler(hang as never)
  const stopped = await begin('Stop me.')
  await becomes(stopped.run_id, 'running')
  await stage.ask(`/v1/runs/${stopped.run_id}/stop`, {})
  await becomes(stopped.run_id, 'cancelled')
  expect((await stage.ask(`/v1/runs/${stopped.run_id}/stop`, {})).status).toBe(409)
  const left = await begin('Leave me.')
  await becomes(left.run_id, 'running')
  stage.server.setHandler(null)
  stage.server.enqueue({ text: 'Here I am.' })
  await stage.restart()
  await becomes(left.run_id, 'completed')
  expect(await get(left.run_id)).toMatchObject({ output: 'Here I am.' })
  const users = stage.server.requests.at(-1)!.body.messages.filter(({ role }) => role === 'user')
  expect(JSON.stringify(users).split('Leave me.')).toHaveLength(2)
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
