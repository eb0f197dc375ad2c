// Recorded sessions of `hermes chat -q`: what goes to the model server, what is printed.
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startModelServer } from '@hermes/testkit'
import { runCli, startCli } from '../support/cli.js'
import { call, ENV, goldenSessions, isChild } from './stage.js'

const session = goldenSessions('oneshot')
const RECORD = '## Active Task\nnone\n\n## Goal\nread\n\n## Completed Actions\n1. read a lot'

session('files-are-read-written-and-searched', async ({ put, script, chat }) => {
  await put('notes.txt', 'one\ntwo\n')
  script(
    { reasoning: 'Look first.', text: 'I look.', ...call('read_file', { path: 'notes.txt' }) },
    call('write_file', { path: 'new.txt', content: 'a\nb\n' }),
    call('patch', { path: 'new.txt', old_string: 'b', new_string: 'c' }),
    call('search_files', { pattern: 'two' }),
    call('read_file', { path: 'missing.txt' }),
    call('no_such_tool', {}),
    call('write_file', { path: 5 }),
    { text: 'All done.' },
  )
  await chat('-q', 'Do the files.', '--json')
})

session('commands-run-and-progress-is-printed', async ({ script, chat }) => {
  script(
    call('terminal', { command: 'echo out; echo err >&2; exit 3' }),
    call('terminal', { command: 'mkdir inner; cd inner; pwd' }),
    call('terminal', { command: 'pwd' }),
    call('terminal', { command: 'seq 1 30000' }),
    { text: 'Ran **all**.' },
  )
  await chat('-q', 'Run.')
})

session('a-background-command-is-polled-and-ended', async ({ script, chat }) => {
  script(
    call('terminal', { command: 'echo ready; sleep 600', background: true }),
    call('process', { action: 'list' }),
    { text: 'It runs.' },
  )
  await chat('-q', 'Start it.', '--json')
})

session('an-approval-nobody-can-give-is-denied', async ({ put, script, chat, hermes }) => {
  await put('build/a.txt', 'x')
  script(call('terminal', { command: 'rm -rf build' }), { text: 'I may not.' })
  await chat('-q', 'Clean up.', '--json')
  await hermes('approvals', 'list', '--json')
  await hermes('audit', 'verify')
})

session('yolo-runs-it-but-keeps-the-hard-floor', async ({ put, script, chat }) => {
  await put('build/a.txt', 'x')
  script(call('terminal', { command: 'rm -rf build' }), call('terminal', { command: 'rm -rf /' }), { text: 'Half.' })
  await chat('-q', 'Clean up.', '--yolo', '--json')
})

session('a-long-run-is-compacted', async ({ server, put, config, answer, chat }) => {
  await config({ model: { provider: 'custom', default: 'test', base_url: server.baseUrl, context_length: 24_000 } })
  await put('big.txt', 'some words in a line\n'.repeat(400))
  let calls = 0
  answer(({ body }) => {
    if (String(body.messages[0]?.content).startsWith('You write the record')) return { text: RECORD }
    if (calls++ === 9) return { text: 'All read.' }
    const command = `head -c 7000 big.txt; echo ${calls}`
    return { ...call('terminal', { command }), usage: { inputTokens: Math.min(calls, 7) * 3_000 } }
  })
  await chat('-q', 'Read big.txt. Never touch secret.txt.', '--json')
  answer(() => ({ text: 'Once more.' }))
  await chat('-c', '-q', 'And now?', '--json')
})

session('a-child-works-and-answers', async ({ put, answer, chat, hermes }) => {
  await put('a.txt', 'alpha\n')
  answer((request) => {
    const isAfterTool = request.body.messages.at(-1)!.role === 'tool'
    if (isChild(request)) return isAfterTool ? { text: 'It says alpha.' } : call('read_file', { path: 'a.txt' })
    return isAfterTool ? { text: 'Alpha.' } : call('delegate_task', { goal: 'Read a.txt.', context: 'It is short.' })
  })
  await chat('-q', 'Have it read.', '--json')
  await chat('-c', '-q', 'Have it read again.')
  await hermes('sessions', 'list', '--json')
  await hermes('usage', '--by', 'purpose', '--json')
})

