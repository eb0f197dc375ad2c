import { access, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checkPrefix } from '@hermes/testkit'
import type OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { CLI, parseEvents, runCli } from '../support/cli.js'
import { type Gateway, startGateway } from '../support/gateway.js'
import { useScene } from '../support/scene.js'

type Messages = OpenAI.ChatCompletionMessageParam[]

const scene = useScene({ isShared: true })
let gateway: Gateway

beforeAll(async () => {
  gateway = await startGateway(['--base-url', scene.server.baseUrl, '-m', 'test'], scene)
})
afterAll(() => gateway.stop())
beforeEach(() => scene.server.setHandler(null))

const user = (content: string) => ({ role: 'user', content }) as const
const assistant = (content: string) => ({ role: 'assistant', content }) as const

/** One answer and the session it came from. */
async function ask(messages: Messages, headers: Record<string, string> = {}) {
  const { data, response } = await gateway
    .client({ headers })
    .chat.completions.create({ model: 'hermes-agent', messages })
    .withResponse()
  return { text: data.choices[0]!.message.content, session: response.headers.get('x-hermes-session-id')! }
}

async function entriesOf(
  session: string,
): Promise<{ readonly type: string; readonly message?: { readonly role: string } }[]> {
  const { stdout } = await runCli(['sessions', 'show', session, '--json'], scene)
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

describe('chat completions through the official client', () => {
  it('leaves references in a message as they are: who asks may not be who owns the files', async () => {
    await writeFile(join(scene.cwd, 'notes.txt'), 'private words\n')
    scene.server.enqueue({ text: 'Seen.' })
    await ask([user('See @file:notes.txt')])
    expect(JSON.stringify(scene.server.requests.at(-1)!.body.messages)).not.toContain('private words')
  })

  it('answers in one body', async () => {
    scene.server.enqueue({ text: 'Hello there.', usage: { inputTokens: 11, outputTokens: 3, cacheReadTokens: 5 } })
    const answer = await gateway
      .client()
      .chat.completions.create({ model: 'hermes-agent', messages: [user('Hi, one body.')] })
    expect(answer).toEqual({
      id: expect.stringMatching(/^chatcmpl-[0-9a-f]{32}$/),
      object: 'chat.completion',
      created: expect.any(Number),
      model: 'hermes-agent',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello there.', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 11,
        completion_tokens: 3,
        total_tokens: 14,
        prompt_tokens_details: { cached_tokens: 5 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
      hermes: { session_id: expect.stringMatching(/^api-[0-9a-f]{16}$/), status: 'completed', denied: [] },
    })
  })

  it('streams chunks that end with usage, around a tool that really ran', async () => {
    await writeFile(join(scene.cwd, 'note.txt'), 'The word is plum.\n')
    scene.server.enqueue(
      { text: 'Reading.', toolCalls: [{ name: 'read_file', args: { path: 'note.txt' } }] },
      { text: 'The word is plum.', chunkSize: 4, usage: { inputTokens: 20, outputTokens: 6 } },
    )
    const stream = await gateway.client().chat.completions.create({
      model: 'test',
      messages: [user('What is the word?')],
      stream: true,
      stream_options: { include_usage: true },
    })
    const chunks = []
    for await (const chunk of stream) chunks.push(chunk)
    expect(new Set(chunks.map((chunk) => `${chunk.id} ${chunk.model} ${chunk.object}`)).size).toBe(1)
    expect(chunks[0]!.choices[0]!.delta).toEqual({ role: 'assistant', content: '', refusal: null })
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe('Reading.\n\nThe word is plum.')
    const tools = chunks.flatMap((chunk) => (chunk as { hermes?: { tool?: object } }).hermes?.tool ?? [])
    expect(tools).toEqual([
      expect.objectContaining({ tool: 'read_file', status: 'running', label: expect.stringContaining('note.txt') }),
      expect.objectContaining({ tool: 'read_file', status: 'completed' }),
    ])
    expect(chunks.at(-2)!.choices[0]!.finish_reason).toBe('stop')
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { completion_tokens: expect.any(Number), total_tokens: expect.any(Number) },
    })
    expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true)
    expect(scene.server.violations).toEqual([])
  })

  it('works with the accumulating helper of the client', async () => {
    scene.server.enqueue({ toolCalls: [{ name: 'todo_read', args: {} }] }, { text: 'Nothing to do.' })
    const stream = gateway
      .client()
      .chat.completions.stream({ model: 'hermes-agent', messages: [user('What is left?')] })
    expect(await stream.finalContent()).toBe('Nothing to do.')
    expect((await stream.finalChatCompletion()).choices[0]!.finish_reason).toBe('stop')
  })

  it('sends the events of a stream as they are specified, [DONE] last', async () => {
    scene.server.enqueue({ text: 'ok' })
    const response = await gateway.request('/chat/completions', {
      body: JSON.stringify({ messages: [user('Raw stream.')], stream: true }),
    })
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const events = (await response.text()).split('\n\n')
    expect(events.slice(-2)).toEqual(['data: [DONE]', ''])
    const choice = (delta: object, finish: string | null) => ({
      index: 0,
      delta,
      logprobs: null,
      finish_reason: finish,
    })
    expect(events.slice(0, -2).map((event) => JSON.parse(event.slice('data: '.length)).choices[0])).toEqual([
      choice({ role: 'assistant', content: '', refusal: null }, null),
      choice({ content: 'ok' }, null),
      choice({}, 'stop'),
    ])
  })

  it('takes images and several parts to the model', async () => {
    scene.server.enqueue({ text: 'A dot.' })
    const dot = `data:image/png;base64,${Buffer.from('not really a picture').toString('base64')}`
    await ask([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: dot } },
        ],
      },
    ])
    expect(scene.server.requests.at(-1)!.body.messages.at(-1)).toMatchObject({
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'image_url', image_url: { url: dot } },
      ],
    })
  })

  it('takes files and recordings to the model, and names what it cannot read', async () => {
    scene.server.enqueue({ text: 'A bell.' })
    const data = Buffer.from('not really a recording').toString('base64')
    const pdf = { filename: 'a.pdf', file_data: `data:application/pdf;base64,${data}` }
    const sound = { data, format: 'mp3' } as const
    const parts = [
      { type: 'text', text: 'What is this?' },
      { type: 'file', file: pdf },
      { type: 'input_audio', input_audio: sound },
    ] as const
    await ask([{ role: 'user', content: [...parts] }])
    expect(scene.server.requests.at(-1)!.body.messages.at(-1)).toMatchObject({ content: parts })
    for (const [part, param] of [
      [{ type: 'file', file: { file_id: 'file-1' } }, 'file.file_data'],
      [{ type: 'input_audio', input_audio: { data, format: 'ogg' } }, 'input_audio.format'],
      [{ type: 'input_audio', input_audio: { data: 'ä', format: 'wav' } }, 'input_audio.data'],
    ] as const)
      await expect(ask([{ role: 'user', content: [part as never] }])).rejects.toMatchObject({
        status: 400,
        param: `messages[0].content[0].${param}`,
      })
  })

  it('lists its models', async () => {
    const client = gateway.client()
    expect((await client.models.list()).data.map((model) => model.id)).toEqual(['hermes-agent', 'test'])
    expect(await client.models.retrieve('test')).toMatchObject({ id: 'test', object: 'model' })
    await expect(client.models.retrieve('gpt-9')).rejects.toMatchObject({ status: 404, code: 'model_not_found' })
  })
})

