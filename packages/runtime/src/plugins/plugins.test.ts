import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { CommandContext, CommandOutput } from '@hermes/contracts/extension'
import { probeIsolation } from '@hermes/sandbox/isolation'
import { type ModelServer, startModelServer, type TemporaryHome, temporaryHome } from '@hermes/testkit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openRuntime } from '../open-runtime.js'
import type { Runtime } from '../runtime.js'

let home: TemporaryHome
let server: ModelServer
let runtime: Runtime | null
beforeEach(async () => {
  home = await temporaryHome()
  server = await startModelServer()
  runtime = null
})
afterEach(async () => {
  await runtime?.close()
  await server.close()
  await home.remove()
})

/** Whether this machine isolates processes of plugins; without that they have the network. */
const isWalled = (await probeIsolation()) === null
const SCHEMA = 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json'
const OURS = 'io.github.hermes-agent'

async function open(config: object = {}, env: Readonly<Record<string, string>> = {}): Promise<Runtime> {
  await runtime?.close()
  const yaml = { model: { default: 'm', base_url: server.baseUrl }, checkpoints: { enabled: false }, ...config }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify(yaml))
  const cwd = join(home.path, 'work')
  await mkdir(cwd, { recursive: true })
  const world = { env: { PATH: process.env['PATH']!, ...env }, cwd, user: 'ada', tempDir: home.path }
  runtime = await openRuntime({ home: join(home.path), userHome: home.path, ...world })
  return runtime
}

/** A plugin of one module in a folder of its own. */
async function plugin(name: string, code: string, ours: object = {}): Promise<string> {
  const folder = join(home.path, 'sources', name)
  await mkdir(folder, { recursive: true })
  const manifest = {
    $schema: SCHEMA,
    name,
    version: '1.0.0',
    extensions: { [OURS]: { extension: './index.js', ...ours } },
  }
  await writeFile(join(folder, 'plugin.json'), JSON.stringify(manifest))
  await writeFile(join(folder, 'index.js'), `export default { name: '${name}', setup(api) {\n${code}\n} }\n`)
  return folder
}

const context = (): CommandContext => ({
  caller: { platform: 'cli', user: 'ada', isOwner: true, changes: [] },
  ...{ session: null, cwd: home.path, commands: [], notice: () => undefined, signal: AbortSignal.timeout(60_000) },
})

async function plugins(words: readonly string[], flags: object = {}): Promise<string> {
  const command = runtime!.extensions.list('command').find(({ item }) => item.name === 'plugins')!.item
  const result = await command.run({ words: [...words], ...flags } as never, context())
  return [result]
    .flat()
    .map((output) => shown(output as CommandOutput))
    .join('\n')
}

function shown(output: CommandOutput): string {
  if (output.type === 'text') return output.text
  if (output.type === 'table') return output.rows.map(({ cells }) => cells.join(' | ')).join('\n')
  return output.type === 'findings' ? output.findings.map(({ level, text }) => `${level} ${text}`).join('\n') : ''
}

const toolCode = (name: string, body: string) =>
  `api.tools.add({ name: '${name}', toolset: 'x', description: 'd', parameters: { type: 'object' }, execute: async (args, context) => { ${body} } })`

async function callTool(name: string, args: object = {}): Promise<string> {
  server.enqueue({ toolCalls: [{ name, args }] }, { text: 'Done.' })
  const { agent } = await runtime!.createAgent({})
  await agent.run('go').result
  await agent.close()
  return JSON.stringify(server.requests.at(-1)!.body.messages.at(-1))
}

