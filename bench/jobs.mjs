// Twelve jobs of every day, each a session of its own in a fresh copy of one small repository: what the model is sent for them. The
// model's side is scripted, so the figures say what the agent adds to a job, not how well a model does it.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codexCosts, isCommand } from './jobs/codex.mjs'
import { BIN, runNode } from './measure.mjs'
import { peerFolder } from './peers.mjs'
import { prefixLines } from './prefix.mjs'
import { atMost, row } from './report.mjs'

/** As `estimateTokens` of @hermes/contracts counts Latin text. */
const CHARACTERS_PER_TOKEN = 4
const LOG_LINES = 6_000

const read = (path, more = {}) => ({ tool: 'read_file', args: { path, ...more } })
const find = (pattern, more = {}) => ({ tool: 'search_files', args: { pattern, ...more } })
const run = (command, more = {}) => ({ tool: 'terminal', args: { command, ...more } })
const change = (path, old_string, new_string, more = {}) => ({
  tool: 'patch',
  args: { path, old_string, new_string, ...more },
})
const write = (path, content) => ({ tool: 'write_file', args: { path, content } })
const todos = (...statuses) => ({
  tool: 'todo_write',
  args: { todos: statuses.map((status, index) => ({ id: `${index + 1}`, content: `Step ${index + 1}`, status })) },
})
const HANDED_ON = 'Count the functions below src and say how many there are.'

/**
 * `prompts` are said one after the other in the same session; `calls` are those of the first, `later` of the others, then comes `text`.
 * `proof` is in the last request of a job that was done.
 */
const JOBS = {
  'edit a file': {
    prompts: ['Let greet() say good evening.'],
    calls: [read('src/greet.js'), change('src/greet.js', 'Good day', 'Good evening'), run('node src/greet.js')],
    proof: 'Good evening, you',
    text: 'greet() now says good evening.',
  },
  'fix a failing test': {
    prompts: ['The tests fail. Fix the code.'],
    calls: [
      run('node --test'),
      read('src/sum.test.js'),
      read('src/sum.js'),
      change('src/sum.js', 'a - b', 'a + b'),
      run('node --test'),
    ],
    proof: 'pass 1',
    text: 'sum() subtracted; it adds now and the tests pass.',
  },
  'find a definition': {
    prompts: ['Where is the tax rate defined?'],
    calls: [find('TAX_RATE'), read('src/module-7.js')],
    proof: 'TAX_RATE = 0.19',
    text: 'In src/module-7.js, line 1.',
  },
  'write a document': {
    prompts: ['Write docs/usage.md about greet and sum.'],
    calls: [
      read('src/greet.js'),
      read('src/sum.js'),
      write('docs/usage.md', '# Usage\n\n`greet(name)` greets; `sum(a, b)` adds.\n'.repeat(20)),
    ],
    proof: 'Created ',
    text: 'docs/usage.md describes both.',
  },
  'rename in many files': {
    prompts: ['Rename TAX_RATE to VAT_RATE everywhere.'],
    calls: [
      find('TAX_RATE', { output_mode: 'files_only' }),
      ...[7, 8, 9].map((n) => change(`src/module-${n}.js`, 'TAX_RATE', 'VAT_RATE', { replace_all: true })),
      find('TAX_RATE'),
    ],
    proof: 'No matches for TAX_RATE',
    text: 'Renamed in three files.',
  },
  'read a long log': {
    prompts: ['Why did the server stop? See server.log.'],
    calls: [
      read('server.log'),
      find('ERROR', { path: 'server.log', context: 3 }),
      read('server.log', { offset: 4_990, limit: 20 }),
    ],
    proof: 'ERROR disk full',
    text: 'The disk was full at line 5000.',
  },
  'research in a repository': {
    prompts: ['How do the modules depend on each other?'],
    calls: [
      find('import', { limit: 100 }),
      find('*.js', { target: 'files' }),
      ...[1, 2, 3, 7].map((n) => read(`src/module-${n}.js`)),
    ],
    proof: 'step6(value)',
    text: 'Each module imports the one before it; module 7 holds the tax rate.',
  },
  'plan and follow it': {
    prompts: ['Plan three steps and do them.'],
    calls: [
      todos('in_progress', 'pending', 'pending'),
      run('node src/greet.js'),
      todos('completed', 'in_progress', 'pending'),
      read('src/sum.js'),
      todos('completed', 'completed', 'in_progress'),
      run('ls docs'),
      todos('completed', 'completed', 'completed'),
    ],
    proof: '[x] 3. Step 3',
    text: 'All three steps are done.',
  },
  'remember and use it': {
    prompts: ['Remember that releases are made on Mondays.', 'When are releases made?'],
    calls: [{ tool: 'memory', args: { action: 'add', content: 'Releases are made on Mondays.' } }],
    later: [],
    proof: 'Releases are made on Mondays',
    text: 'On Mondays.',
  },
  'hand a task on': {
    prompts: ['Have somebody else count the functions.'],
    calls: [{ tool: 'delegate_task', args: { goal: HANDED_ON } }],
    branches: [
      { has: HANDED_ON, turns: 2, calls: [find('function'), read('src/greet.js')], text: 'There are twelve.' },
    ],
    proof: 'There are twelve.',
    text: 'There are twelve functions.',
  },
  'run in the background': {
    prompts: ['Start the watcher and see that it runs.'],
    calls: [
      run('sleep 30', { background: true }),
      { tool: 'process', args: { action: 'list' } },
      run('node src/greet.js'),
    ],
    proof: 'running for',
    text: 'The watcher runs.',
  },
  'commit with git': {
    prompts: ['Commit what is changed.'],
    calls: [
      write('notes.txt', 'Noted.\n'),
      run('git status --short'),
      run('git diff'),
      run('git add -A && git commit -qm "Add notes" && git log --oneline -1'),
    ],
    proof: 'Add notes',
    text: 'Committed.',
  },
}

