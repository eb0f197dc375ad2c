// Sixty secrets that a home knows, put wherever text flows: none may be found afterwards outside the files that hold them.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()

const canary = (at: number) => `cnry-${(at * 7919 + 104_729).toString(36)}-${String(at).padStart(2, '0')}-Zq8vTr`
const NAMES = ['API_KEY', 'TOKEN', 'SECRET', 'PASSWORD', 'PASSPHRASE', 'CREDENTIALS']
const KEY_VARIABLES = [
  ...['OPENAI', 'ANTHROPIC', 'OPENROUTER', 'GEMINI', 'GROQ', 'MISTRAL', 'DEEPSEEK', 'XAI', 'TOGETHER', 'FIREWORKS'],
  ...['CEREBRAS', 'NVIDIA', 'MOONSHOT', 'ZAI', 'MINIMAX', 'COHERE', 'PERPLEXITY', 'HUGGINGFACE', 'DASHSCOPE', 'WORK'],
].map((name) => `${name}_API_KEY`)

/** By where they are kept. */
function plant() {
  let at = 0
  const next = () => canary(at++)
  const env = Object.fromEntries(KEY_VARIABLES.map((name) => [name, next()]))
  const dotenv = Object.fromEntries(
    Array.from({ length: 29 }, (_, n) => [`SERVICE${n}_${NAMES[n % NAMES.length]}`, next()] as const),
  )
  const config = {
    providers: {
      first: { base_url: 'http://127.0.0.1:9/v1', api_key: next(), extra_headers: { 'x-auth': next() } },
      second: { base_url: 'http://127.0.0.1:9/v1', api_key: next(), oauth: { client_id: 'c', client_secret: next() } },
      third: { base_url: 'http://127.0.0.1:9/v1', api_key: next() },
    },
    auxiliary: { title_generation: { enabled: false }, vision: { provider: 'first', api_key: next() } },
    fallback_providers: [{ provider: 'custom', model: 'm2', base_url: 'http://127.0.0.1:9/v1', api_key: next() }],
    agent: { api_max_retries: 1 },
    gateway: { api_server: { key: next() } },
  }
  const pool = Array.from({ length: 3 }, next)
  return { env, dotenv, config, pool, all: Array.from({ length: at }, (_, n) => canary(n)) }
}

/** Files that hold secrets because they are the place for them. */
const VAULT = /^(?:\.env|auth\.json|config\.yaml|backups\/config\/.*)$/

async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

it('finds none of sixty secrets in requests, logs, store, exports or on the screen', async () => {
  const { server, home, cwd } = scene
  const { env, dotenv, config, pool, all } = plant()
  expect(all.length).toBeGreaterThanOrEqual(60)
  await mkdir(home, { recursive: true, mode: 0o700 })
  await writeFile(
    join(home, '.env'),
    Object.entries(dotenv)
      .map((pair) => pair.join('='))
      .join('\n'),
    { mode: 0o600 },
  )
  await writeFile(join(home, 'config.yaml'), JSON.stringify(config), { mode: 0o600 })
  const screens: string[] = []
  const hermes = async (args: readonly string[], input?: string) => {
    const result = await runCli(args, { home, cwd, env, ...(input === undefined ? {} : { input }) })
    screens.push(`$ hermes ${args[0]} ${args[1] ?? ''}\n${result.stdout}${result.stderr}`)
    return result
  }
  for (const [n, key] of pool.entries())
    await hermes(['auth', 'add', 'openrouter', '--label', `key${n}`, '--key-stdin'], `${key}\n`)
  const vault = (await readFile(join(home, 'auth.json'))).toString()
  expect(pool.filter((key) => !vault.includes(key))).toEqual([])
  await writeFile(join(cwd, 'notes.txt'), all.join('\n'))
  const everything = all.join(' ')

  const call = (name: string, args: object) => ({ toolCalls: [{ name, args }] })
  server.enqueue(
    { fault: 'status', status: 500, body: { error: { message: `Upstream said: bearer ${everything}` } } },
    call('terminal', { command: 'env; set; cat notes.txt; cat notes.txt >&2' }),
    call('terminal', { command: 'printenv | sort', background: true }),
    call('process', { action: 'list' }),
    call('read_file', { path: 'notes.txt' }),
    call('read_file', { path: join(home, '.env') }),
    call('search_files', { pattern: 'cnry-', output_mode: 'content', limit: 100 }),
    call('execute_code', {
      language: 'javascript',
      code: "console.log(require('fs').readFileSync('notes.txt', 'utf8'))",
    }),
    call('write_file', { path: 'copy.txt', content: 'nothing secret' }),
    call('patch', { path: 'notes.txt', old_string: 'no such line', new_string: 'x' }),
    call('todo_write', { todos: [{ id: '1', content: 'Tidy up', status: 'pending' }], merge: false }),
    call('terminal', { command: 'cat no-such-file; exit 3' }),
    { text: 'All done.' },
  )
  const chat = ['chat', '--base-url', server.baseUrl, '-m', 'm', '--yolo']
  const run = await hermes([...chat, '-q', `Look at these: ${everything}`])
  expect(run).toMatchObject({ exitCode: 0, stdout: 'All done.\n' })
  server.enqueue({ fault: 'status', status: 401, body: { error: { message: `Incorrect API key: ${everything}` } } })
  await hermes([...chat, '-q', 'Once more.'])

  const listed = (await hermes(['sessions', 'list', '--json'])).stdout.trim().split('\n')
  const { id } = JSON.parse(listed.at(-1)!) as { id: string }
  for (const format of ['jsonl', 'markdown', 'html']) await hermes(['sessions', 'export', id, '--format', format])
  for (const args of [
    ['sessions', 'show', id],
    ['sessions', 'search', 'cnry'],
    ['audit', 'list', '--json', '-n', '200'],
    ['approvals', 'list', '--json'],
    ['config', 'get'],
    ['auth', 'list'],
    ['fallback'],
    ['usage'],
    ['doctor', '--offline'],
    ['tools', '--json'],
    ['permissions', 'list'],
    ['permissions', 'explain', `echo ${all[0]}`],
    ['config', 'set', 'agent.max_turns', all[1]!],
  ])
    await hermes(args)

  const found: string[] = []
  const look = (place: string, text: string, ignored: readonly string[] = []) => {
    const hits = all.filter((secret) => text.includes(secret) && !ignored.includes(secret))
    if (hits.length > 0) found.push(`${place}: ${hits.length}, first ${all.indexOf(hits[0]!)}`)
  }
  for (const [at, { body }] of server.requests.entries()) look(`request ${at}`, JSON.stringify(body))
  // A person sees what they have typed themselves.
  for (const screen of screens) look(`screen ${screen.split('\n', 1)[0]}`, screen, [all[0]!, all[1]!])
  for (const file of await filesBelow(home)) {
    if (VAULT.test(file.slice(home.length + 1))) continue
    look(file.slice(home.length), (await readFile(file)).toString('latin1'))
  }
  expect(found).toEqual([])
}, 120_000)