it('a tool of a plugin runs in a process of its own, without variables, and asks the policy', async () => {
  const code = toolCode(
    'look',
    `let seen = {}
     const tried = async (name, work) => { try { seen[name] = await work() } catch (error) { seen[name] = 'no: ' + (error.code ?? '') + ' ' + error.message } }
     await tried('env', () => Object.keys(process.env).sort().join())
     await tried('file', async () => (await import('node:fs')).readFileSync('${'/etc/hostname'}', 'utf8'))
     await tried('spawn', async () => String((await import('node:child_process')).execSync('id')))
     await tried('data', async () => { const fs = await import('node:fs'); fs.writeFileSync(process.env.PLUGIN_DATA + '/a', 'kept'); return fs.readFileSync(process.env.PLUGIN_DATA + '/a', 'utf8') })
     await tried('session', async () => Buffer.from(await context.environment.read('note.txt')).toString())
     await tried('exec', async () => { const command = 'echo hi'; const permit = await context.permit({ type: 'spawn', command, cwd: context.environment.cwd(), backend: context.environment.backend }); return (await context.environment.exec(permit, command)).output })
     await tried('fetch', async () => (await fetch('https://example.com/')).status)
     const { connect } = await import('node:net')
     await tried('socket', () => new Promise((resolve, reject) => connect(${new URL(server.baseUrl).port}, '127.0.0.1', () => resolve('open')).on('error', reject)))
     console.log('noise')
     return JSON.stringify(seen)`,
  )
  const folder = await plugin('looker', code)
  await open()
  await writeFile(join(home.path, 'work', 'note.txt'), 'noted')
  const text = await plugins(['install', folder], { enable: true })
  expect(text).toContain('Installed looker 1.0.0.')
  expect(text).toContain(isWalled ? 'Its code runs in a process of its own' : 'Its code can do whatever you can')
  expect(text).toContain('tools: look')
  await open({}, { SECRET_THING: 'x' })
  expect(runtime!.problems).toEqual([])
  const seen = JSON.parse(JSON.parse(await callTool('look')).content) as Record<string, string>
  expect(seen).toMatchObject({ env: 'PLUGIN_DATA', data: 'kept', session: 'noted' })
  expect(seen['file']).toMatch(/^no: ERR_ACCESS_DENIED/)
  expect(seen['spawn']).toMatch(/^no: ERR_ACCESS_DENIED/)
  expect(seen['exec']).toContain('plugin looker has not declared that it runs commands')
  expect(seen['fetch']).toContain('has not declared the host example.com')
  expect(seen['socket']).toMatch(isWalled ? /^no: / : /^open$/)
  const wish =
    /looker: on .* UTC it wanted more than you agreed to, and was refused: The plugin looker has not declared /
  await expect.poll(() => plugins(['doctor'])).toMatch(wish)
})

/** Opens a home in which these are enabled. */
async function withPlugins(...folders: readonly string[]): Promise<void> {
  await open()
  for (const folder of folders) await plugins(['install', folder], { enable: true })
  await open()
}

it('a changed file leaves a plugin out until it is enabled again; others work', async () => {
  await withPlugins(
    await plugin('good', toolCode('good_tool', "return 'good'")),
    await plugin('bad', toolCode('bad_tool', "return 'bad'")),
  )
  const file = join(home.path, 'plugins', 'bad', 'index.js')
  await writeFile(file, `${await readFile(file, 'utf8')}\n// more`)
  await open()
  const line =
    'Plugin bad is not loaded: its files have changed since you agreed to it. Look at it, then: hermes plugins enable bad'
  expect(runtime!.problems).toEqual([line])
  expect(await plugins(['doctor'])).toBe(`fail ${line}\nok good 1.0.0`)
  expect(await callTool('good_tool')).toContain('good')
  await plugins(['enable', 'bad'])
  await open()
  expect(runtime!.problems).toEqual([])
})

