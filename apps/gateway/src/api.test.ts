// Keys, web pages and stored sessions, through the routes on a real home.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ApiStage, apiStage } from './__fixtures__/api-stage.js'
import { KeyLimits, readApiKeys } from './api-keys.js'
import { ROUTES, scopeOf } from './routes.js'

const hash = (key: string) => `sha256:${createHash('sha256').update(key).digest('hex')}`
const KEYS = { bob: 'key-of-bob', runner: 'key-of-a-runner', slow: 'key-of-a-slow-one', single: 'key-of-one-at-a-time' }
const as = (name: keyof typeof KEYS) => ({ authorization: `Bearer ${KEYS[name]}` })

let stage: ApiStage

beforeAll(async () => {
  stage = await apiStage({
    people: { bob: { telegram: ['7'] } },
    gateway: {
      api_server: {
        cors_origins: ['https://chat.example'],
        keys: {
          bob: { hash: hash(KEYS.bob), user: 'bob', scopes: ['chat', 'sessions'] },
          runner: { hash: hash(KEYS.runner), scopes: ['runs'] },
          slow: { hash: hash(KEYS.slow), requests_per_minute: 2 },
          single: { hash: hash(KEYS.single), max_concurrent: 1 },
        },
      },
    },
  })
  stage.server.setHandler(() => ({ text: 'The zebra sleeps.' }))
})
afterAll(() => stage.close())

const codeOf = async (answer: Promise<Response>) => {
  const { status, ...rest } = await answer.then(async (one) => ({
    status: one.status,
    body: (await one.json()) as object,
  }))
  return [status, (rest.body as { error?: { code: string } }).error?.code]
}
const chat = (content: string, headers: Readonly<Record<string, string>> = {}) =>
  stage.ask('/v1/chat/completions', { messages: [{ role: 'user', content }] }, headers)

it('lets a key do what its scopes say and no more', async () => {
  expect((await chat('Bob here.', as('bob'))).status).toBe(200)
  expect(await codeOf(stage.ask('/v1/runs', { input: 'x' }, as('bob')))).toEqual([403, 'insufficient_scope'])
  expect(await codeOf(chat('x', as('runner')))).toEqual([403, 'insufficient_scope'])
  expect((await stage.ask('/v1/runs', undefined, as('runner'))).status).toBe(200)
  expect((await stage.ask('/v1/models', undefined, as('runner'))).status).toBe(200)
  // Who may run things need not be who lets them.
  for (const path of ['/v1/runs/x/approval', '/v1/runs/x/%61pproval'])
    expect(await codeOf(stage.ask(path, { choice: 'once' }, as('runner')))).toEqual([403, 'insufficient_scope'])
  for (const path of ['/v1/runs/x/steer', '/v1/runs/x/%2561pproval', '/v1/runs/x%2Fapproval/steer'])
    expect((await codeOf(stage.ask(path, { choice: 'once', text: 'x' }, as('runner'))))[0]).not.toBe(403)
  expect(await codeOf(stage.ask('/v1/runs/x/approval', { choice: 'once' }))).toEqual([404, 'run_not_found'])
  for (const path of ['/mcp', '/extensions/x/y', '/v1/approvals', '/v1/responses/x', '/v1/%73essions'])
    expect(await codeOf(stage.ask(path, undefined, as('runner')))).toEqual([403, 'insufficient_scope'])
  expect(await codeOf(stage.ask('/v1/models', undefined, { authorization: 'Bearer nobody' }))).toEqual([
    401,
    'invalid_api_key',
  ])
})

it('has a scope for each route by its path alone', () => {
  const open = ROUTES.map(({ path, scope }) => (scopeOf(path) === scope || scope === 'none' ? null : path))
  expect(open.filter((path) => path !== null)).toEqual([])
})

it('bounds how much a key does, says when to come back, and counts nobody else', async () => {
  for (const _ of [1, 2]) expect((await stage.ask('/v1/models', undefined, as('slow'))).status).toBe(200)
  const third = await stage.ask('/v1/models', undefined, as('slow'))
  expect([third.status, Number(third.headers.get('retry-after'))]).toEqual([429, expect.any(Number)])
  expect((await stage.ask('/v1/models')).status).toBe(200)
  let now = 0
  const limits = new KeyLimits({ now: () => now })
  const [key] = readApiKeys({ k: { hash: hash('k'), requests_per_minute: 3, max_concurrent: 1 } } as never)
  const leave = limits.enter(key!)
  expect(() => limits.enter(key!)).toThrow(/1 requests under way/)
  leave()
  leave()
  for (const _ of [1, 2]) limits.enter(key!)()
  expect(() => limits.enter(key!)).toThrow(/3 requests in a minute/)
  now = 60_000
  limits.enter(key!)
})

