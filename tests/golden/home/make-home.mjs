// node tests/golden/home/make-home.mjs CHECKOUT: makes a home with the built apps of another checkout, through their real entry points
// and a scripted model server, and packs it with the folder it worked in and the last request of each session into
// home-COMMIT.json.gz beside this file. Needs tmux. The folder is fixed, because the records of a home name it and are signed in a chain.
// Exit codes: 0 made, 1 something went another way than the script says.
import { execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { FOLDER, pack } from './packed-home.mjs'

const checkout = resolve(process.argv[2] ?? '.')
const commit = execFileSync('git', ['-C', checkout, 'rev-parse', '--short=7', 'HEAD'], { encoding: 'utf8' }).trim()
const bins = Object.fromEntries(
  ['cli', 'gateway', 'acp'].map((app) => [app, join(checkout, `apps/${app}/dist/bin.js`)]),
)
const [home, cwd] = [join(FOLDER, 'user/.hermes'), join(FOLDER, 'work')]
const env = {
  PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
  HOME: dirname(home),
  HERMES_HOME: home,
  TERM: 'xterm',
  LANG: 'C.UTF-8',
  TZ: 'UTC',
  API_SERVER_KEY: 'the-key-of-a-test-0123456789',
}
const RECORD = '## Active Task\nnone\n\n## Goal\nread\n\n## Completed Actions\n1. read a lot'

/** A conversation of another program whose last call was never answered. */
const TRANSCRIPT = [
  ['user', 'Where is the teakettle?'],
  ['assistant', [{ type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'ls' } }]],
]
  .map(([role, content]) => ({
    ...{ type: role, message: { role, content, ...(role === 'assistant' && { id: 'm', model: 'claude-opus-4-5' }) } },
    ...{ uuid: 'u', sessionId: '4f35e220', cwd: '/home/me/project', version: '2.1.12' },
    timestamp: '2026-01-20T11:57:17.716Z',
  }))
  .map((line) => `${JSON.stringify(line)}\n`)
  .join('')

/** Answers in order, unless `handler` is set; `null` never ends. */
let script = []
let handler = null
const requests = []
const server = createServer(async (request, response) => {
  if (request.method === 'GET') return response.end('{"object":"list","data":[]}')
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const body = JSON.parse(Buffer.concat(chunks).toString())
  requests.push(body)
  const turn = handler ? handler(body) : script.shift()
  if (turn === undefined) throw new Error('The script has no turn left.')
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (choices, rest) =>
    response.write(
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: body.model, choices, ...rest })}\n\n`,
    )
  if (turn === null) return send([{ index: 0, delta: { role: 'assistant', content: 'Never' }, finish_reason: null }])
  const { text, calls = [], inputTokens = 1_000 } = turn
  const tool_calls = calls.map(([name, args], index) => ({
    ...{ index, id: `call_${requests.length}_${index}`, type: 'function' },
    function: { name, arguments: JSON.stringify(args) },
  }))
  send([{ index: 0, delta: { role: 'assistant', content: text ?? '' }, finish_reason: null }])
  if (tool_calls.length > 0) send([{ index: 0, delta: { tool_calls }, finish_reason: null }])
  send([{ index: 0, delta: {}, finish_reason: tool_calls.length > 0 ? 'tool_calls' : 'stop' }])
  send([], { usage: { prompt_tokens: inputTokens, completion_tokens: 10, total_tokens: inputTokens + 10 } })
  response.end('data: [DONE]\n\n')
})
const call = (name, args) => ({ calls: [[name, args]] })
const isChild = (body) => String(body.messages[0].content).startsWith('You were started by another agent')
const newest = (body) => JSON.stringify(body.messages.at(-1))

/** By what each session is for: its id, and what its model was sent last. */
const sessions = {}

rmSync(FOLDER, { recursive: true, force: true })
mkdirSync(home, { recursive: true, mode: 0o700 })
mkdirSync(cwd)
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const baseUrl = `http://127.0.0.1:${server.address().port}/v1`
const flags = ['--base-url', baseUrl, '-m', 'test']
try {
  await makeHome()
  writeFileSync(join(import.meta.dirname, `home-${commit}.json.gz`), pack({ commit, sessions }))
} finally {
  server.close()
  server.closeAllConnections()
  rmSync(FOLDER, { recursive: true, force: true })
}

