// hermes config show, unset, edit, migrate; a broken file; --safe-mode, --ignore-rules and --max-cost.
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()
const file = () => join(scene.home, 'config.yaml')
const write = (text: string) => writeFile(file(), text)
const read = () => readFile(file(), 'utf8')
const hermes = (...words: string[]) => runCli(words, scene)
beforeEach(() => mkdir(scene.home, { recursive: true }))

it('config show has what the file sets, with keys hidden; --all the defaults too', async () => {
  await write('model:\n  default: m\n  api_key: sk-canary-1\nagent:\n  max_turns: 7\n')
  const { stdout } = await hermes('config', 'show')
  expect(stdout.split('\n').map((line) => line.split(/ +/))).toEqual([
    ['model.default', 'm'],
    ['model.api_key', '[hidden]'],
    ['agent.max_turns', '7'],
    [''],
  ])
  const section = await hermes('config', 'show', 'agent', '--all', '--json')
  const rows = section.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(rows).toContainEqual({ key: 'agent.max_turns', value: 7, from: 'config.yaml' })
  expect(rows.filter(({ from }) => from === 'default').length).toBeGreaterThan(5)
  expect(await hermes('config', 'show', 'agnt')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('Did you mean agent?'),
  })
})

it('config set shows the public key of a pack, and no other key', async () => {
  const key = `ed25519:${'b'.repeat(43)}`
  expect((await hermes('config', 'set', 'skills.packs.sea.key', key)).stdout).toBe(`skills.packs.sea.key = ${key}\n`)
  expect((await hermes('config', 'show', 'skills')).stdout).toContain(key)
  expect((await hermes('config', 'set', 'model.api_key', 'sk-canary-1')).stdout).toBe('model.api_key = [hidden]\n')
})

it('config unset brings the default back and keeps comments; an unknown key is said', async () => {
  await write('# head\nagent:\n  max_turns: 7 # few\nmodel: m\n')
  expect(await hermes('config', 'unset', 'agent.max_turns')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/^Took agent\.max_turns out\. Now counts: \d+\n$/),
  })
  expect(await read()).toBe('# head\nagent: {}\nmodel: m\n')
  expect(await hermes('config', 'unset', 'agent.max_turns')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('was not set'),
  })
  expect(await hermes('config', 'unset', 'agent.max_turn')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('Did you mean agent.max_turns?'),
  })
})