/** @param {{ workspace: { directory: string }, server: Awaited<ReturnType<typeof import('./model-server.mjs').startServer>> }} options */
export async function jobs({ workspace, server }) {
  const figures = []
  for (const [name, job] of Object.entries(JOBS)) {
    const directory = join(workspace.directory, name.replaceAll(' ', '-'))
    figures.push({ name, ...(await costs(job, { directory, cwd: makeRepository(directory) }, server)) })
  }
  const total = (key) => figures.reduce((sum, figure) => sum + figure[key], 0)
  const all = total('input') + total('output')
  return [
    ...(await besideCodex(figures, workspace)),
    row('jobs: requests', '', [total('requests')]),
    row('  input', 'tokens', [total('input')]),
    row('  of it repeats the request before', 'tokens', [total('cached')]),
    row('  input that is new', 'tokens', [total('input') - total('cached')]),
    row('  output', 'tokens', [total('output')]),
    row('  share of titles, summaries and looks for memory', '%', [(100 * total('auxiliary')) / all], atMost(5)),
    ...figures.flatMap(({ name, requests, input, cached, output }) => [
      row(`${name}: requests`, '', [requests]),
      row('  input', 'tokens', [input]),
      row('  input that is new', 'tokens', [input - cached]),
      row('  output', 'tokens', [output]),
    ]),
  ]
}

/** What Codex sends for those of them that commands alone can do; nothing where it is not installed. */
async function besideCodex(figures, workspace) {
  const folder = peerFolder('@openai/codex')
  if (folder === null) return []
  let [theirs, ours, requests] = [0, 0, 0]
  for (const [name, job] of Object.entries(JOBS)) {
    if (job.prompts.length > 1 || !job.calls.every(isCommand)) continue
    const directory = join(workspace.directory, `${name.replaceAll(' ', '-')}-codex`)
    const sent = await codexCosts(job, { folder, directory, cwd: makeRepository(directory) })
    theirs += Math.ceil(sent.characters / CHARACTERS_PER_TOKEN)
    requests += sent.requests
    ours += figures.find((figure) => figure.name === name).input
  }
  return [
    row(`jobs: Codex, input of ${requests} requests`, 'tokens', [theirs]),
    row('  hermes, input for the same jobs', 'tokens', [ours]),
    row('  of what Codex sends', 'x', [ours / theirs], atMost(1 / 3)),
  ]
}

