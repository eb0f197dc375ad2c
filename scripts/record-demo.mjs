// node scripts/record-demo.mjs: records the model's side of `hermes demo` anew into apps/cli/src/demo/recording.jsonl.
// Needed after a change to the system text, a tool definition or what a tool of the demo answers. The turns below are served over
// HTTP and the built CLI records its own traffic, so that the recording holds what the product really sends. Builds the CLI before,
// and after, so that it ships the new recording.
// Exit codes: 0 recorded, 1 not built or the demo did not go through, 2 for an option, as it has none.
import { spawn } from 'node:child_process'
import { copyFileSync, existsSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { join, resolve } from 'node:path'
import { bundle } from './build.mjs'
import { readOptions } from './options.mjs'

readOptions(import.meta.filename)

const root = resolve(import.meta.dirname, '..')
const recording = join(root, 'apps/cli/src/demo/recording.jsonl')
const bin = join(root, 'apps/cli/dist/bin.js')

const plan = (...states) => [
  { id: '1', content: 'See which case fails and why', status: states[0] },
  { id: '2', content: 'Mend slug.js', status: states[1] },
  { id: '3', content: 'Run the tests again', status: states[2] },
]

const TURNS = [
  { text: 'First the tests, to see what fails.', calls: [['terminal', { command: 'node slug.test.js' }]] },
  {
    text: 'Two cases keep a dash at the end. I will plan this and read the code.',
    calls: [
      ['todo_write', { todos: plan('in_progress', 'pending', 'pending') }],
      ['read_file', { path: 'slug.js' }],
      ['read_file', { path: 'slug.test.js' }],
    ],
  },
  {
    text: 'The last replace takes a dash from the start only. It has to take it from both ends.',
    calls: [
      ['patch', { path: 'slug.js', old_string: ".replace(/^-/, '')", new_string: ".replace(/^-|-$/g, '')" }],
      [
        'todo_write',
        {
          todos: [
            { id: '1', status: 'completed', content: 'See which case fails and why' },
            { id: '2', status: 'completed', content: 'Mend slug.js' },
            { id: '3', status: 'in_progress', content: 'Run the tests again' },
          ],
          merge: true,
        },
      ],
    ],
  },
  { text: 'Now the proof.', calls: [['terminal', { command: 'node slug.test.js' }]] },
  {
    calls: [['todo_write', { todos: [{ id: '3', status: 'completed', content: 'Run the tests again' }], merge: true }]],
  },
  {
    text: 'Done. slugify() trimmed a dash only at the start, so titles ending in a space or a question mark kept one at the end. slug.js now trims both ends; all three tests pass.',
  },
]

if (!bundle(root, '@hermes/cli')) process.exit(1)

let requests = 0
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    // A server on this machine is asked what it runs, too.
    if (!request.url.endsWith('/chat/completions')) return response.writeHead(404).end()
    const turn = TURNS[requests++]
    if (!turn) return response.writeHead(500).end('no more turns')
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of events(turn, requests)) response.write(`data: ${JSON.stringify(event)}\n\n`)
    response.end('data: [DONE]\n\n')
  })
})

function* events(turn, number) {
  const base = { id: `chat-${number}`, object: 'chat.completion.chunk', created: 1, model: 'demo-model' }
  const chunk = (delta, finish = null) => ({ ...base, choices: [{ index: 0, delta, finish_reason: finish }] })
  yield chunk({ role: 'assistant', content: '' })
  for (const word of turn.text?.match(/\S+\s*/g) ?? []) yield chunk({ content: word })
  for (const [index, [name, args]] of (turn.calls ?? []).entries()) {
    yield chunk({
      tool_calls: [{ index, id: `call_${number}_${index + 1}`, type: 'function', function: { name, arguments: '' } }],
    })
    yield chunk({ tool_calls: [{ index, function: { arguments: JSON.stringify(args) } }] })
  }
  yield chunk({}, turn.calls ? 'tool_calls' : 'stop')
  yield {
    ...base,
    choices: [],
    usage: { prompt_tokens: 2000 + 300 * number, completion_tokens: 60, total_tokens: 2060 + 300 * number },
  }
}

server.listen(0, '127.0.0.1', () => {
  const temporary = `${recording}.new`
  rmSync(temporary, { force: true })
  const child = spawn(
    process.execPath,
    [bin, 'demo', '--record', temporary, '--base-url', `http://127.0.0.1:${server.address().port}/v1`],
    { stdio: 'inherit' },
  )
  child.on('exit', (code) => {
    server.close()
    if (code !== 0 || !existsSync(temporary)) {
      console.error('The demo did not go through; the old recording stays.')
      process.exit(1)
    }
    copyFileSync(temporary, recording)
    rmSync(temporary)
    console.log(`Recorded ${requests} requests.`)
    process.exitCode = bundle(root, '@hermes/cli') ? 0 : 1
  })
})