it('a plugin that is left out is named by doctor, and one whose schema has no end to speak of is not agreed to', async () => {
  const deep =
    "let schema = {}; for (let n = 0; n < 200_000; n++) schema = { type: 'object', properties: { a: schema } };"
  await withPlugins(
    await plugin('first', toolCode('same_tool', "return 'first'")),
    await plugin('second', toolCode('same_tool', "return 'second'")),
  )
  expect((await plugins(['doctor'])).split('\n')).toEqual([
    'ok first 1.0.0',
    'fail Plugin second is left out: the tool same_tool is taken by plugin-first.',
  ])
  const folder = await plugin(
    'deep',
    `${deep} api.tools.add({ name: 'd', toolset: 'x', description: 'd', parameters: schema, execute: () => '' })`,
  )
  const installed = await plugins(['install', folder], { enable: true }).catch((error: Error) => error.message)
  expect(installed).toMatch(/nested too deep/)
  expect(installed).not.toContain('call stack')
})

it('a file that is changed while the home is open keeps the process from starting', async () => {
  await withPlugins(await plugin('bad', toolCode('bad_tool', "return 'bad'")))
  await writeFile(join(home.path, 'plugins', 'bad', 'index.js'), 'export default 1')
  expect(await callTool('bad_tool')).toContain('its files have changed since you agreed to it')
})

it('guards, commands and memories of plugins work; a guard that fails objects', async () => {
  const guard = `api.hooks.on('before-tool-call', ({ tool, args }) => {
    if (args.command === 'stop') throw new Error('broken')
    return args.command === 'no' ? { type: 'block', reason: 'not here' } : undefined
  })
  let seen = ''
  api.hooks.on('stream-delta', ({ text }) => { seen += text })
  api.hooks.on('before-command', ({ command, args }) => {
    if (args.who === 'eve') throw new Error('broken')
    return command === 'greet' && args.who === 'bob' ? { type: 'block', reason: 'not bob: ' + seen } : undefined
  })
  api.commands.add({ name: 'greet', summary: 'g', needsSession: false, parameters: { type: 'object', properties: { who: { type: 'string' } } }, run: ({ who }) => ({ type: 'text', text: 'hello ' + who }) })
  api.factories.add('memory', 'shelf', ({ userId }) => ({ name: 'shelf', recall: async (query) => [{ id: null, text: userId + ' asked: ' + query }], keep: async () => {}, store: async () => {}, forget: async () => false, check: async () => {}, close: async () => {} }))`
  await withPlugins(await plugin('guard', guard, { capabilities: { conversation: true } }))
  await open({ memory: { provider: 'shelf' } })
  expect(runtime!.problems).toEqual([])
  expect(await callTool('terminal', { command: 'no' })).toContain('not here')
  expect(JSON.stringify(server.requests.at(-1)!.body)).toContain('asked: go')
  expect(await callTool('terminal', { command: 'stop' })).toContain(
    'A check before this call failed, so it was not run.',
  )
  const greet = runtime!.extensions.list('command').find(({ item }) => item.name === 'greet')!.item
  expect(await greet.run({ who: 'ada' }, context())).toEqual({ type: 'text', text: 'hello ada' })
  const bob = async () => String(await Promise.resolve(greet.run({ who: 'bob' }, context())).catch((error) => error))
  await expect.poll(bob).toContain('not bob: Done.Done.')
  await expect(greet.run({ who: 'eve' }, context())).rejects.toThrow('failed at it')
})

it('runs no git of their own for the dependencies that a plugin has from git', async () => {
  const other = join(home.path, 'other')
  await mkdir(other, { recursive: true })
  const devDependencies = { third: 'git+file:///nowhere.git' }
  await writeFile(
    join(other, 'package.json'),
    JSON.stringify({ name: 'other', version: '1.0.0', scripts: { prepare: 'true' }, devDependencies }),
  )
  await writeFile(join(other, '.npmrc'), `git=${other}/git.sh\n`)
  await writeFile(join(other, 'git.sh'), `#!/bin/sh\ntouch ${home.path}/ran\nexit 1\n`)
  await chmod(join(other, 'git.sh'), 0o755)
  for (const args of [
    ['init', '-q'],
    ['add', '-A'],
    ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'x'],
  ])
    execFileSync('git', args, { cwd: other })
  const folder = await plugin('needy', '')
  await writeFile(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'needy', dependencies: { other: `git+file://${other}` } }),
  )
  await open()
  await expect(plugins(['install', folder])).rejects.toThrow('npm failed')
  expect(existsSync(join(home.path, 'ran'))).toBe(false)
})