describe('sessions', () => {
  it('derives one session from system text and first message, and appends only what is new', async () => {
    scene.server.setHandler(({ body }) => ({
      text: `Answer ${body.messages.filter(({ role }) => role === 'user').length}.`,
    }))
    const system = { role: 'system', content: 'Speak like a pirate.' } as const
    const first = scene.server.requests.length
    const one = await ask([system, user('Name a fish.')])
    const two = await ask([system, user('Name a fish.'), assistant('Answer 1.'), user('Another.')])
    const three = await ask([
      system,
      user('Name a fish.'),
      assistant('Answer 1.'),
      user('Another.'),
      assistant('Answer 2.'),
      user('A last one.'),
    ])
    expect([two.session, three.session]).toEqual([one.session, one.session])
    expect(three.text).toBe('Answer 3.')
    const [a, b, c] = scene.server.requests.slice(first)
    expect(checkPrefix(a!, b!)).toBeNull()
    expect(checkPrefix(b!, c!)).toBeNull()
    expect(a!.body.messages[0]!.content).toContain('Speak like a pirate.')
    const logged = (await entriesOf(one.session)).filter((entry) => entry.type === 'message')
    expect(logged.map((entry) => entry.message!.role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
      'assistant',
    ])
  })

  it('goes on with a session of the terminal by its id, with the same prefix, and the terminal goes on with it', async () => {
    scene.server.setHandler(() => ({ text: 'ok' }))
    const flags = ['--base-url', scene.server.baseUrl, '-m', 'test']
    const first = scene.server.requests.length
    const run = await runCli(['chat', '-q', 'From the terminal.', '--json', ...flags], scene)
    const id = parseEvents(run.stdout)[0]!.sessionId
    expect(await ask([user('From a program.')], { 'X-Hermes-Session-Id': id })).toEqual({ text: 'ok', session: id })
    await ask([user('From a program.'), assistant('ok'), user('Once more.')], { 'X-Hermes-Session-Id': id })
    expect((await runCli(['chat', '-r', id, '-q', 'Back again.', ...flags], scene)).exitCode).toBe(0)
    const requests = scene.server.requests.slice(first)
    for (let index = 1; index < requests.length; index++)
      expect(checkPrefix(requests[index - 1]!, requests[index]!), `request ${index + 1}`).toBeNull()
    expect(
      requests
        .at(-1)!
        .body.messages.map(({ role }) => role)
        .slice(1),
    ).toEqual(['user', 'assistant', 'user', 'assistant', 'user', 'assistant', 'user'])
  })

  it('takes over a conversation that began elsewhere', async () => {
    scene.server.enqueue({ text: 'Green.' })
    const { session } = await ask([user('Red or blue?'), assistant('Blue.'), user('And now?')])
    expect(
      scene.server.requests
        .at(-1)!
        .body.messages.slice(1)
        .map(({ content }) => content),
    ).toEqual(['Red or blue?', 'Blue.', 'And now?'])
    const logged = (await entriesOf(session)).filter((entry) => entry.type === 'message')
    expect(logged).toHaveLength(4)
  })

  it('begins a new session when an earlier message was edited, and finds that one again', async () => {
    scene.server.setHandler(({ body }) => ({ text: `Heard ${JSON.stringify(body.messages.at(-1)!.content)}.` }))
    const start = [user('Count for me.'), assistant('Heard "Count for me.".')]
    const original = await ask([user('Count for me.')])
    await ask([...start, user('To two.')])
    const edited = await ask([...start, user('To three.')])
    expect(edited.session).not.toBe(original.session)
    const next = await ask([...start, user('To three.'), assistant('Heard "To three.".'), user('Go on.')])
    expect(next.session).toBe(edited.session)
    const back = await ask([...start, user('To two.'), assistant('Heard "To two.".'), user('Go on.')])
    expect(back.session).toBe(original.session)
    expect(JSON.stringify(scene.server.requests.at(-1)!.body.messages)).not.toContain('To three.')
  })

  it('keeps two conversations with the same beginning apart, also when they run at once', async () => {
    scene.server.setHandler(() => ({ text: 'Hello!', latencyMs: 20 }))
    const [one, two] = await Promise.all([ask([user('Same start.')]), ask([user('Same start.')])])
    expect(two.session).not.toBe(one.session)
  })

  it('answers the same messages anew after the client stopped half an answer, and repeats no call made before it', async () => {
    const before = scene.server.requests.length
    scene.server.enqueue(
      { toolCalls: [{ name: 'terminal', args: { command: 'echo ran >> ran.txt' } }] },
      { text: 'Half an answer that goes on and on.', chunkSize: 4, fault: 'stall', afterChunks: 3 },
    )
    const stopped = new AbortController()
    const messages = [user('Count the runs.')]
    const stream = await gateway
      .client()
      .chat.completions.create({ model: 'hermes-agent', messages, stream: true }, { signal: stopped.signal })
    let streamed = ''
    for await (const chunk of stream) {
      streamed += chunk.choices[0]?.delta.content ?? ''
      if (streamed.includes('Half')) stopped.abort()
    }
    scene.server.enqueue({ text: 'Another one.' })
    const { text, session } = await ask(messages)
    expect(text).toBe('Another one.')
    const [, , again] = scene.server.requests.slice(before)
    expect(again!.body.messages.slice(1).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
    expect(JSON.stringify(again!.body.messages)).not.toContain('Half')
    expect(await readFile(join(scene.cwd, 'ran.txt'), 'utf8')).toBe('ran\n')
    const last = (await entriesOf(session)).findLast((entry) => entry.type === 'message')
    expect(JSON.stringify(last)).toContain('Another one.')
  })

  it('resumes an unanswered message after the model failed, instead of asking it twice', async () => {
    scene.server.enqueue({ fault: 'status', status: 401 })
    await expect(ask([user('Will it work?')])).rejects.toMatchObject({ status: 502, code: 'transport.auth' })
    scene.server.enqueue({ text: 'It does now.' })
    const { text, session } = await ask([user('Will it work?')])
    expect(text).toBe('It does now.')
    const logged = (await entriesOf(session)).filter((entry) => entry.type === 'message')
    expect(logged.map((entry) => entry.message!.role)).toEqual(['user', 'assistant'])
  })

  it('runs requests for one session one after another', async () => {
    scene.server.enqueue({ text: 'start' })
    const { session } = await ask([user('A queue begins.')])
    scene.server.setHandler(({ body }) => ({ text: `${body.messages.length}`, latencyMs: 5 }))
    const headers = { 'X-Hermes-Session-Id': session }
    const answers = await Promise.all([1, 2, 3].map((number) => ask([user(`Part ${number}.`)], headers)))
    expect(answers.map(({ text }) => text).sort()).toEqual(['4', '6', '8'])
  })

  it('names a session that does not exist, and refuses a history that the named one contradicts', async () => {
    await expect(ask([user('Hi.')], { 'X-Hermes-Session-Id': 'api-nowhere' })).rejects.toMatchObject({
      status: 404,
      code: 'session_not_found',
      message: expect.stringContaining('"api-nowhere"'),
    })
    scene.server.enqueue({ text: 'Yes.' })
    const { session } = await ask([user('Contradict me.')])
    const conflict = ask([user('Contradict me.'), assistant('No.'), user('So?')], { 'X-Hermes-Session-Id': session })
    await expect(conflict).rejects.toMatchObject({ status: 409, code: 'session_conflict', param: 'messages' })
  })
})

describe('approvals', () => {
  const removal = (folder: string) => ({ toolCalls: [{ name: 'terminal', args: { command: `rm -rf ${folder}` } }] })
  const folderOf = async (name: string) => {
    const folder = join(scene.folder, name)
    await mkdir(folder, { recursive: true })
    return folder
  }
  const approvals = async () => {
    const { stdout } = await runCli(['approvals', 'list', '--json'], scene)
    return stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as { readonly id: string }]))
  }

  it('park the run: the client reads what waits and who answers it, and the same request goes on after the answer', async () => {
    const victim = await folderOf('victim')
    scene.server.enqueue({ ...removal(victim), text: 'I delete it.' })
    const messages = [user('Delete it.')]
    const answer = await gateway.client().chat.completions.create({ model: 'test', messages })
    const [{ id }] = (await approvals()) as [{ readonly id: string }]
    const shown = id.slice(0, 8)
    const { message, finish_reason } = answer.choices[0]!
    expect(finish_reason).toBe('stop')
    expect(message.content).toMatch(/^I delete it\.\n\n⏸ This waits for an approval: Run rm -rf .*victim/)
    expect(message.content).toContain(`hermes approvals answer ${shown} yes (or no).`)
    expect((answer as unknown as { hermes: object }).hermes).toMatchObject({
      status: 'parked',
      denied: [],
      approvals: [{ id, status: 'parked', summary: expect.stringContaining('rm -rf'), toolCallId: expect.any(String) }],
    })
    await access(victim)
    await runCli(['approvals', 'answer', shown, 'yes'], scene)
    scene.server.enqueue({ text: 'It is gone.' })
    expect((await ask(messages)).text).toBe('It is gone.')
    await expect(access(victim)).rejects.toThrow()
    expect(await approvals()).toEqual([])
  })

  it('count for the next try where the client says something else, whose history has the words that nobody said', async () => {
    const victim = await folderOf('second')
    scene.server.enqueue(removal(victim))
    const begun = [user('Delete the second.')]
    const { text, session } = await ask(begun)
    const [{ id }] = (await approvals()) as [{ readonly id: string }]
    await runCli(['approvals', 'answer', id, 'once'], scene)
    scene.server.enqueue(removal(victim), { text: 'Now it is gone.' })
    const next = [...begun, assistant(text!), user('I said yes.')]
    expect(await ask(next)).toEqual({ text: 'Now it is gone.', session })
    await expect(access(victim)).rejects.toThrow()
    expect(JSON.stringify(scene.server.requests.at(-1)!.body.messages)).not.toContain('⏸')
    scene.server.enqueue({ text: 'Yes.' })
    expect((await ask([...next, assistant('Now it is gone.'), user('Sure?')])).session).toBe(session)
  })

  it('are an event of the stream, and the last words of the answer', async () => {
    scene.server.enqueue({ ...removal(await folderOf('other')), text: 'One moment.' })
    const body = JSON.stringify({ model: 'test', messages: [user('Delete the other.')], stream: true })
    const lines = await (await gateway.request('/chat/completions', { body })).text()
    expect(lines).toMatch(/event: hermes\.approval\ndata: \{.*"approval":\{"id":"[^"]+","status":"parked"/)
    const contents = [...lines.matchAll(/"content":("[^"]*(?:\\"[^"]*)*")/g)].map(
      ([, text]) => JSON.parse(text!) as string,
    )
    expect(contents.join('')).toMatch(/^One moment\.\n\n⏸ This waits .* \[waits for [0-9a-f]{8}\]$/s)
    expect(lines).toContain('"status":"parked","denied":[]')
    const [{ id }] = (await approvals()) as [{ readonly id: string }]
    await runCli(['approvals', 'revoke', id], scene)
  })
})

