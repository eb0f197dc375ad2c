// Recorded sessions of the gateway: what goes to the model server, and the bodies and server-sent events that its clients get.
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { ModelStep } from '@hermes/testkit'
import { expect } from 'vitest'
import { type Gateway, KEY, startGateway } from '../support/gateway.js'
import { call, ENV, goldenSessions, isChild, newest, type Stage, writtenCalls } from './stage.js'

const session = goldenSessions('gateway')
const RECORD = '## Active Task\nnone\n\n## Goal\nread\n\n## Completed Actions\n1. read a lot'

interface Client {
  readonly gateway: Gateway
  /** A conversation's next request; records status, headers of our own and the body, or each event of the stream. */
  ask(body: object, headers?: Record<string, string>): Promise<{ readonly text: string; readonly id: string }>
  /** Any other request; records it likewise. */
  get(path: string, body?: string): Promise<string>
}

/** A session with a gateway of its own, which is stopped at the end. */
function served(name: string, play: (stage: Stage, client: Client) => Promise<void>, settings: object = {}): void {
  session(name, async (stage) => {
    await stage.config(settings)
    const flags = ['--base-url', stage.server.baseUrl, '-m', 'test']
    const { home, cwd } = stage
    const gateway = await startGateway(flags, { home, cwd, env: { ...ENV, API_SERVER_KEY: KEY } })
    try {
      await play(stage, createClient(stage, gateway))
    } finally {
      stage.record('exit code of the gateway', [String(await gateway.stop())])
    }
  })
}

function createClient(stage: Stage, gateway: Gateway): Client {
  const authorization = `Bearer ${KEY}`
  const fetched = async (title: string, path: string, body?: string, headers: Record<string, string> = {}) => {
    const response = await gateway.request(path, { headers: { authorization, ...headers }, ...(body && { body }) })
    const text = await response.text()
    const ours = [...response.headers].filter(([name]) => /^(?:content-type|x-hermes|retry-after)/.test(name))
    stage.record(title, [
      `# status ${response.status} ${JSON.stringify(Object.fromEntries(ours))}`,
      ...text.split('\n').filter((line) => line !== '' && !isOutputSeen(line)),
    ])
    return { text, id: response.headers.get('x-hermes-session-id') ?? '' }
  }
  return {
    gateway,
    ask: (body, headers) => {
      const text = JSON.stringify({ model: 'test', ...body })
      return fetched(`POST /v1/chat/completions ${text}`, '/chat/completions', text, headers)
    },
    get: async (path, body) => (await fetched(`${body === undefined ? 'GET' : 'POST'} /v1${path}`, path, body)).text,
  }
}

/** Whether a line of a command's output was seen before its end depends on the clock. */
function isOutputSeen(line: string): boolean {
  return line.includes('"status":"running"') && line.includes('"detail"') && !line.includes('"data":{')
}

const user = (content: unknown) => ({ role: 'user', content })
const assistant = (content: string) => ({ role: 'assistant', content })

served('models-are-listed-and-mistakes-are-named', async (_, { get, ask }) => {
  await get('/models')
  await get('/models/gpt-9')
  await get('/nowhere')
  await ask({ messages: 5 })
  await ask({ messages: [user('Hi.')], model: 'gpt-9' })
  await ask({ messages: [user('Hi.')] }, { authorization: 'Bearer wrong' })
  await ask({ messages: [user('Hi.')] }, { 'X-Hermes-Session-Id': 'api-nowhere' })
})

served('an-answer-in-one-body-with-tools', async ({ put, script }, { ask }) => {
  await put('note.txt', 'plum\n')
  script({ text: 'I read.', ...call('read_file', { path: 'note.txt' }) }, { text: 'It says plum.' })
  await ask({ messages: [user('What is the word?')] })
})

served('a-stream-with-tools', async ({ put, script }, { ask }) => {
  await put('note.txt', 'plum\n')
  script(
    { reasoning: 'Look first.', text: 'Reading.', ...call('read_file', { path: 'note.txt' }) },
    call('terminal', { command: 'echo out; exit 3' }),
    call('write_file', { path: 'new.txt', content: 'x\n' }),
    { text: 'The word is plum.', chunkSize: 5 },
  )
  await ask({ messages: [user('Work.')], stream: true, stream_options: { include_usage: true } })
})