it('a skill of a plugin is shown while the plugin is what was agreed to, and taints who reads it', async () => {
  const folder = join(home.path, 'sources', 'seaside')
  await mkdir(join(folder, 'skills', 'tides'), { recursive: true })
  await writeFile(join(folder, 'plugin.json'), JSON.stringify({ $schema: SCHEMA, name: 'seaside' }))
  const text = '---\nname: tides\ndescription: Tells the tides.\n---\n\nLook at the moon.\n'
  await writeFile(join(folder, 'skills', 'tides', 'SKILL.md'), text)
  await open()
  expect(await plugins(['install', folder], { enable: true })).toContain('skills: tides')
  await open()
  expect(await callTool('skill_view', { name: 'tides' })).toContain('Look at the moon.')
  const [first] = server.requests.map(({ body }) => JSON.stringify(body))
  // Its name was agreed to; what it says of itself is for skills_list.
  expect(first).toContain('tides (plugin)')
  expect(first).not.toContain('Tells the tides.')
  const { agent } = await runtime!.createAgent({})
  server.enqueue({ toolCalls: [{ name: 'skill_view', args: { name: 'tides' } }] }, { text: 'Noon.' })
  await agent.run('When?').result
  const entries = JSON.stringify(agent.entries().filter(({ type }) => type === 'message'))
  expect(entries).toContain('"sources":[{"type":"web","name":"the skill tides of the plugin seaside"}]')
  await writeFile(join(home.path, 'plugins', 'seaside', 'skills', 'tides', 'SKILL.md'), text.replace('moon', 'sun'))
  server.enqueue({ toolCalls: [{ name: 'skill_view', args: { name: 'tides' } }] }, { text: 'Who knows.' })
  await agent.run('And now?').result
  await agent.close()
  expect(JSON.stringify(server.requests.at(-1)!.body)).toContain('its plugin seaside is not as you agreed to it')
})

/** A plugin in the form of Claude Code, of these files. */
async function dotted(name: string, texts: Readonly<Record<string, string | object>>): Promise<string> {
  const folder = join(home.path, 'sources', name)
  for (const [path, text] of Object.entries({ '.claude-plugin/plugin.json': { name, version: '1' }, ...texts })) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), typeof text === 'string' ? text : JSON.stringify(text), { mode: 0o755 })
  }
  return folder
}

it('a hook of a plugin finds its script, and another one after an update once the person agreed to that', async () => {
  const refuse = (word: string) => `#!/bin/sh\necho "${word} no" >&2\nexit 2\n`
  const hook = { type: 'command', command: '$CLAUDE_PLUGIN_ROOT/x.sh' }
  const hooks = { hooks: { PreToolUse: [{ hooks: [hook] }] } }
  const folder = await dotted('guarded', { 'hooks/hooks.json': hooks, 'x.sh': refuse('first') })
  await withPlugins(folder)
  expect(await callTool('terminal', { command: 'true' })).toContain('first no')
  await writeFile(join(folder, 'x.sh'), refuse('second'))
  const updated = await plugins(['update', 'guarded'])
  expect(updated).toContain('so it is off')
  expect(updated).toContain('It runs $CLAUDE_PLUGIN_ROOT/x.sh at events, which can do whatever you can.')
  await open()
  expect(await callTool('terminal', { command: 'true' })).not.toContain(' no')
  await plugins(['enable', 'guarded'])
  await open()
  expect(await callTool('terminal', { command: 'true' })).toContain('second no')
})