describe('a question of the model', () => {
  const which = (question: string) => ({
    text: 'Let me ask.',
    toolCalls: [{ name: 'clarify', args: { question, choices: ['SQLite', 'PostgreSQL'] } }],
  })
  const lastMessage = () => scene.server.requests.at(-1)!.body.messages.at(-1)

  it('is the end of the answer with its choices by number, and the next message answers it, in the same session', async () => {
    scene.server.enqueue(which('Which database?'), { text: 'PostgreSQL it is.' })
    const begun = [user('Set up a database.')]
    const { text, session } = await ask(begun)
    expect(text).toMatch(
      /^Let me ask\.\n\n⏸ Which database\?\n1\. SQLite\n2\. PostgreSQL\nAnswer with a number, or in your own words\. \[question [0-9a-f]{8}\]$/,
    )
    expect((await ask(begun)).text).toContain('[question ')
    const answered = [...begun, assistant(text!), user('2')]
    expect(await ask(answered)).toEqual({ text: 'PostgreSQL it is.', session })
    expect(lastMessage()).toMatchObject({ role: 'tool', content: 'The user answered: PostgreSQL' })
    scene.server.enqueue({ text: 'Done.' })
    expect((await ask([...answered, assistant('PostgreSQL it is.'), user('Go on.')])).session).toBe(session)
    expect(lastMessage()).toMatchObject({ role: 'user', content: 'Go on.' })
    expect((await runCli(['approvals', 'list', '--json'], scene)).stdout).toBe('')
  })

  it('is data too; own words answer it, also those of a client that sends the new message alone', async () => {
    scene.server.enqueue(which('Which other database?'), { text: 'MySQL then.' })
    const messages = [user('Set up another database.')]
    const { data, response } = await gateway
      .client()
      .chat.completions.create({ model: 'test', messages })
      .withResponse()
    expect((data as unknown as { hermes: object }).hermes).toMatchObject({
      status: 'parked',
      question: { question: 'Which other database?', choices: ['SQLite', 'PostgreSQL'], id: expect.any(String) },
    })
    const session = response.headers.get('x-hermes-session-id')!
    expect((await ask([user('MySQL.')], { 'X-Hermes-Session-Id': session })).text).toBe('MySQL then.')
    expect(lastMessage()).toMatchObject({ content: 'The user answered: MySQL.' })
  })
})

describe('hermes gateway', () => {
  it('starts the same server', async () => {
    const other = await startGateway(['--base-url', scene.server.baseUrl, '-m', 'test'], {
      ...scene,
      program: [CLI, 'gateway'],
    })
    scene.server.enqueue({ text: 'Through the other door.' })
    const answer = await other.client().chat.completions.create({ model: 'test', messages: [user('Which door?')] })
    expect(answer.choices[0]!.message.content).toBe('Through the other door.')
    expect(await other.stop()).toBe(0)
  })
})