async function makeHome() {
  settings({ approvals: { timeout: 1 }, model_overrides: { small: { context_window: 24_000 } } })
  put('note.txt', 'colour\n')
  put('big.txt', 'some words in a line\n'.repeat(400))

  // Files, a command, the task list, memory, a learning; a checkpoint is taken on the way.
  script = [
    { text: 'I look.', ...call('read_file', { path: 'note.txt' }) },
    call('write_file', { path: 'note.txt', content: 'changed by the agent\n' }),
    call('terminal', { command: 'echo teakettle' }),
    call('todo_write', { todos: [{ id: '1', content: 'tidy up', status: 'in_progress' }] }),
    call('memory', { action: 'add', target: 'user', content: 'Prefers tabs.' }),
    call('learning', { action: 'save', pattern: 'kettle: element burnt out at 3000 W', fix: 'Replace the element.' }),
    { text: 'All done.' },
  ]
  const toolsets = 'file,terminal,todo,memory,learning'
  await chat('tools', '-q', 'Do the files.', '-t', toolsets, '--yolo')
  await hermes('sessions', 'rename', sessions.tools.id, 'Kettle')
  await hermes('sessions', 'tag', sessions.tools.id, 'kitchen')

  // A long session that was compacted.
  let calls = 0
  handler = (body) => {
    if (String(body.messages[0].content).startsWith('You write the record')) return { text: RECORD }
    if (calls++ === 9) return { text: 'All read.' }
    return {
      ...call('terminal', { command: `head -c 7000 big.txt; echo ${calls}` }),
      inputTokens: Math.min(calls, 7) * 3_000,
    }
  }
  await chat('compacted', '-q', 'Read big.txt. Never touch secret.txt.', '-m', 'small')
  handler = null

  // A fork that went another way, a child, a plan, an imported session.
  script = [{ text: 'The other way.' }]
  const fork = (await hermes('sessions', 'fork', 'Kettle')).trim()
  await chat('fork', '-r', fork, '-q', 'Another way.')
  handler = (body) => {
    const isAfterTool = body.messages.at(-1).role === 'tool'
    if (isChild(body)) return isAfterTool ? { text: 'It says colour.' } : call('read_file', { path: 'note.txt' })
    return isAfterTool ? { text: 'Read.' } : call('delegate_task', { goal: 'Read note.txt.' })
  }
  await chat('parent', '-q', 'Have it read.')
  handler = null
  script = [call('write_file', { path: 'plan.txt', content: 'x\n' }), { text: '1. Write plan.txt.\n2. Read it.' }]
  await chat('plan', '--plan', '-q', 'Write it.')
  put('4f35e220.jsonl', TRANSCRIPT)
  await hermes('sessions', 'import', join(cwd, '4f35e220.jsonl'))
  sessions.imported = { id: 'claude-code-4f35e220' }

  // A conversation with title and summary, a rule for always, and a question nobody answered.
  handler = (body) => {
    const text = JSON.stringify(body.messages)
    if (text.includes('Name the conversation below')) return { text: 'Adding two and two' }
    if (text.includes('Sum up the conversation')) return { text: 'Two sums were worked out.\nKeywords: arithmetic' }
    return { text: `Answer to ${body.messages.length} messages.` }
  }
  await terminal([], async ({ say, shows }) => {
    await say('What is 2 + 2?', 'Answer to 2 messages.')
    await say('And 3 + 3?', 'Answer to 4 messages.')
    keep('terminal', await newestSession())
    await say('/new', 'new session')
    await shows(() => hermes('sessions', 'search', 'arithmetic').catch(() => ''), 'Two sums were worked out.')
  })
  handler = null
  put('one/a.txt', 'x')
  put('two/a.txt', 'x')
  settings({ approvals: { timeout: 60 }, auxiliary: { title_generation: { enabled: false } } })
  script = [call('terminal', { command: 'rm -rf one' }), { text: 'Gone.' }]
  await terminal([], async ({ say, type, shows }) => {
    await say('Clean up.', '[y] yes, once')
    await type('a')
    await shows(null, 'Gone.')
    keep('always', await newestSession())
  })
  settings({ approvals: { timeout: 1 }, auxiliary: { title_generation: { enabled: false } } })
  script = [call('terminal', { command: 'rm -rf two' })]
  await terminal([], async ({ say }) => {
    await say('Clean up more.', 'Nobody answered in time')
    keep('parked', await newestSession())
  })

  await editorSession()
  await gatewaySessions()

  // The last process is killed while its model answers: what it reserved of the budget stays, and so does its lease.
  settings({ budget: { day: { tokens: 1_000_000 } } })
  handler = () => null
  const child = start(bins.cli, ['chat', '-q', 'Tell me a long story.', ...flags])
  child.stdin.end()
  await until(() => requests.at(-1).messages.at(-1).content === 'Tell me a long story.')
  await sleep(300)
  child.kill('SIGKILL')
  await once(child, 'close')
  keep('killed', await newestSession())
  rmSync(join(home, 'backups'), { recursive: true, force: true })
  rmSync(join(home, 'logs'), { recursive: true, force: true })
  settings({})
}