it('a server of a plugin gets the variables that its consent names, and is named where one is not set', async () => {
  const mcpServers = { served: { command: './serve.sh', env: { WORD: '${SERVED_KEY}' } } }
  const texts = { '.mcp.json': { mcpServers }, 'serve.sh': '#!/bin/sh\nprintf %s "$WORD" > "$PLUGIN_DATA/seen"\n' }
  await open()
  const text = await plugins(['install', await dotted('served', texts)], { enable: true })
  expect(text).toContain('Its MCP server served gets SERVED_KEY.')
  await open()
  expect(runtime!.problems).toEqual([
    'The MCP server served of a plugin is not used: ${SERVED_KEY} is not set. Put it into .env of the home.',
  ])
  await open({}, { SERVED_KEY: 'valued' })
  expect(runtime!.problems).toEqual([])
  server.enqueue({ text: 'Done.' })
  const { agent } = await runtime!.createAgent({})
  await agent.run('go').result
  const seen = join(home.path, 'plugin-data', 'served', 'seen')
  await expect.poll(() => readFile(seen, 'utf8').catch(() => '')).toBe('valued')
  await agent.close()
})

it('what a first request would wait for begins with the agent; opening a home begins nothing', async () => {
  const begun = join(home.path, 'plugin-data', 'early', 'begun')
  const code = `process.getBuiltinModule('node:fs').writeFileSync(process.env.PLUGIN_DATA + '/begun', 'x')
    api.prompt.section({ name: 'early', order: 1, maxBytes: 100, render: () => 'It is early.' })`
  await withPlugins(await plugin('early', code))
  await rm(begun)
  await open()
  expect(existsSync(begun)).toBe(false)
  const { agent } = await runtime!.createAgent({})
  await expect.poll(() => existsSync(begun)).toBe(true)
  await agent.close()
})

it('a plugin has the sockets, commands, hosts and keys that it declared', async () => {
  const { port } = new URL(server.baseUrl)
  const code = (name: string) =>
    toolCode(
      name,
      `const seen = { keyLength: (process.env.SOME_KEY ?? '').length }
       const tried = async (name, work) => { try { seen[name] = String(await work()) } catch (error) { seen[name] = 'no: ' + error.message } }
       const { connect } = await import('node:net')
       await tried('socket', () => new Promise((resolve, reject) => connect(${port}, '127.0.0.1', () => resolve('open')).on('error', reject)))
       await tried('fetch', async () => (await fetch('http://127.0.0.1:${port}/nothing')).status)
       await tried('other', async () => (await fetch('http://127.0.0.1:1/')).status)
       await tried('exec', async () => { const command = 'echo hi'; const permit = await context.permit({ type: 'spawn', command, cwd: context.environment.cwd(), backend: context.environment.backend }); return (await context.environment.exec(permit, command)).output })
       return JSON.stringify(seen)`,
    )
  const capabilities = { network: [`127.0.0.1:${port}`], exec: true, secrets: ['SOME_KEY'] }
  await withPlugins(
    await plugin('listed', code('listed_look'), { capabilities }),
    await plugin('free', code('free_look'), { capabilities: { network: true } }),
  )
  await writeFile(join(home.path, 'permissions.yaml'), `web(http://127.0.0.1:${port}/*): allow\n`)
  await open({}, { SOME_KEY: 'a-word' })
  const look = async (name: string) =>
    JSON.parse(JSON.parse(await callTool(name)).content) as Readonly<Record<string, string>>
  expect(await look('listed_look')).toMatchObject({
    keyLength: 6,
    ...{ socket: expect.stringMatching(isWalled ? /^no: / : /^open$/), exec: expect.stringContaining('hi') },
    ...{ fetch: expect.stringMatching(/^\d+$/), other: expect.stringContaining('has not declared the host') },
  })
  expect(await look('free_look')).toMatchObject({ keyLength: 0, socket: 'open' })
})