session('a-plan-is-made-and-carried-out', async ({ script, chat }) => {
  const write = call('write_file', { path: 'a.txt', content: 'new\n' })
  script(write, { text: '1. Write a.txt.\n2. Read it.' }, call('todo_read', {}), write, { text: 'Done.' })
  await chat('--plan', '-q', 'Write it.', '--json')
  await chat('-c', '--accept', '--json')
})

session('a-killed-run-is-resumed', async ({ server, home, cwd, answer, script, chat }) => {
  answer(() => call('terminal', { command: 'echo begun >> effects.log; echo begun; sleep 600' }))
  const flags = ['chat', '-q', 'Begin.', '--json', '--base-url', server.baseUrl, '-m', 'test', '--yolo']
  const child = startCli(flags, { home, cwd, env: ENV })
  const closed = once(child, 'close')
  for await (const text of child.stdout!.setEncoding('utf8')) if (text.includes('"tool-progress"')) break
  child.kill('SIGKILL')
  await closed
  script({ text: 'I see that it was cut off.' })
  await chat('-c', '--json')
})

session('a-program-calls-tools', async ({ put, script, chat }) => {
  await put('a.txt', 'alpha\n')
  const code =
    'import { read_file } from "hermes_tools"\nconsole.log((await read_file("a.txt")).content)\nprocess.exit(3)'
  script(call('execute_code', { language: 'javascript', code }), { text: 'Alpha.' })
  await chat('-q', 'Use a program.', '--json')
})

session('a-failing-model-is-asked-again', async ({ config, script, chat }) => {
  await config({ agent: { api_max_retries: 1 } })
  script({ fault: 'status', status: 503, retryAfterSeconds: 1 }, { text: 'At last.' })
  await chat('-q', 'Ask.')
  script({ fault: 'cut', text: 'Half an answer.' }, { text: 'The whole answer.' })
  await chat('-q', 'Ask.', '--json')
  await config({ agent: { api_max_retries: 0 } })
  script({ fault: 'status', status: 500 })
  await chat('-q', 'Ask.', '--json')
  script({ fault: 'status', status: 401 })
  await chat('-c', '-q', 'Ask.')
})

session('a-fallback-answers', async ({ server, config, script, chat }) => {
  const spare = await startModelServer([{ text: 'From the spare.', usage: { inputTokens: 5, outputTokens: 5 } }])
  try {
    await config({ fallback_providers: [{ provider: 'custom', model: 'spare', base_url: spare.baseUrl }] })
    const body = { error: { message: 'Insufficient credits.' } }
    script({ fault: 'status', status: 402, body })
    await chat('-q', 'Who answers?', '--json')
    ;(server.requests as unknown[]).push(...spare.requests)
  } finally {
    await spare.close()
  }
})

session('another-model-goes-on', async ({ script, chat }) => {
  script({ text: 'From test.' }, { text: 'From other.' }, { text: 'From test again.' })
  await chat('-q', 'One.', '--json')
  await chat('-c', '-m', 'other', '-q', 'Two.', '--json')
  await chat('-c', '-q', 'Three.', '--json')
})

session('references-are-attached', async ({ put, script, chat }) => {
  await put('notes.txt', 'one\ntwo\nthree\n')
  await put('src/deep/a.ts', 'x\n')
  script({ text: 'Seen.' })
  await chat('-q', 'Compare @file:notes.txt:2-3 with @folder:src and @file:missing.txt.', '--json')
})

session('memory-is-written-and-remembered', async ({ script, chat, hermes }) => {
  const add = { action: 'add', target: 'user', content: 'Prefers tabs.' }
  script(call('memory', add), { text: 'Noted.' }, { text: 'Still.' }, { text: 'Tabs.' })
  await chat('-q', 'I prefer tabs.', '--json')
  await chat('-c', '-q', 'And now?')
  await chat('-q', 'What do I prefer?')
  await hermes('memory', 'list', '--json')
})

session('earlier-sessions-are-searched', async ({ script, chat }) => {
  script({ text: 'The kettle is on the stove.' }, call('session_search', { query: 'kettle' }), {
    text: 'On the stove.',
  })
  await chat('-q', 'Where is the kettle?')
  await chat('-q', 'Where was it?', '--json')
})

