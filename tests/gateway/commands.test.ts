// Slash commands over HTTP: answered without a model, in the terms of the API, and no part of the conversation.
import { afterEach, beforeEach, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { type Gateway, KEY, startGateway } from '../support/gateway.js'
import { useScene } from '../support/scene.js'

const scene = useScene()
let gateway: Gateway

beforeEach(async () => {
  gateway = await startGateway(['--base-url', scene.server.baseUrl, '-m', 'm'], scene)
})
afterEach(() => gateway.stop())

type ChatMessage = { readonly role: string; readonly content: unknown }
const user = (content: unknown): ChatMessage => ({ role: 'user', content })
const assistant = (content: string): ChatMessage => ({ role: 'assistant', content })

async function ask(
  messages: readonly ChatMessage[],
  { id = '', stream = false, signal }: { id?: string; stream?: boolean; signal?: AbortSignal } = {},
) {
  const response = await fetch(`${gateway.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, ...(id === '' ? {} : { 'X-Hermes-Session-Id': id }) },
    body: JSON.stringify({ model: 'm', messages, stream }),
    ...(signal ? { signal } : {}),
  })
  const text = await response.text()
  const body = stream ? null : JSON.parse(text)
  return {
    status: response.status,
    text: body?.choices?.[0].message.content ?? text,
    hermes: body?.hermes,
    error: body?.error,
    id: response.headers.get('x-hermes-session-id'),
  }
}

it('answers a command in the first message without a session, a model call or a trace', async () => {
  const help = await ask([user('/help')])
  expect(help.text).toMatch(
    /^- \/agents .*\n- \/compress .*\n- \/context .*\n- \/help .*\n- \/history .*\n- \/reasoning \[EFFORT \| show \| hide\] .*\n- \/stop .*\n- \/title TEXT .*\n- \/usage .*\n- \/version /,
  )
  expect(help).toMatchObject({
    status: 200,
    id: null,
    hermes: { session_id: null, command: { name: 'help', line: '/help' } },
  })
  expect(help.hermes.command.outputs[0]).toMatchObject({ type: 'table', rows: expect.any(Array) })
  expect((await ask([user(' /USAGE ')])).text).toBe('/usage needs a conversation; say something first.')
  expect((await ask([user('/usgae')])).text).toBe('Unknown command /usgae. Did you mean /usage? /help lists all.')
  expect(scene.server.requests).toHaveLength(0)
  expect((await runCli(['sessions', 'list'], scene)).stdout).toBe('')
})

it('says of what is for the owner that it is, and does nothing', async () => {
  for (const line of ['/model gpt-9', '/yolo', '/approvals', '/plan mend it', '/sessions', '/tools', '/rollback 1'])
    expect((await ask([user(line)])).text).toMatch(/^\/[a-z]+ is for the owner of this Hermes/)
  const undo = await ask([user('/undo')])
  expect(undo.text).toBe('/undo cannot be carried out here.')
  expect(undo.hermes.command.outputs).toEqual([{ type: 'text', text: undo.text, isProblem: true }])
  expect(scene.server.requests).toHaveLength(0)
})

it.each(['/usr/bin is missing', '/etc/hosts is broken', '/tmp fills up', '/ is full', 'see /help'])(
  'hands %j to the model',
  async (line) => {
    scene.server.enqueue({ text: 'I see.' })
    expect((await ask([user(line)])).text).toBe('I see.')
  },
)

it('keeps commands out of the conversation, whose prefix stays as it was', async () => {
  scene.server.enqueue({ text: 'Cod.' }, { text: 'Eel.' }, { text: 'Ray.' })
  const begun = [user('/help'), assistant('A list.'), user('Name a fish.')]
  const first = await ask(begun)
  const requested = [...begun, assistant('Cod.'), user('/title Fish')]
  const titled = await ask(requested)
  expect(titled).toMatchObject({ id: first.id, text: 'This session is called Fish.' })
  const all = [...requested, assistant(titled.text), user('/modle'), assistant('Unknown.'), user('Another.')]
  expect(await ask(all)).toMatchObject({ id: first.id, text: 'Eel.' })
  const usage = await ask([...all, assistant('Eel.'), user('/usage')], { stream: true })
  expect(usage.id).toBe(first.id)
  expect(usage.text).toMatch(
    /event: hermes.command\ndata: .*"command":\{"name":"usage".*"finish_reason":"stop".*\[DONE\]/s,
  )
  expect(await ask([user('A third.')], { id: first.id! })).toMatchObject({ id: first.id, text: 'Ray.' })
  expect(scene.server.requests).toHaveLength(3)
  expect(JSON.stringify(scene.server.requests.at(-1)!.body)).not.toMatch(/title Fish|A list|Unknown/)
})

it('lets a command come during a run where it may, and others wait for its end', async () => {
  scene.server.enqueue({ text: 'Ready.' })
  const { id } = await ask([user('Are you there?')])
  const held = Promise.withResolvers<void>()
  scene.server.setHandler(async () => {
    await held.promise
    return { text: 'Late.' }
  })
  const waiting = ask([user('Wait.')], { id: id! })
  await scene.server.waitForRequests(2)
  expect((await ask([user('/agents')], { id: id! })).text).toBe('No tasks were delegated in this conversation.')
  const compressed = ask([user('/compress')], { id: id! })
  const left = new AbortController()
  const gone = ask([user('/compress')], { id: id!, signal: left.signal }).catch((error: Error) => error.name)
  expect((await ask([user('/title During')], { id: id! })).text).toBe('This session is called During.')
  left.abort()
  expect(await gone).toBe('AbortError')
  expect((await ask([user('/stop')], { id: id! })).text).toBe('Done.')
  expect((await waiting).error).toMatchObject({ code: 'run_interrupted' })
  held.resolve()
  expect((await compressed).text).toMatch(/\S/)
  expect(scene.server.requests).toHaveLength(2)
})

it('names what it cannot take', async () => {
  scene.server.enqueue({ text: 'Cod.' })
  const { id } = await ask([user('Name a fish.')])
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
  expect((await ask([user([{ type: 'text', text: '/title X' }, image])], { id: id! })).text).toBe(
    '/title takes text only.',
  )
  expect((await ask([user('/usage now')], { id: id! })).text).toBe('It takes one of why: /usage [why]')
  expect(await ask([user('/usage')], { id: 'api-nowhere' })).toMatchObject({
    status: 404,
    error: { code: 'session_not_found' },
  })
  const other = await ask([user('Other.'), assistant('words'), user('/usage')])
  expect(other).toMatchObject({ id: null, text: '/usage needs a conversation; say something first.' })
})