it('counts nobody who was gone before they were known', async () => {
  const answered = Promise.withResolvers<void>()
  const server = createServer((incoming, outgoing) => {
    const answer = () => stage.api.app.request('/v1/models', { headers: as('single') }, { incoming, outgoing })
    outgoing.once('close', async () => answered.resolve(void (await answer())))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  server.once('request', () => client.destroy())
  client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  await answered.promise
  server.close()
  expect((await stage.ask('/v1/models', undefined, as('single'))).status).toBe(200)
})

it.each([
  [{ hash: 'secret' }, /keys\.k\.hash: it has to be "sha256:"/],
  [{}, /keys\.k\.hash/],
  [{ hash: hash('k'), scopes: ['chats'] }, /keys\.k\.scopes: there is no "chats"/],
])('refuses a key that is not whole at the start: %j', (key, expected) => {
  expect(() => readApiKeys({ k: key } as never)).toThrow(expected)
})

it('lets web pages of the origins that are allowed read answers, and others none', async () => {
  const preflight = (origin: string) =>
    stage.ask(
      '/v1/runs',
      undefined,
      {
        origin,
        authorization: '',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,x-stainless-os',
      },
      'OPTIONS',
    )
  const allowed = await preflight('https://chat.example')
  expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([204, 'https://chat.example'])
  expect(allowed.headers.get('access-control-allow-headers')).toContain('x-stainless-os')
  expect(allowed.headers.get('access-control-max-age')).toBe('600')
  expect((await preflight('https://evil.example')).headers.get('access-control-allow-origin')).toBeNull()
  for (const path of ['/v1/models', '/mcp'])
    expect(await codeOf(stage.ask(path, undefined, { origin: 'https://evil.example' }))).toEqual([
      403,
      'foreign_origin',
    ])
  const answer = await stage.ask('/v1/models', undefined, { origin: 'https://chat.example' })
  expect([answer.headers.get('access-control-allow-origin'), answer.headers.get('vary')]).toEqual([
    'https://chat.example',
    expect.stringContaining('Origin'),
  ])
})

it('lists, reads, finds, titles and forks sessions, each person their own', async () => {
  const mine = (await chat('Where is the zebra?')).headers.get('x-hermes-session-id')!
  const bobs = (await chat('A quagga for Bob.', as('bob'))).headers.get('x-hermes-session-id')!
  const get = async (path: string, headers = {}) => (await (await stage.ask(path, undefined, headers)).json()) as never
  const idsIn = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id)
  expect(idsIn(await get('/v1/sessions'))).toEqual(expect.arrayContaining([mine, bobs]))
  expect(idsIn(await get('/v1/sessions', as('bob')))).not.toContain(mine)
  expect(await codeOf(stage.ask(`/v1/sessions/${mine}/messages`, undefined, as('bob')))).toEqual([
    404,
    'session_not_found',
  ])
  expect(await get(`/v1/sessions/${mine}/messages`)).toMatchObject({
    data: [
      { role: 'user', content: 'Where is the zebra?' },
      { role: 'assistant', content: 'The zebra sleeps.' },
    ],
    has_more: false,
  })
  expect(await get('/v1/sessions/search?q=quagga', as('bob'))).toMatchObject({ data: [{ session_id: bobs }] })
  expect(((await get('/v1/sessions/search?q=where', as('bob'))) as { data: object[] }).data).toEqual([])
  const titled = await stage.ask(`/v1/sessions/${mine}`, { title: 'Zebras' }, {}, 'PATCH')
  expect(await titled.json()).toMatchObject({ title: 'Zebras' })
  expect(await codeOf(stage.ask(`/v1/sessions/${bobs}`, { title: 'Zebras' }, {}, 'PATCH'))).toEqual([
    409,
    'title_taken',
  ])
  const fork = (await (await stage.ask(`/v1/sessions/${mine}/fork`, {})).json()) as { id: string }
  expect(fork).toMatchObject({ parent_session_id: mine })
  const on = await stage.ask(
    '/v1/chat/completions',
    { messages: [{ role: 'user', content: 'And now?' }] },
    { 'x-hermes-session-id': fork.id },
  )
  expect(on.status).toBe(200)
  expect(JSON.stringify(stage.server.requests.at(-1)!.body)).toContain('Where is the zebra?')
  expect(((await get(`/v1/sessions/${mine}/messages`)) as { data: object[] }).data).toHaveLength(2)
})

it('removes a session with all that was said, once nothing goes on in it, and only for whose it is', async () => {
  const gate = Promise.withResolvers<void>()
  stage.server.setHandler(async () => {
    await gate.promise
    return { text: 'Said.' }
  })
  const before = stage.server.requests.length
  const running = stage.ask('/v1/chat/completions', { messages: [{ role: 'user', content: 'Remove me.' }] })
  await stage.server.waitForRequests(before + 1)
  const { data } = (await (await stage.ask('/v1/sessions?limit=1')).json()) as { data: { id: string }[] }
  const path = `/v1/sessions/${data[0]!.id}`
  const remove = (headers = {}) => stage.ask(path, undefined, headers, 'DELETE')
  expect(await codeOf(remove())).toEqual([409, 'session_busy'])
  gate.resolve()
  expect((await running).status).toBe(200)
  expect(await codeOf(remove(as('bob')))).toEqual([404, 'session_not_found'])
  expect(await (await remove()).json()).toEqual({ id: data[0]!.id, object: 'session.deleted', deleted: true })
  expect(await codeOf(remove())).toEqual([404, 'session_not_found'])
  expect(await codeOf(stage.ask(`${path}/messages`))).toEqual([404, 'session_not_found'])
  stage.server.setHandler(() => ({ text: 'The zebra sleeps.' }))
})

it('begins a session under a name of the client, and goes on in it, each person their own', async () => {
  const say = (content: string, key: string, headers = {}) => chat(content, { 'x-hermes-session-key': key, ...headers })
  const both = await Promise.all([say('First of the kitchen.', 'kitchen'), say('Second of the kitchen.', 'kitchen')])
  const [id] = both.map(({ headers }) => headers.get('x-hermes-session-id')!)
  expect(both.map(({ status, headers }) => [status, headers.get('x-hermes-session-id')])).toEqual([
    [200, id],
    [200, id],
  ])
  const third = await say('And the garden?', 'kitchen')
  expect(third.headers.get('x-hermes-session-id')).toBe(id)
  const bodies = () => JSON.stringify(stage.server.requests.at(-1)!.body.messages)
  for (const words of ['First of the kitchen.', 'Second of the kitchen.']) expect(bodies()).toContain(words)
  const bobs = await say('Whose kitchen?', 'kitchen', as('bob'))
  expect(bobs.headers.get('x-hermes-session-id')).not.toBe(id)
  expect(bodies()).not.toContain('First of the kitchen.')
  expect(await codeOf(say('x', 'k'.repeat(257)))).toEqual([400, 'invalid_session_key'])
})

it('shows its figures to the owner', async () => {
  const answer = await stage.ask('/metrics')
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/plain')])
  const text = await answer.text()
  expect(text).toMatch(
    /^hermes_http_request_seconds_count\{method="POST",route="\/v1\/chat\/completions",code="200"\} \d+$/m,
  )
  expect(text).toMatch(/^hermes_requests\{state="waiting"\} 0$/m)
  expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds /m)
  expect(await codeOf(stage.ask('/metrics', undefined, as('bob')))).toEqual([403, 'insufficient_scope'])
})

