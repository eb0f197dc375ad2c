// What one session remembers, the next one knows; and the commands that show and repair it.
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { checkPrefix } from '@hermes/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { type CliResult, runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()
const hermes = (...args: string[]): Promise<CliResult> => runCli(args, { home: scene.home, cwd: scene.cwd })
const chat = (...args: string[]) => hermes('chat', '--base-url', scene.server.baseUrl, '-m', 'm', ...args)
const system = (request: number) => scene.server.requests[request]!.body.messages[0]!.content as string

it('carries what a session saved into the next one, and leaves the prompt of the first as it was', async () => {
  const { server, home } = scene
  const save = { name: 'memory', args: { action: 'add', target: 'user', content: 'Prefers tabs.' } }
  server.enqueue({ toolCalls: [save] }, { text: 'Noted.' }, { text: 'Tabs.' }, { text: 'Still tabs.' })
  expect(await chat('-q', 'I prefer tabs.')).toMatchObject({ exitCode: 0, stdout: 'Noted.\n' })
  expect(await readFile(join(home, 'memories', 'USER.md'), 'utf8')).toBe('Prefers tabs.\n')
  expect(JSON.stringify(server.requests[1]!.body.messages.at(-1))).toContain('Saved')

  await chat('-c', '-q', 'And now?')
  expect(checkPrefix(server.requests[1]!, server.requests[2]!)).toBeNull()
  expect(system(2)).not.toContain('Prefers tabs.')

  await chat('-q', 'Which do I prefer?')
  expect(system(3)).toContain('USER PROFILE, what you know about the user [1%, 13 of 1,375 characters]\nPrefers tabs.')
})

it('lists, adds, edits, removes, undoes, exports and imports', async () => {
  const { home, cwd } = scene
  expect(await hermes('memory', 'add', 'uses pnpm')).toMatchObject({
    exitCode: 0,
    stdout: 'Saved. memory: 0%, 9 of 2,200 characters.\n',
  })
  await hermes('memory', 'add', 'likes tea', '--user')
  await hermes('memory', 'edit', 'pnpm', 'uses pnpm 12')
  expect((await hermes('memory')).stdout).toMatch(
    /^memory 1%, 12 of 2,200 characters\n {2}uses pnpm 12 \(\d{4}-\d\d-\d\d, command line\)\nuser 1%, 9 of 1,375 characters\n {2}likes tea \(.*\)\n$/,
  )
  const { stdout: exported } = await hermes('memory', 'export')
  expect(JSON.parse(exported)).toEqual({ memory: ['uses pnpm 12'], user: ['likes tea'] })
  await hermes('memory', 'remove', 'tea', '--user')
  expect((await hermes('memory', 'undo')).stdout).toMatch(/^Undone: the change of user made .* by command line\.\n$/)
  expect(JSON.parse((await hermes('memory', 'list', '--json')).stdout)).toMatchObject([
    { target: 'memory', entries: ['uses pnpm 12'], sources: [{ origin: 'command line', supersedes: 'uses pnpm' }] },
    { target: 'user', entries: ['likes tea'] },
  ])
  await writeFile(join(home, 'memories', 'USER.md'), '')
  await writeFile(join(cwd, 'export.json'), exported)
  expect((await hermes('memory', 'import', 'export.json')).exitCode).toBe(0)
  expect(await readFile(join(home, 'memories', 'USER.md'), 'utf8')).toBe('likes tea\n')
})

it.each([
  [['memory', 'undo'], 'No change is left to undo.'],
  [['memory', 'edit', 'nowhere', 'x'], 'No entry has the words "nowhere".'],
  [['memory', 'add', 'Always run the linter before a commit.'], 'worded as an order. Say what is so'],
  [['memory', 'add', 'x'.repeat(2300)], '2300 of 2200 characters'],
  [['memory', 'import', 'missing.json'], 'Cannot read missing.json'],
  [['memory', 'import', '/dev/zero'], 'it is no file'],
])('says in one line what is wrong with %j', async (args, text) => {
  const { exitCode, stdout, stderr } = await hermes(...args)
  expect(exitCode).not.toBe(0)
  expect(stdout).toBe('')
  expect(stderr).toContain(text)
  expect(stderr.trimEnd().split('\n')).toHaveLength(1)
})

it('names what may have to go when a store is full', async () => {
  await hermes('config', 'set', 'memory.memory_char_limit', '40')
  for (const entry of ['uses pnpm', 'the cat is called Minka']) await hermes('memory', 'add', entry)
  expect(await hermes('memory', 'add', 'and something else')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/56 of 40 characters.* The oldest: "uses pnpm", "the cat is called Minka"\.\n$/),
  })
})

it.each([
  ['no JSON', '\u{1B}[2Jrubbish', 'is no JSON'],
  ['a list', '[]', 'holds no memories'],
  ['something else', '{"memories": ["a"]}', 'holds no memories'],
  ['no texts', '{"memory": [1]}', 'is not a list of texts'],
])('imports nothing of %s', async (_, text, problem) => {
  await writeFile(join(scene.cwd, 'export.json'), text)
  const { exitCode, stdout, stderr } = await hermes('memory', 'import', 'export.json')
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
  expect(stderr).toContain(problem)
  expect(stderr).not.toContain('\u{1B}')
})