it('config migrate shows, then writes, the names of today', async () => {
  await write('# mine\nmodel:\n  model: m # the good one\n  provider: custom\n')
  expect(await hermes('config', 'migrate', '--dry-run')).toMatchObject({
    exitCode: 0,
    stdout: 'model.model -> model.default\n',
  })
  expect(await read()).toContain('model: m')
  await hermes('config', 'migrate')
  expect(await read()).toMatch(/^# mine\nmodel:\n[\s\S]*default: m/)
  expect(await read()).not.toMatch(/^ +model:/m)
  expect(await hermes('config', 'migrate')).toMatchObject({
    exitCode: 0,
    stdout: '',
    stderr: 'All keys have the names of today.\n',
  })
})

async function editWith(script: string) {
  const editor = join(scene.folder, 'editor.sh')
  await writeFile(editor, `#!/bin/sh\n${script}\n`)
  await chmod(editor, 0o755)
  return runCli(['config', 'edit'], { home: scene.home, cwd: scene.cwd, env: { EDITOR: editor } })
}

it.each([
  ['a sound change is kept', 'echo "timezone: UTC" >> "$1"', 0, 'model: m\ntimezone: UTC\n', /^$/],
  ['a broken one is not', 'echo "agent: [" >> "$1"', 1, 'model: m\n', /config\.yaml:\d+:\d+: .*YAML/],
  ['nor is a wrong value', 'echo "agent: {max_turns: many}" >> "$1"', 1, 'model: m\n', /agent\.max_turns must be/],
  [
    'nor a key of display that is none',
    'echo "display: {theme: dark}" >> "$1"',
    1,
    'model: m\n',
    /display\.theme is not a known key/,
  ],
  ['an editor that fails changes nothing', 'echo x >> "$1"; exit 3', 2, 'model: m\n', /The editor .* failed/],
  ['an editor that only looks changes nothing', 'true', 0, 'model: m\n', /Nothing was changed/],
])('config edit: %s', async (_, script, code, text, stderr) => {
  await write('model: m\n')
  const result = await editWith(script)
  expect([result.exitCode, await read(), result.stderr]).toEqual([code, text, expect.stringMatching(stderr)])
})

it('config edit begins a file with the schema that editors complete from', async () => {
  expect((await editWith('echo "timezone: UTC" >> "$1"')).exitCode).toBe(0)
  expect(await read()).toMatch(/^# yaml-language-server: \$schema=\S+config\.schema\.json\n[\s\S]*timezone: UTC\n$/)
})

it('a key of display that is nowhere is a mistake with the right one; one of the reference is not', async () => {
  await write('model: m\ndisplay:\n  busy_inputmode: steer\n  theme: dark\n  streaming: true\n')
  const { exitCode, stdout } = await hermes('config', 'check')
  expect(exitCode).toBe(1)
  expect(stdout).toContain('display.busy_inputmode is not a known key. Did you mean display.busy_input_mode?')
  expect(stdout).toMatch(/display\.theme is not a known key\. Keys of display: .*busy_input_mode/)
  await write('model: m\ndisplay:\n  skin: dark\n')
  expect((await hermes('config', 'check')).exitCode).toBe(0)
})

async function arrange(): Promise<void> {
  const mark = join(scene.folder, 'hook-ran')
  await mkdir(join(scene.home, 'extensions'))
  await writeFile(
    join(scene.home, 'extensions', 'loud.mjs'),
    "export default { name: 'loud', setup(api) { api.prompts?.add?.({}) } }",
  )
  await write(
    JSON.stringify({
      model: { provider: 'custom', default: 'm', base_url: scene.server.baseUrl, api_key: 'k' },
      auxiliary: { title_generation: { enabled: false } },
      agent: { max_turns: 3 },
      extensions: ['loud.mjs'],
      hooks: { 'turn:start': [{ command: `touch ${mark}` }], on_session_start: [{ command: `touch ${mark}` }] },
      mcp_servers: { broken: { command: join(scene.folder, 'no-such-program') } },
    }),
  )
  await writeFile(join(scene.cwd, 'AGENTS.md'), 'Rule canary-project.')
  await writeFile(join(scene.home, 'SOUL.md'), 'You are canary-soul.')
  await mkdir(join(scene.home, 'memories'))
  await writeFile(join(scene.home, 'memories', 'MEMORY.md'), 'Remember canary-memory.')
}

it.each([
  [[], {}, ['canary-project', 'canary-soul', 'canary-memory'], true],
  [['--ignore-rules'], {}, [], true],
  [['--safe-mode'], {}, [], false],
  [[], { HERMES_SAFE_MODE: '1' }, [], false],
])('with %j %j the model reads %j of the files of the person', async (flags, env, seen, loads) => {
  await arrange()
  scene.server.enqueue({ text: 'Hi.' })
  const options = { home: scene.home, cwd: scene.cwd, env }
  const { exitCode, stderr } = await runCli(['chat', '-q', 'hi', '--accept-hooks', ...flags], options)
  const sent = JSON.stringify(scene.server.requests.map(({ body }) => body))
  expect(exitCode).toBe(0)
  expect([...new Set(sent.match(/canary-\w+/g) ?? [])].sort()).toEqual([...seen].sort())
  expect(/loud|broken|hook/.test(stderr)).toBe(loads)
})

it('--max-cost ends a turn that would cost more, and says what it takes', async () => {
  await arrange()
  const call = {
    toolCalls: [{ name: 'search_files', args: { pattern: 'x' } }],
    usage: { inputTokens: 10, outputTokens: 5, costUsd: 0.3 },
  }
  scene.server.enqueue(call, call, call, { text: 'Done.', usage: { costUsd: 0.3 } })
  const run = await hermes('chat', '-q', 'hi', '--safe-mode', '--max-cost', '0.5', '--json')
  expect(run.exitCode).toBe(3)
  expect(scene.server.requests.length).toBeLessThan(4)
  expect(await hermes('chat', '-q', 'hi', '--max-cost', '0')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('US dollars'),
  })
})

it('-z prints nothing but the answer; --in and --query-file say where and what', async () => {
  await arrange()
  const there = join(scene.folder, 'elsewhere')
  await mkdir(there)
  await writeFile(join(there, 'a.txt'), 'found it')
  await writeFile(join(scene.cwd, 'ask.txt'), '/not a command: read a.txt')
  scene.server.enqueue({ toolCalls: [{ name: 'read_file', args: { path: 'a.txt' } }] }, { text: 'Pure.' })
  expect(await hermes('-z', 'Read a.txt', '--in', there, '--safe-mode')).toEqual({
    exitCode: 0,
    signal: null,
    stdout: 'Pure.\n',
    stderr: '',
  })
  expect(JSON.stringify(scene.server.requests.at(-1)!.body.messages)).toContain('found it')
  scene.server.enqueue({ text: 'Of a file.' })
  const run = await hermes('chat', '--query-file', 'ask.txt', '--safe-mode')
  expect([run.exitCode, run.stdout]).toEqual([0, 'Of a file.\n'])
  expect(JSON.stringify(scene.server.requests.at(-1)!.body.messages)).toContain('/not a command: read a.txt')
  expect((await hermes('-z', 'a', '-q', 'b')).exitCode).toBe(2)
  expect((await hermes('-z', 'a', '--in', 'nowhere')).exitCode).toBe(2)
})

it('doctor --fix shows each change, makes none without a yes, and then makes it', async () => {
  await write('model:\n  model: m\n')
  await writeFile(join(scene.home, '.env'), 'A=b\n')
  await chmod(join(scene.home, '.env'), 0o644)
  await chmod(scene.home, 0o777)
  const mode = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)
  const refused = await hermes('doctor', '--fix', '--offline')
  expect([refused.exitCode, refused.stdout]).toEqual([
    2,
    expect.stringMatching(/chmod 600 \S+\.env, which is 644 now[\s\S]*model\.model is called model\.default today/),
  ])
  expect([await mode(scene.home), await mode(join(scene.home, '.env'))]).toEqual(['777', '644'])
  const fixed = await hermes('doctor', '--fix', '--yes', '--offline')
  expect(fixed.stdout).toMatch(/Made \d changes\.\n\n[\s\S]*ok +Home /)
  expect([await mode(scene.home), await mode(join(scene.home, '.env'))]).toEqual(['755', '600'])
  expect(await read()).toContain('default: m')
})