session('todos-are-kept', async ({ script, chat }) => {
  const todos = [
    { id: '1', content: 'look', status: 'completed' },
    { id: '2', content: 'change', status: 'in_progress' },
  ]
  script(call('todo_write', { todos }), call('todo_read', {}), { text: 'One is left.' }, { text: 'Change.' })
  await chat('-q', 'Make a list.', '--json')
  await chat('-c', '-q', 'What is left?')
})

session('a-learned-fix-is-shown-with-the-failure', async ({ script, chat }) => {
  const learnt = { action: 'save', pattern: 'kettle: element burnt out at 3000 W', fix: 'Replace the element.' }
  script(call('learning', learnt), { text: 'Kept.' })
  await chat('-q', 'Keep it.', '-t', 'terminal,learning', '--json')
  const command = 'echo "kettle: element burnt out at 2200 W" >&2; exit 3'
  script(call('terminal', { command }), { text: 'Seen.' })
  await chat('-q', 'Boil.', '-t', 'terminal,learning', '--json')
})

session('a-limit-of-steps-ends-the-run', async ({ script, chat }) => {
  script(call('terminal', { command: 'true' }), { text: 'Half way.' })
  await chat('-q', 'Go on for ever.', '--max-turns', '1', '--json')
})

session('text-is-piped-in', async ({ server, home, cwd, script, record }) => {
  script({ text: 'Three lines.' })
  const args = ['chat', '-q', 'Count.', '--base-url', server.baseUrl, '-m', 'test']
  const { stdout } = await runCli(args, { home, cwd, env: ENV, input: 'a\nb\nc\n' })
  record('answer to piped text', [stdout])
})

session('instructions-of-a-folder-are-told-when-it-is-entered', async ({ put, script, chat }) => {
  await put('AGENTS.md', 'Use tabs.\n')
  await put('sub/AGENTS.md', 'Use spaces here.\n')
  await put('sub/a.txt', 'x\n')
  script(call('read_file', { path: 'sub/a.txt' }), { text: 'Spaces.' })
  await chat('-q', 'Look below.', '--json')
})

session('messages-of-anthropic', async ({ server, home, config, put, script, hermes }) => {
  await put('a.txt', 'alpha\n')
  await config({ model: { provider: 'anthropic', default: 'claude-opus-4-5', base_url: server.anthropicBaseUrl } })
  script({ reasoning: 'Look.', ...call('read_file', { path: 'a.txt' }) }, { text: 'Alpha.' }, { text: 'Still.' })
  await writeFile(join(home, '.env'), 'ANTHROPIC_API_KEY=sk-ant-test\n', { mode: 0o600 })
  await hermes('chat', '-q', 'Read.', '--json')
  await hermes('chat', '-c', '-q', 'And?', '--json')
})

session('responses-of-openai', async ({ server, config, put, script, hermes }) => {
  await put('a.txt', 'alpha\n')
  await config({
    model: { provider: 'custom', default: 'gpt-5', base_url: server.baseUrl, api_mode: 'codex_responses' },
  })
  script({ reasoning: 'Look.', ...call('read_file', { path: 'a.txt' }) }, { text: 'Alpha.' }, { text: 'Still.' })
  await hermes('chat', '-q', 'Read.', '--json')
  await hermes('chat', '-c', '-q', 'And?', '--json')
})

session('a-session-is-shown-exported-forked-and-found', async ({ script, chat, hermes }) => {
  script(call('terminal', { command: 'echo teakettle' }), { text: 'Said.' })
  await chat('-q', 'Say it.')
  await hermes('sessions', 'rename', 'latest', 'Kettle')
  await hermes('sessions', 'show', 'Kettle')
  await hermes('sessions', 'show', 'Kettle', '--json')
  await hermes('sessions', 'fork', 'Kettle')
  await hermes('sessions', 'tree')
  await hermes('sessions', 'list', '--json')
  await hermes('sessions', 'search', 'teakettle', '--json')
  await hermes('sessions', 'export', 'Kettle')
  await hermes('audit', 'list', '--json')
  await hermes('prompt', 'show', 'Kettle', '--json')
})
