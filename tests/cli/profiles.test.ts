// Profiles of one home: what one holds, no other sees.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startAcp } from '../support/acp.js'
import { runCli } from '../support/cli.js'
import { startGateway } from '../support/gateway.js'
import { useScene } from '../support/scene.js'

const scene = useScene()

const canary = (owner: string, at: number) => `cnry-${owner}-${(at * 7919 + 104_729).toString(36)}-${at}Zq8vTr`
const canaries = (owner: string) => Array.from({ length: 20 }, (_, at) => canary(owner, at))

/** A home with twenty secrets in the places a home has for them. */
async function plant(home: string, owner: string, endpoint: string): Promise<void> {
  const secrets = canaries(owner)
  await mkdir(join(home, 'memories'), { recursive: true, mode: 0o700 })
  await mkdir(join(home, 'skills'), { recursive: true })
  const env = secrets.slice(0, 12).map((secret, at) => `SERVICE${at}_API_KEY=${secret}`)
  await writeFile(join(home, '.env'), [...env, `PLAIN_SETTING=${secrets[12]}`].join('\n'), { mode: 0o600 })
  const config = {
    model: { provider: 'custom', default: `m-${owner}`, base_url: endpoint, api_key: secrets[13] },
    agent: { environment_hint: '' },
    auxiliary: { title_generation: { enabled: false } },
  }
  await writeFile(join(home, 'config.yaml'), JSON.stringify(config), { mode: 0o600 })
  await writeFile(join(home, 'SOUL.md'), `You are ${secrets[14]}.`)
  await writeFile(join(home, 'memories', 'MEMORY.md'), `Remember ${secrets[15]}.`)
  await writeFile(join(home, 'memories', 'USER.md'), `The person is ${secrets[16]}.`)
  await writeFile(join(home, 'auth.json'), JSON.stringify({ version: 1, token: secrets[17] }), { mode: 0o600 })
  await writeFile(join(home, 'skills', 'SKILL.md'), secrets[18]!)
  await writeFile(join(home, 'history'), secrets[19]!)
}

const call = (name: string, args: object) => ({ toolCalls: [{ name, args }] })

async function textsBelow(folder: string): Promise<readonly (readonly [string, string])[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return Promise.all(files.map(async (file) => [file, (await readFile(file)).toString('latin1')] as const))
}

it.each([
  ['work', 'default', ['-p', 'work'], {}],
  ['work', 'default', [], { HERMES_PROFILE: 'work' }],
  ['default', 'work', [], {}],
])(
  '%s sees nothing of %s, whatever its model asks for (%j %j)',
  async (own, other, flags, env) => {
    const { server, home, cwd } = scene
    const homes = { default: home, work: join(home, 'profiles', 'work') }
    for (const [name, folder] of Object.entries(homes)) await plant(folder, name, server.baseUrl)
    const there = homes[other as keyof typeof homes]
    for (const file of [
      '.env',
      'auth.json',
      'config.yaml',
      'SOUL.md',
      'memories/MEMORY.md',
      'skills/SKILL.md',
      'history',
    ])
      server.enqueue(call('read_file', { path: join(there, file) }))
    const code = `console.log(require('fs').readFileSync(${JSON.stringify(join(there, 'SOUL.md'))}, 'utf8'))`
    server.enqueue(
      call('search_files', { pattern: 'cnry-', path: there, output_mode: 'content' }),
      call('terminal', { command: `cat ${there}/.env; env` }),
      call('terminal', { command: `cat ${there}/memories/*.md ${there}/history; env` }),
      call('terminal', { command: `ls -R ${there}; grep -r cnry ${there}/skills` }),
      call('execute_code', { language: 'javascript', code }),
      call('write_file', { path: join(there, 'SOUL.md'), content: 'Mine now.' }),
      { text: 'Done.' },
    )
    const run = await runCli([...flags, 'chat', '-q', 'Look around.'], { home, cwd, env })
    expect(run).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
    const sent = JSON.stringify(server.requests.map(({ body }) => body))
    expect(sent).toContain(canary(own, 14))
    expect(JSON.parse(JSON.stringify(server.requests[0]!.body))).toMatchObject({ model: `m-${own}` })
    const strangers = canaries(other)
    const isFound = (text: string) => strangers.filter((secret) => text.includes(secret))
    expect(isFound(sent)).toEqual([])
    expect(isFound(run.stdout + run.stderr)).toEqual([])
    const written = await textsBelow(homes[own as keyof typeof homes])
    const isOther = (file: string) => file.startsWith(there) && (other !== 'default' || !file.startsWith(homes.work))
    for (const [file, text] of written) if (!isOther(file)) expect([file, isFound(text)]).toEqual([file, []])
    expect(await readFile(join(there, 'SOUL.md'), 'utf8')).toContain(canary(other, 14))
    // Sessions are where they were had.
    const list = (name: string) => runCli(['-p', name, 'sessions', 'list', '--json'], { home, cwd })
    expect((await list(own)).stdout.trim().split('\n')).toHaveLength(1)
    expect((await list(other)).stdout).toBe('')
  },
  60_000,
)