served('a-conversation-goes-on-by-its-history-and-by-its-id', async ({ script, chat }, { ask }) => {
  script({ text: 'Cod.' }, { text: 'Eel.' }, { text: 'Ray.' }, { text: 'Carp.' }, { text: 'From the terminal.' })
  const system = { role: 'system', content: 'Speak like a pirate.' }
  const begun = [system, user('Name a fish.')]
  const { id } = await ask({ messages: begun })
  await ask({ messages: [...begun, assistant('Cod.'), user('Another.')] })
  await ask({ messages: [user('A third.')], stream: true }, { 'X-Hermes-Session-Id': id })
  await ask({ messages: [user('Red or blue?'), assistant('Blue.'), user('And now?')] })
  await ask({ messages: [...begun, assistant('Bass.'), user('So?')] }, { 'X-Hermes-Session-Id': id })
  await chat('-r', id, '-q', 'Back again.', '--json')
})

served(
  'an-approval-nobody-can-give-is-denied',
  async ({ cwd, script, answer }, { ask }) => {
    await mkdir(join(cwd, 'old'))
    const remove = call('terminal', { command: 'rm -rf old' })
    script(remove, { text: 'I may not.' }, remove)
    answer(() => ({ text: '' }))
    await ask({ messages: [user('Delete it.')] })
    await ask({ messages: [user('Delete it now.')], stream: true })
  },
  { approvals: { unattended_mode: 'deny' } },
)

served('a-child-is-shown-steered-and-its-answer-comes', async ({ server, put, script, answer }, { ask, get }) => {
  await put('a.txt', 'alpha\n')
  script({ text: 'Ready.' })
  const { id } = await ask({ messages: [user('Are you there?')] })
  const held = Promise.withResolvers<void>()
  answer(async (request) => {
    const isAfterTool = request.body.messages.at(-1)!.role === 'tool'
    if (!isChild(request)) return isAfterTool ? { text: 'Alpha.' } : call('delegate_task', { goal: 'Read a.txt.' })
    if (isAfterTool) return { text: 'It says alpha.' }
    await held.promise
    return call('read_file', { path: 'a.txt' })
  })
  const requested = ask({ messages: [user('Have it read.')], stream: true }, { 'X-Hermes-Session-Id': id })
  await server.waitForRequests(3)
  await get(`/sessions/${id}/children/1/steer`, '{"text":"Only the first word."}')
  await get(`/sessions/${id}/children/9/kill`, '{}')
  held.resolve()
  await requested
  await get(`/sessions/${id}/children`)
})

served('a-background-result-wakes-the-session-and-leads-the-next-answer', async ({ home, answer }, { ask }) => {
  const answered = Promise.withResolvers<void>()
  answer(async (request) => {
    if (isChild(request)) await answered.promise
    if (isChild(request)) return { text: 'Three apples.' }
    if (newest(request).includes('Three apples')) return { text: 'I heard: three.' }
    if (newest(request).includes('Begin.')) return call('delegate_task', { goal: 'Count.', background: true })
    return { text: request.body.messages.at(-1)!.role === 'tool' ? 'It runs.' : 'Yes.' }
  })
  const began = [user('Begin.'), { role: 'assistant', content: 'It runs.' }]
  await ask({ messages: [user('Begin.')] })
  answered.resolve()
  await expect.poll(() => writtenCalls(home), { interval: 20, timeout: 15_000 }).toBe(4)
  const { text } = await ask({ messages: [...began, user('And?')] })
  const { content } = JSON.parse(text).choices[0].message
  const known = [...began, user('And?'), { role: 'assistant', content }]
  await ask({ messages: [...known, user('Once more?')], stream: true })
})