async function editorSession() {
  script = [
    call('todo_write', { todos: [{ id: '1', content: 'edit', status: 'pending' }] }),
    { text: 'From the editor.' },
  ]
  const editor = start(bins.acp, flags)
  let output = ''
  editor.stdout.on('data', (text) => (output += text))
  const request = async (id, method, params) => {
    editor.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    const answer = () => output.split('\n').find((line) => line.includes(`"id":${id},"result"`))
    await until(answer)
    return JSON.parse(answer()).result
  }
  await request(101, 'initialize', { protocolVersion: 1, clientCapabilities: {} })
  const { sessionId } = await request(102, 'session/new', { cwd, mcpServers: [] })
  await request(103, 'session/prompt', { sessionId, prompt: [{ type: 'text', text: 'Edit.' }] })
  keep('editor', sessionId)
  editor.stdin.end()
  await once(editor, 'close')
}

/** One task in the background has ended and nobody was told; another one was cut off by the end of the gateway. */
async function gatewaySessions() {
  handler = (body) => {
    if (isChild(body)) return newest(body).includes('Count pears.') ? null : { text: 'Three apples.' }
    const [goal] = /Count \w+\./.exec(newest(body)) ?? []
    return goal ? call('delegate_task', { goal, background: true }) : { text: 'It runs.' }
  }
  const gateway = start(bins.gateway, ['--port', '0', ...flags])
  let output = ''
  gateway.stdout.on('data', (text) => (output += text))
  await until(() => /http:\S+\/v1/.test(output))
  const [url] = /http:\S+\/v1/.exec(output)
  const headers = { authorization: `Bearer ${env.API_SERVER_KEY}` }
  const states = { background: 'completed', cut: 'running' }
  for (const [name, text] of [
    ['background', 'Count apples.'],
    ['cut', 'Count pears.'],
  ]) {
    const body = JSON.stringify({ model: 'test', messages: [{ role: 'user', content: text }] })
    const response = await fetch(`${url}/chat/completions`, { method: 'POST', headers, body })
    const { hermes } = await response.json()
    const children = async () => (await fetch(`${url}/sessions/${hermes.session_id}/children`, { headers })).text()
    await until(async () => (await children()).includes(`"state":"${states[name]}"`))
    sessions[name] = { id: hermes.session_id, request: requests.findLast((sent) => !isChild(sent)) }
  }
  await sleep(500)
  gateway.kill('SIGKILL')
  await once(gateway, 'close')
  handler = null
}

function settings(value) {
  writeFileSync(join(home, 'config.yaml'), JSON.stringify(value), { mode: 0o600 })
}

function put(path, text) {
  mkdirSync(dirname(join(cwd, path)), { recursive: true })
  writeFileSync(join(cwd, path), text)
}

function start(bin, args) {
  const child = spawn(process.execPath, [bin, ...args], { cwd, env, stdio: 'pipe' })
  child.stderr.pipe(process.stderr)
  return child
}

async function hermes(...args) {
  const child = start(bins.cli, args)
  child.stdin.end()
  let output = ''
  child.stdout.on('data', (text) => (output += text))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`hermes ${args.join(' ')} ended with ${code}: ${output}`)
  return output
}

async function chat(name, ...args) {
  await hermes('chat', ...flags, ...args)
  keep(name, await newestSession())
}

async function newestSession() {
  return JSON.parse((await hermes('sessions', 'list', '--json')).split('\n')[0]).id
}

function keep(name, id) {
  const isSide = ({ messages }) =>
    /Name the conversation below|Sum up the conversation|You write the record/.test(JSON.stringify(messages))
  sessions[name] = { id, request: requests.findLast((body) => !isChild(body) && !isSide(body)) }
}

async function terminal(args, play) {
  const name = `hermes-make-home-${randomUUID()}`
  const tmux = (...words) => execFileSync('tmux', ['-L', name, '-f', '/dev/null', ...words], { encoding: 'utf8' })
  const words = [
    'env',
    '-i',
    ...Object.entries({ ...env, TERM: 'tmux-256color' }).map(([key, value]) => `${key}=${value}`),
  ]
  const command = [...words, process.execPath, bins.cli, ...args, ...flags].map((word) => `'${word}'`).join(' ')
  tmux(
    'new-session',
    '-d',
    '-x',
    '100',
    '-y',
    '50',
    '-c',
    cwd,
    '/bin/sh',
    '-c',
    `${command}; echo "[left]"; exec sleep 60`,
  )
  const screen = () => tmux('capture-pane', '-p', '-J', '-S', '-1000').trimEnd()
  const shows = (read, text) => until(async () => (read ? await read() : screen()).includes(text))
  try {
    await until(() => /\n>$/.test(screen()))
    const type = (text) => tmux('send-keys', '-l', '--', text)
    const say = async (line, reply) => {
      type(line)
      tmux('send-keys', 'Enter')
      await shows(null, reply)
    }
    await play({ say, type, shows })
    tmux('send-keys', 'C-d')
    await shows(null, '[left]')
  } finally {
    tmux('kill-server')
  }
}

async function until(isTrue) {
  for (let tries = 0; tries < 600; tries++) {
    if (await isTrue()) return
    await sleep(50)
  }
  throw new Error(`This never came true: ${isTrue}`)
}