it('is made, chosen, renamed, packed, unpacked and deleted by commands that say what happened', async () => {
  const { home, cwd } = scene
  await plant(home, 'default', scene.server.baseUrl)
  const hermes = async (...args: readonly string[]) => {
    const { exitCode, stdout, stderr } = await runCli(args, { home, cwd })
    return `${exitCode} ${stdout}${stderr}`.replaceAll(home, 'HOME').replaceAll(cwd, 'CWD').trimEnd()
  }
  expect(await hermes('profile', 'create', 'work', '--clone', '--description', 'For clients')).toBe(
    '0 Made the profile work, with settings, keys of .env, skills and memories of default: HOME/profiles/work\nTo use it: hermes -p work',
  )
  expect(await hermes('-p', 'work', 'config', 'get', 'model.default')).toBe('0 m-default')
  expect(await hermes('config', 'set', 'model.default', 'm2', '-p', 'work')).toBe('0 model.default = m2')
  expect(await hermes('config', 'get', 'model.default')).toBe('0 m-default')
  expect(await hermes('profile', 'use', 'work')).toContain('0 From now on hermes works in the profile work')
  expect(await hermes('config', 'get', 'model.default')).toBe('0 m2')
  expect(await hermes('-p', 'default', 'config', 'get', 'model.default')).toBe('0 m-default')
  expect(await hermes('profile', 'list')).toMatch(/^0 {3}default *\n\* work +used without -p {2}For clients$/)
  expect(await hermes('profile', 'rename', 'work', 'clients')).toBe('0 The profile work is called clients now.')
  expect(await hermes('profile', 'describe', 'clients')).toBe('0 For clients')
  expect(await hermes('profile', 'export', 'clients')).toMatch(
    /^0 CWD\/clients\.zip {2}\d files\nWithout these keys of config\.yaml: model\.api_key/,
  )
  expect(await hermes('profile', 'export', 'clients')).toBe(
    '2 hermes: CWD/clients.zip is there already. Name another: -o FILE',
  )
  expect(await hermes('profile', 'import', 'clients.zip', '--name', 'again')).toContain('0 Made the profile again of')
  expect(await hermes('-p', 'again', 'config', 'get', 'model.default')).toBe('0 m2')
  expect(await hermes('profile', 'delete', 'clients')).toBe(
    '2 hermes: Nobody can be asked here. To go on without asking: --yes',
  )
  expect(await hermes('profile', 'delete', 'clients', '--yes')).toBe('0 Deleted the profile clients.')
  expect(await hermes('config', 'get', 'model.default')).toBe('0 m-default')
  expect(await hermes('-p', 'clients')).toBe(
    '2 hermes: There is no profile "clients". There are: default, again. To make it: hermes profile create clients',
  )
})

it('a gateway and an editor are started in a profile too', async () => {
  const { server, home, cwd } = scene
  const work = join(home, 'profiles', 'work')
  for (const [name, folder] of [
    ['default', home],
    ['work', work],
  ] as const)
    await plant(folder, name, server.baseUrl)
  server.enqueue({ text: 'Hello.' }, { text: 'Hello.' })
  const gateway = await startGateway(['-p', 'work'], { home, cwd, titles: true })
  await gateway.request('/chat/completions', {
    body: JSON.stringify({ model: 'm-work', messages: [{ role: 'user', content: 'Hi' }] }),
  })
  await gateway.stop()
  const editor = startAcp(['--profile', 'work'], { home, cwd, titles: true })
  const send = (id: number, method: string, params: object) =>
    editor.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
  send(1, 'initialize', { protocolVersion: 1, clientCapabilities: {} })
  await editor.line(({ id }) => id === 1)
  send(2, 'session/new', { cwd, mcpServers: [] })
  const { result } = (await editor.line(({ id }) => id === 2)) as { result: { sessionId: string } }
  send(3, 'session/prompt', { sessionId: result.sessionId, prompt: [{ type: 'text', text: 'Hi' }] })
  await editor.line(({ id }) => id === 3)
  await editor.leave()
  expect(server.requests.map(({ body }) => (body as { model: string }).model)).toEqual(['m-work', 'm-work'])
  const list = (name: string) => runCli(['-p', name, 'sessions', 'list', '--json'], { home, cwd })
  expect((await list('work')).stdout.trim().split('\n')).toHaveLength(2)
  expect((await list('default')).stdout).toBe('')
})