it('goes on with one notice when a store was edited into nonsense, and shows the other one', async () => {
  const { home, server } = scene
  await hermes('memory', 'add', 'likes tea', '--user')
  const file = join(home, 'memories', 'MEMORY.md')
  await writeFile(file, Uint8Array.of(0xff, 0xfe, 0x00))
  const list = await hermes('memory', 'list')
  expect(list).toMatchObject({ exitCode: 1, stdout: expect.stringMatching(/^user 1%.*\n {2}likes tea/) })
  expect(list.stderr).toMatch(/MEMORY\.md cannot be read: it is not text\. .*\n$/)
  expect(await hermes('memory', 'status')).toMatchObject({
    exitCode: 1,
    stdout: expect.stringMatching(/^memory: .* cannot be read.*\nuser: 1%.*\nprovider: none/),
  })
  expect((await hermes('doctor', '--offline')).stdout).toMatch(/fail {2}Memory: memory: .* it is not text/)
  server.enqueue({ text: 'Hi.' })
  const { stdout, stderr } = await chat('-q', 'Hello.')
  expect(stdout).toBe('Hi.\n')
  expect(stderr.match(/it\s+is\s+not\s+text/g)).toHaveLength(1)
  expect(system(0)).toContain('likes tea')
  expect(await readFile(file)).toEqual(Buffer.from([0xff, 0xfe, 0x00]))
})

it('remembers nothing and offers no tool where it is switched off', async () => {
  const { server } = scene
  await hermes('config', 'set', 'memory.memory_enabled', 'false')
  await hermes('config', 'set', 'memory.user_profile_enabled', 'false')
  expect((await hermes('memory')).stderr).toContain('switched off')
  server.enqueue({ text: 'Hi.' })
  await chat('-q', 'Hello.')
  expect(JSON.stringify(server.requests.at(-1)!.body.tools)).not.toContain('"memory"')
})

it('opens a store in the editor of the person, and keeps what was saved meanwhile', async () => {
  const { home, cwd } = scene
  await hermes('memory', 'add', 'uses npm')
  await hermes('memory', 'add', 'stays')
  const file = join(home, 'memories', 'MEMORY.md')
  const editor = join(cwd, 'editor.mjs')
  // While it is open, somebody else adds an entry.
  await writeFile(
    editor,
    `import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
appendFileSync(${JSON.stringify(file)}, '\\n§\\nmeanwhile\\n')
writeFileSync(process.argv[3], readFileSync(process.argv[3], 'utf8').replace('npm', 'pnpm'))\n`,
  )
  const env = { EDITOR: `${process.execPath} ${editor} --wait` }
  expect(await runCli(['memory', 'edit'], { home, cwd, env })).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/^Saved\. memory/),
  })
  expect((await readFile(file, 'utf8')).split('\n§\n').map((entry) => entry.trim())).toEqual([
    'uses pnpm',
    'stays',
    'meanwhile',
  ])
  const nowhere = await runCli(['memory', 'edit'], { home, cwd })
  expect(nowhere).toMatchObject({
    exitCode: 2,
    stdout: '',
    stderr: expect.stringMatching(/^hermes: There is no terminal .*\n$/),
  })
  const failed = await runCli(['memory', 'edit'], { home, cwd, env: { EDITOR: 'false' } })
  expect(failed.stderr).toBe('hermes: The editor (false) failed, so nothing was changed. Set EDITOR to another one.\n')
})

it('tries a provider before it is chosen, tells its state and recalls from it', async () => {
  const { home, cwd, server } = scene
  let status = 200
  const provider = createServer((request, response) => {
    request.resume()
    const isKnown = request.headers['x-api-key'] === 'mem-key'
    response.writeHead(isKnown ? status : 401, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ results: [{ id: '1', memory: 'The boat is blue.' }] }))
  }).listen(0, '127.0.0.1')
  await once(provider, 'listening')
  onTestFinished(() => void provider.close())
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
  const withKey = (key: string, ...args: string[]) => runCli(args, { home, cwd, env: { MEM0_API_KEY: key } })

  const refused = await withKey('wrong', 'memory', 'setup', 'mem0', '--base-url', url)
  expect(refused.exitCode).not.toBe(0)
  expect(refused.stderr).toMatch(/does not take the key.*Nothing was changed\.\n$/)
  expect(await withKey('mem-key', 'memory', 'setup', 'nobody')).toMatchObject({
    stderr: expect.stringContaining('none of honcho'),
  })
  expect((await hermes('memory', 'status')).stdout).toContain('provider: none.')

  expect(await withKey('mem-key', 'memory', 'setup', 'mem0', '--base-url', url)).toMatchObject({ exitCode: 0 })
  expect((await withKey('mem-key', 'memory', 'status')).stdout).toMatch(/^provider: mem0 at http.*: it answers$/m)
  expect((await withKey('mem-key', 'doctor')).stdout).toMatch(/ok {4}Memory provider mem0 .*: it answers/)
  server.enqueue({ text: 'Blue.' })
  const requested = ['chat', '--base-url', server.baseUrl, '-m', 'm', '-q', 'Which colour has the boat?']
  expect(await withKey('mem-key', ...requested)).toMatchObject({ stdout: 'Blue.\n' })
  expect(JSON.stringify(server.requests.at(-1)!.body.messages.at(-1))).toContain('- The boat is blue.')

  status = 500
  expect(await withKey('mem-key', 'memory', 'status')).toMatchObject({
    exitCode: 1,
    stdout: expect.stringContaining('answered 500'),
  })
  expect((await withKey('mem-key', 'doctor', '--offline')).stdout).toContain('; not asked')
  expect((await hermes('memory', 'off')).exitCode).toBe(0)
  expect((await hermes('memory', 'status')).stdout).toContain('provider: none.')
})