it('tells how it does and what it can', async () => {
  const health = await (await stage.ask('/health/detailed')).json()
  expect(health).toMatchObject({ status: 'ok', store: 'ok', uptime_seconds: expect.any(Number), platforms: [] })
  expect(await (await stage.ask('/v1/capabilities')).json()).toMatchObject({
    auth: { required: true },
    features: { runs: true, cors: true },
  })
  const toolsets = (await (await stage.ask('/v1/toolsets')).json()) as { data: { name: string }[] }
  expect(toolsets.data.map(({ name }) => name)).toContain('terminal')
  const skills = (await (await stage.ask('/v1/skills')).json()) as { data: { name: string; source: string }[] }
  expect(skills.data.length).toBeGreaterThan(0)
  expect(skills.data[0]).toMatchObject({ object: 'skill', name: expect.any(String), source: expect.any(String) })
})

it('gives an answer that was lost on the way again, after a restart too, and another one to who heard it', async () => {
  const texts = ['First.', 'Second.', 'Third.', 'Fourth.']
  stage.server.setHandler(() => ({ text: texts.shift()! }))
  const textOf = async (answer: Promise<Response>) => {
    const { choices } = (await (await answer).json()) as { choices: { message: { content: string } }[] }
    return choices[0]!.message.content
  }
  const lost = { 'x-lost': 'yes' }
  expect(await textOf(chat('Lost?', lost))).toBe('First.')
  expect(await textOf(chat('Lost?', lost))).toBe('First.')
  await stage.restart()
  const again = await chat('Lost?')
  const session = { 'x-hermes-session-id': again.headers.get('x-hermes-session-id')! }
  expect(await textOf(Promise.resolve(again))).toBe('First.')
  expect(await textOf(chat('Lost?'))).toBe('Second.')
  // The same in a session that is named, where the new words are sent alone.
  expect(await textOf(chat('And then?', { ...session, ...lost }))).toBe('Third.')
  expect(await textOf(chat('And then?', session))).toBe('Third.')
  expect(await textOf(chat('And then?', session))).toBe('Fourth.')
})