served('a-client-that-leaves-ends-the-turn', async ({ cwd, script, record }, { gateway, ask }) => {
  script(call('terminal', { command: 'touch begun; sleep 600' }), { text: 'Here again.' })
  const leave = new AbortController()
  const response = await fetch(`${gateway.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}` },
    body: JSON.stringify({ model: 'test', messages: [user('Wait.')], stream: true }),
    signal: leave.signal,
  })
  await expect.poll(() => existsSync(join(cwd, 'begun')), { interval: 20, timeout: 15_000 }).toBe(true)
  leave.abort()
  record('the client left', [])
  await ask({ messages: [user('Go on.')] }, { 'X-Hermes-Session-Id': response.headers.get('x-hermes-session-id')! })
})

served(
  'a-model-that-fails-is-an-error-of-the-server',
  async ({ script }, { ask }) => {
    script({ fault: 'status', status: 401 }, { fault: 'cut', text: 'Half an answer.' }, { text: 'It works now.' })
    await ask({ messages: [user('Will it work?')] })
    await ask({ messages: [user('Will it work?')], stream: true })
    await ask({ messages: [user('Will it work?')] })
  },
  { agent: { api_max_retries: 0 } },
)

served(
  'a-long-stream-is-compacted',
  async ({ put, answer }, { ask }) => {
    await put('big.txt', 'some words in a line\n'.repeat(400))
    let calls = 0
    answer(({ body }) => {
      if (String(body.messages[0]?.content).startsWith('You write the record')) return { text: RECORD }
      if (calls++ === 8) return { text: 'All read.' }
      const command = `head -c 7000 big.txt; echo ${calls}`
      return { ...call('terminal', { command }), usage: { inputTokens: calls * 3_000 } }
    })
    await ask({ messages: [user('Read big.txt.')], stream: true })
  },
  { model: { context_length: 24_000 } },
)

served('commands-are-answered-without-a-model', async ({ script }, { ask }) => {
  script({ text: 'A folder.' }, { text: 'Cod.' }, { text: 'Eel.' })
  const begun = [user('/help'), assistant('…'), user('Name a fish.')]
  await ask({ messages: begun.slice(0, 1) })
  await ask({ messages: [user('/modle')] })
  await ask({ messages: [user('/usr/bin is what?')] })
  await ask({ messages: begun })
  const titled = [...begun, assistant('Cod.'), user('/title Fish')]
  await ask({ messages: titled, stream: true, stream_options: { include_usage: true } })
  const another = [...titled, assistant('This session is called Fish.'), user('Another.')]
  await ask({ messages: another })
  await ask({ messages: [...another, assistant('Eel.'), user('/model gpt-9')] })
  await ask({ messages: [...another, assistant('Eel.'), user('/agents')], stream: true })
})

served('a-session-is-compacted-by-a-command', async ({ put, answer }, { ask }) => {
  await put('big.txt', 'some words in a line\n'.repeat(400))
  let calls = 0
  answer(({ body }) => {
    if (String(body.messages[0]?.content).startsWith('You write the record')) return { text: RECORD }
    if (++calls % 6 === 0) return { text: 'Read.', usage: { inputTokens: calls * 3_000 } }
    return call('terminal', { command: `head -c 7000 big.txt; echo ${calls}` })
  })
  const { id } = await ask({ messages: [user('Read big.txt.')] })
  await ask({ messages: [user('Read it again.')] }, { 'X-Hermes-Session-Id': id })
  await ask({ messages: [user('/compress the words --dry-run')] }, { 'X-Hermes-Session-Id': id })
  await ask({ messages: [user('/compress')], stream: true }, { 'X-Hermes-Session-Id': id })
  await ask({ messages: [user('And now?')] }, { 'X-Hermes-Session-Id': id })
})

served('requests-of-one-session-wait-for-each-other', async ({ answer, server }, { ask }) => {
  answer(() => ({ text: 'Ready.' }))
  const { id } = await ask({ messages: [user('Begin.')] })
  const held = Promise.withResolvers<void>()
  answer(async (request): Promise<ModelStep> => {
    if (newest(request).includes('First.')) await held.promise
    return { text: newest(request).includes('First.') ? 'One.' : 'Two.' }
  })
  const first = ask({ messages: [user('First.')] }, { 'X-Hermes-Session-Id': id })
  await server.waitForRequests(2)
  const second = ask({ messages: [user('Second.')] }, { 'X-Hermes-Session-Id': id })
  held.resolve()
  await first
  await second
})