/** A model that is told to check what it changed does so with one call. */
const CHECK = { has: 'Not checked yet', turns: 1, calls: [run('git diff --stat')] }

async function costs(job, place, server) {
  const home = join(place.directory, 'home')
  const endpoint = ['--base-url', server.baseUrl, '--provider', 'custom', '-m', 'bench', '--yolo']
  const requests = []
  for (const [index, prompt] of job.prompts.entries()) {
    const calls = index === 0 ? job.calls : job.later
    const branches = [...(job.branches ?? []), { ...CHECK, text: job.text }]
    await server.script({ turns: calls.length, calls, text: job.text, branches })
    await runNode([BIN, 'chat', ...(index > 0 ? ['-c'] : []), '-q', prompt, ...endpoint], { workspace: place, home })
    requests.push(...(await server.requests()))
  }
  if (!JSON.stringify(JSON.parse(requests.at(-1).body).messages).includes(job.proof))
    throw new Error(`the job "${job.prompts[0]}" was not done: nothing says "${job.proof}"`)
  return count(requests)
}

/** Each conversation is known by its first lines: a child's is another one, and so is that of a auxiliary task. */
function count(requests) {
  const last = new Map()
  const sums = { requests: requests.length, input: 0, cached: 0, output: 0, auxiliary: 0 }
  for (const { body, answer } of requests) {
    const lines = prefixLines(body)
    const conversation = lines.slice(0, 3).join('\n')
    const before = last.get(conversation) ?? []
    const broken = before.findIndex((line, index) => line !== lines[index])
    const input = tokens(lines)
    sums.input += input
    sums.cached += tokens(lines.slice(0, broken === -1 ? before.length : broken))
    sums.output += tokens([answer])
    // Agents have tools; what is asked on the side has none.
    if (!(JSON.parse(body).tools?.length > 0)) sums.auxiliary += input + tokens([answer])
    last.set(conversation, lines)
  }
  return sums
}

function tokens(lines) {
  return Math.ceil(lines.reduce((sum, line) => sum + line.length, 0) / CHARACTERS_PER_TOKEN)
}

function makeRepository(directory) {
  const cwd = join(directory, 'workspace')
  mkdirSync(join(cwd, 'src'), { recursive: true })
  mkdirSync(join(cwd, 'docs'))
  const put = (path, text) => writeFileSync(join(cwd, path), text)
  put('package.json', '{ "name": "shop", "type": "module" }\n')
  put('src/greet.js', "export function greet(name = 'you') {\n  return 'Good day, ' + name\n}\nconsole.log(greet())\n")
  put('src/sum.js', 'export function sum(a, b) {\n  return a - b\n}\n')
  put('src/sum.test.js', SUM_TEST)
  for (let n = 1; n <= 9; n++) put(`src/module-${n}.js`, moduleText(n))
  const lines = Array.from(
    { length: LOG_LINES },
    (_, at) => `10:00:00 ${at === 4_999 ? 'ERROR disk full' : `INFO request ${at} served`}`,
  )
  put('server.log', `${lines.join('\n')}\n`)
  const git = (...args) => execFileSync('git', ['-C', cwd, '-c', 'user.name=A', '-c', 'user.email=a@b.c', ...args])
  git('init', '-q')
  git('config', 'user.name', 'Ada')
  git('config', 'user.email', 'ada@example.com')
  git('add', '-A')
  git('commit', '-qm', 'Begin')
  return cwd
}

const SUM_TEST = `import assert from 'node:assert'
import { test } from 'node:test'
import { sum } from './sum.js'
test('adds', () => assert.equal(sum(2, 3), 5))
`

function moduleText(n) {
  const first = n === 7 ? 'export const TAX_RATE = 0.19\n' : n > 7 ? "import { TAX_RATE } from './module-7.js'\n" : ''
  const before = n > 1 ? `import { step${n - 1} } from './module-${n - 1}.js'\n` : ''
  const inner = n > 1 ? `step${n - 1}(value)` : 'value'
  return `${first}${before}export function step${n}(value) {\n  return ${inner} + ${n > 7 ? 'TAX_RATE' : n}\n}\n`
}