it('carries out the same words again where their answer went elsewhere, or where they come under another key', async () => {
  let turn = 0
  stage.server.setHandler(() => ({ text: `${++turn}.` }))
  const begun = await chat('Begin.')
  const id = begun.headers.get('x-hermes-session-id')!
  const go = async (headers: object = {}) => {
    const answer = await chat('go', { 'x-hermes-session-id': id, ...headers })
    return ((await answer.json()) as { choices: { message: { content: string } }[] }).choices[0]!.message.content
  }
  await stage.sayElsewhere(id, 'go')
  expect(await go({ 'x-lost': 'yes' })).toBe('3.')
  // What was said since ends what was lost.
  await stage.sayElsewhere(id, 'go')
  expect(await go()).toBe('5.')
  const first = { 'idempotency-key': 'first' }
  expect(await go({ ...first, 'x-lost': 'yes' })).toBe('6.')
  await stage.restart()
  expect(await go({ ...first, 'x-lost': 'yes' })).toBe('6.')
  expect(await go(first)).toBe('6.')
  expect(await go()).toBe('7.')
  expect(await go({ 'idempotency-key': 'second', 'x-lost': 'yes' })).toBe('8.')
  expect(await go({ 'idempotency-key': 'third' })).toBe('9.')
})

it('gives a stored answer only to who asks for the same, and demands no call of tools that the session cannot see', async () => {
  const texts = ['Prose.', 'Cut here.', '{"a":1}', 'Base.', 'More prose.', 'With tools.', '{"a":2}']
  stage.server.setHandler(() => ({ text: texts.shift()! }))
  const post = async (path: string, body: object, headers = {}) => {
    const answer = await stage.ask(path, body, headers)
    return { status: answer.status, session: answer.headers.get('x-hermes-session-id')!, text: await answer.text() }
  }
  const messages = [{ role: 'user', content: 'Cities?' }]
  const completions = '/v1/chat/completions'
  await post(completions, { messages }, { 'x-lost': 'yes' })
  const cut = await post(completions, { messages, stop: [' here'] }, { 'x-lost': 'yes' })
  expect(cut.text).toContain('"Cut"')
  const asData = await post(completions, { messages, response_format: { type: 'json_object' } })
  expect(JSON.parse(asData.text)).toMatchObject({ choices: [{ message: { content: '{"a":1}' } }] })
  const base = JSON.parse((await post('/v1/responses', { input: 'Hello.' })).text) as { id: string }
  const follow = async (more: object) => {
    const { text } = await post('/v1/responses', { input: 'Summarise.', previous_response_id: base.id, ...more })
    return (JSON.parse(text) as { output: { content: { text: string }[] }[] }).output[0]!.content[0]!.text
  }
  const json = { text: { format: { type: 'json_object' } } }
  expect(await follow({})).toBe('More prose.')
  expect(await follow({})).toBe('More prose.')
  const mine = { name: 'mine', parameters: { type: 'object' } }
  expect(await follow({ tools: [{ type: 'function', ...mine }] })).toBe('With tools.')
  expect(await follow(json)).toBe('{"a":2}')
  const count = stage.server.requests.length
  const tools = [{ type: 'function', function: mine }]
  const late = await post(
    completions,
    { messages, tools, tool_choice: 'required' },
    { 'x-hermes-session-id': asData.session },
  )
  expect([late.status, late.text]).toEqual([400, expect.stringContaining('came after the session had begun')])
  expect(stage.server.requests).toHaveLength(count)
})
