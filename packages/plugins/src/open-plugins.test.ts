import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HermesError, silentLogger, systemClock } from '@hermes/contracts'
import type { RunningProgram } from '@hermes/contracts/environment'
import type {
  Command,
  CommandContext,
  CommandOutput,
  Extension,
  ExtensionApi,
  Route,
} from '@hermes/contracts/extension'
import type { Tool, ToolContext } from '@hermes/contracts/tool'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { pluginsExtension } from './commands/plugins-extension.js'
import { openPlugins } from './open-plugins.js'
import type { PluginHost, ProgramResult } from './plugin-host.js'
import { noteFault } from './state.js'

const SCHEMA = 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json'
const MCP_SCHEMA = SCHEMA.replace('plugin.schema', 'mcp.schema')
const OURS = 'io.github.hermes-agent'

/** How often a plugin is started and reloaded. */
const STARTS = Number(process.env['HERMES_TEST_STARTS'] ?? 3)

let home: string
let isTrusted: boolean
const pids = new Set<number>()

beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'plugins-')))
  isTrusted = false
})
afterEach(async () => {
  await rm(home, { recursive: true, force: true })
})

/** Programs of this machine, without the walls that a home has. */
function start([program, ...args]: readonly [string, ...string[]], cwd = home): RunningProgram {
  const child = spawn(program, args, { cwd, env: { PATH: process.env['PATH'], HOME: home }, stdio: 'pipe' })
  pids.add(child.pid!)
  const ended = new Promise<{ exitCode: number | null; signal: string | null }>((resolve) => {
    child.once('close', (exitCode, signal) => resolve({ exitCode, signal }))
  })
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  return { stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, ended, kill }
}

async function run(argv: readonly [string, ...string[]], { cwd }: { readonly cwd: string }): Promise<ProgramResult> {
  const program = start(argv, cwd)
  const [texts, { exitCode }] = await Promise.all([
    Promise.all([program.stdout, program.stderr].map(async (stream) => (await stream.toArray()).join(''))),
    program.ended,
  ])
  return { exitCode, stdout: texts[0]!, stderr: texts[1]! }
}

const host = (more: Partial<PluginHost> = {}): PluginHost => ({
  directory: join(home, 'plugins'),
  dataDirectory: join(home, 'plugin-data'),
  stateFile: join(home, 'installed-plugins.json'),
  sharedDirectory: join(home, 'shared'),
  project: async () => ({ folder: join(home, 'project'), isTrusted }),
  config: () => undefined,
  secret: () => undefined,
  startProgram: async ({ argv }) => start(argv),
  isolationProblem: async () => 'bubblewrap is not installed',
  run,
  permit: async () => {
    throw new HermesError('Not permitted.', { code: 'policy.denied' })
  },
  fetchTo: () => fetch,
  agreeToHooks: async () => undefined,
  limits: { setUpMs: 20_000, blockedMs: 10_000 },
  clock: systemClock,
  logger: silentLogger,
  ...more,
})

/** What extensions register, as far as these tests look. */
function setUp(extensions: readonly Extension[]) {
  const tools: Tool[] = []
  const commands: Command[] = []
  const routes: Route[] = []
  const hooks: { point: string; handler: (event: never) => unknown }[] = []
  const none = { dispose: () => undefined }
  const api = {
    tools: { add: (tool: Tool) => (tools.push(tool), none), addSource: () => none },
    commands: { add: (command: Command) => (commands.push(command), none) },
    hooks: { on: (point: string, handler: never) => (hooks.push({ point, handler }), none) },
    routes: { add: (route: Route) => (routes.push(route), none) },
    doctor: { check: () => none },
    config: { section: () => none },
    prompt: { section: () => none },
    factories: { add: () => none },
  } as unknown as ExtensionApi
  const ends = extensions.map(({ setup }) => setup(api))
  return { tools, commands, hooks, routes, close: async () => void (await Promise.all(ends.map((end) => end?.()))) }
}

const context = (): CommandContext => ({
  caller: { platform: 'cli', user: 'ada', isOwner: true, changes: [] },
  ...{ session: null, cwd: home, commands: [], notice: () => undefined, signal: new AbortController().signal },
})

/** `hermes plugins WORDS`, as text. */
async function plugins(
  words: readonly string[],
  { enable = false, ...more }: { enable?: boolean } & Partial<PluginHost> = {},
) {
  const opened = await openPlugins(host(more))
  const { commands, close } = setUp([...opened.extensions, pluginsExtension(opened)])
  const command = commands.find(({ name }) => name === 'plugins')!
  const outputs = [await command.run({ words: [...words], enable }, context())].flat() as CommandOutput[]
  await close()
  return outputs
    .map((output) => {
      if (output.type === 'text') return output.text
      if (output.type === 'table') return output.rows.map(({ cells }) => cells.join(' | ')).join('\n')
      return output.type === 'findings' ? output.findings.map(({ level, text }) => `${level} ${text}`).join('\n') : ''
    })
    .join('\n')
}

async function files(folder: string, texts: Readonly<Record<string, string | object>>): Promise<string> {
  for (const [path, text] of Object.entries(texts)) {
    await mkdir(join(folder, path, '..'), { recursive: true })
    await writeFile(join(folder, path), typeof text === 'string' ? text : JSON.stringify(text))
  }
  return folder
}

/** A plugin of one module, in a folder of its own. */
const plugin = (name: string, code: string, ours: object = {}) =>
  files(join(home, 'sources', name), {
    'plugin.json': {
      $schema: SCHEMA,
      name,
      version: '1.0.0',
      extensions: { [OURS]: { extension: './index.js', ...ours } },
    },
    'index.js': `export default { name: '${name}', setup(api) {\n${code}\n} }\n`,
  })

const toolCode = (name: string, body: string) =>
  `api.tools.add({ name: '${name}', toolset: 'x', description: 'd', parameters: { type: 'object' }, execute: async (args, context) => { ${body} } })`

const call = (): ToolContext =>
  ({
    ...{ signal: new AbortController().signal, sessionId: 's', callId: 'c', agentPath: ['root'], environment: null },
    permit: () => Promise.reject(new HermesError('Not permitted.', { code: 'policy.denied' })),
  }) as never

it('starts of the memories that are installed the one that is used before a first request', async () => {
  for (const name of ['attic', 'shelf']) {
    const code = `api.factories.add('memory', '${name}', () => null)`
    const folder = await plugin(name, code, { capabilities: { conversation: true } })
    await plugins(['install', folder], { enable: true })
  }
  const started: string[] = []
  const startProgram: PluginHost['startProgram'] = async ({ name, argv }) => {
    started.push(name)
    return start(argv)
  }
  const opened = await openPlugins(host({ startProgram }))
  const { close } = setUp(opened.extensions)
  opened.warmUp({ memory: 'shelf' })
  await opened.loaded.find(({ entry }) => entry.name === 'shelf')!.process!.listing()
  await close()
  expect(started).toEqual(['shelf'])
})

const BLOCKS = 'blocks its thread'

describe('a plugin is not enabled, in one line, when it', () => {
  it.each<readonly [string, string, object, string]>([
    ['throws', 'throw new Error("no moon\\n today")', {}, 'Plugin throws: no moon today.'],
    ['registers twice', `${toolCode('a', '')}\n${toolCode('a', '')}`, {}, 'it registers the tool a twice.'],
    ['has a tool with a long name', toolCode('x'.repeat(300), ''), {}, 'the name of a tool has 1 to 64 characters.'],
    [BLOCKS, 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)', {}, 'it was not set up within 2 s.'],
    ['leaves', 'process.exit(3)', {}, 'its process ended (exit code 3).'],
    ['listens without saying so', "api.hooks.on('input', () => undefined)", {}, 'does not declare "conversation".'],
    [
      'wants a key without saying so',
      "api.tools.add({ name: 'a', toolset: 'x', description: '', parameters: {}, requires: ['MOON_KEY'], execute() {} })",
      {},
      'it requires MOON_KEY, which its manifest does not declare in "secrets".',
    ],
    [
      'makes what works inside only',
      "api.factories.add('backend', 'x', () => null)",
      {},
      'a backend works inside Hermes only',
    ],
    [
      'is a chat apart',
      "api.factories.add('platform', 'x', () => ({ account: [], open: () => null }))",
      {},
      'a platform works inside Hermes only',
    ],
    [
      'stands around calls',
      "api.hooks.on('tool-execution', ({ proceed }) => proceed())",
      {},
      'a hook at tool-execution works inside Hermes only',
    ],
    ['is set up later', 'return Promise.resolve()', {}, 'its setup is asynchronous, and nothing waits for it.'],
    ['names a module that is not there', '', { extension: './none.js' }, 'its extension ./none.js is not there.'],
    ['names one outside', '', { extension: './../x.js' }, 'its extension ./../x.js is not there.'],
    ['runs anywhere', '', { runs: 'anywhere' }, 'plugin.json: extensions.io.github.hermes-agent.runs'],
    ['declares what is unknown', '', { capabilities: { everything: true } }, 'Unrecognized key: "everything".'],
  ])('%s', async (what, code, ours, line) => {
    const folder = await plugin(what.replaceAll(' ', '-').slice(0, 20).replace(/-$/, ''), code, ours)
    const limits = { setUpMs: what === BLOCKS ? 2_000 : 20_000, blockedMs: 10_000 }
    const error = await plugins(['install', folder], { enable: true, limits }).catch(
      (failure: Error) => failure.message,
    )
    expect(error).toContain(line)
    expect(error).not.toContain('\n')
    expect((await openPlugins(host())).extensions).toEqual([])
  })
})

it('refuses names of 300 characters, other versions of the standard and links that lead out, and names what it ignores', async () => {
  const folder = await plugin('named', '')
  const write = (manifest: object) => files(folder, { 'plugin.json': manifest })
  await write({ $schema: SCHEMA, name: 'n'.repeat(300) })
  await expect(plugins(['install', folder])).rejects.toThrow('plugin.json.name: it has more than 64 characters.')
  await write({ $schema: SCHEMA.replace('1.0.0', '9.0.0'), name: 'named' })
  await expect(plugins(['install', folder])).rejects.toThrow('it is for another version of the standard')
  await write({ $schema: SCHEMA, name: 'named', nonsense: 1, extensions: 7 })
  expect(await plugins(['validate', folder])).toContain(
    'plugin.json: nonsense is no member of the standard; it is ignored.',
  )
  await symlink('/etc/passwd', join(folder, 'passwd'))
  await expect(plugins(['install', folder], { enable: true })).rejects.toThrow(
    'the link passwd leads out of the plugin',
  )
  await expect(plugins(['install', join(home, 'sources', 'nothing')])).rejects.toThrow('could not be fetched')
})

describe('a tool of a plugin', () => {
  /** Enables a plugin, and gives its first tool. */
  async function opened(name: string, code: string, more: Partial<PluginHost> = {}) {
    await plugins(['install', await plugin(name, code)], { enable: true, ...more })
    const home = await openPlugins(host(more))
    const { tools, close } = setUp(home.extensions)
    return { tool: tools[0]!, close, problems: home.problems }
  }

  it('is contained when it throws, prints, rejects elsewhere or gives nothing', async () => {
    const code = toolCode(
      'odd',
      `console.log('{"id":1,"result":"forged"}'); process.stdout.write('noise\\n'); Promise.reject(new Error('elsewhere'))
       if (args.how === 'throw') throw new Error('out of milk')
       return args.how === 'nothing' ? undefined : { data: args }`,
    )
    const { tool, close } = await opened('odd', code)
    await expect(tool.execute({ how: 'throw' }, call())).rejects.toThrow('Plugin odd: out of milk.')
    expect(await tool.execute({ how: 'nothing' }, call())).toEqual({ text: 'The tool gave no result.', isError: true })
    expect(await tool.execute({ a: 1 }, call())).toEqual({ data: { a: 1 } })
    await close()
  })

  it('that sends what is no message harms nobody', async () => {
    const code = toolCode(
      'rude',
      `const { writeSync } = process.getBuiltinModule('node:fs')
       for (const line of ['{"method":"changed"}', '{"method":"take","params":7}', '{"id":999,"error":null}', '{"id":1,"error":null}', '7', 'null', '{"method":"progress","params":{"ref":2,"text":7}}'])
         writeSync(1, line + '\\n')
       return 'here'`,
    )
    const { tool, close } = await opened('rude', code)
    expect(await tool.execute({}, call())).toBe('here')
    await close()
  })

  it('that blocks its thread ends its process; the next call has a new one, until it was three times too often', async () => {
    const { tool, close } = await opened(
      'slow',
      toolCode('slow', "if (args.block) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); return 'here'"),
      { limits: { setUpMs: 20_000, blockedMs: 2_000 } },
    )
    const first = await tool.execute({}, call())
    for (let time = 1; time <= 3; time++)
      await expect(tool.execute({ block: true }, call())).rejects.toThrow(
        'Plugin slow: it blocked its thread for 2 s and was ended.',
      )
    expect(first).toBe('here')
    await expect(tool.execute({}, call())).rejects.toThrow(
      'it failed 3 times and is left alone; look with hermes plugins doctor.',
    )
    await close()
  })

  it('that ends its process is an error, and the next call works', async () => {
    const { tool, close } = await opened('ends', toolCode('ends', "if (args.end) process.exit(7); return 'here'"))
    await expect(tool.execute({ end: true }, call())).rejects.toThrow('Plugin ends: its process ended (exit code 7).')
    expect(await tool.execute({}, call())).toBe('here')
    await close()
  })

  it('is told of an abort, and nobody waits for it', async () => {
    const controller = new AbortController()
    const { tool, close } = await opened(
      'waits',
      toolCode('waits', 'context.progress("waiting"); await new Promise(() => {})'),
    )
    const running = Promise.resolve(
      tool.execute({}, { ...call(), signal: controller.signal, progress: () => controller.abort() }),
    )
    await expect(running).rejects.toThrow('aborted')
    await close()
  })

  it('that was agreed to inside the isolation is not started without it, and doctor says so', async () => {
    const problem = 'bubblewrap is not installed'
    const walled = { isolationProblem: async () => null }
    const folder = await plugin('held', toolCode('held', "return 'here'"))
    expect(await plugins(['install', folder], { enable: true, ...walled })).toContain(
      'Its code runs in a process of its own, without your files and keys.',
    )
    const line = `Plugin held is not started: you agreed to it while it was isolated, and now it cannot be (${problem}). To let it do whatever you can: hermes plugins enable held`
    const lost = await openPlugins(host())
    const { tools, close } = setUp(lost.extensions)
    await expect(tools[0]!.execute({}, call())).rejects.toThrow(line)
    await close()
    expect(await plugins(['doctor'])).toContain(`fail ${line}`)
    const open = `Its code can do whatever you can: it is not isolated (${problem}), and Node's permissions hold back neither the network nor signals to other programs.`
    const agreed = await plugins(['enable', 'held'])
    expect(agreed).toContain(open)
    expect(agreed).not.toContain('without your files and keys')
    expect(await plugins(['doctor'])).toBe(`ok held 1.0.0\nwarn held: ${open}`)
  })

  it('asks for permits as the plugin and in its own name, says of commands where they run and for how long, and nothing for the person', async () => {
    const code = [
      toolCode(
        'asks',
        "try { await fetch('http://example.com/') } catch (error) { return error.code + ' ' + error.message }",
      ),
      toolCode(
        'sure',
        `for (const mayAsk of [true, false]) await context.permit({ type: 'send', target: 'x' }, { mayAsk, agreed: 'me', signal: null })
         return 'here'`,
      ),
      toolCode(
        'runs',
        `const seen = {}
         for (const [name, options] of Object.entries(args)) {
           const permit = await context.permit({ type: 'spawn', command: 'ls', cwd: '/', backend: 'local' })
           await context.environment.exec(permit, 'ls', options).catch((error) => { seen[name] = error.message })
         }
         return seen`,
      ),
      toolCode('curious', 'await context.ask({ question: 7, choices: 8 })'),
    ].join('\n')
    await plugins(['install', await plugin('wants', code)], { enable: true })
    const { tools, close } = setUp((await openPlugins(host())).extensions)
    const tool = (name: string) => tools.find((one) => one.name === name)!
    expect(tool('asks').plugin).toEqual({ name: 'wants', exec: false, network: false })
    expect(await tool('asks').execute({}, call())).toBe('policy.denied Not permitted.')

    const wanted: unknown[] = []
    const permit = async (...all: readonly unknown[]) => (wanted.push(all[1]), {}) as never
    expect(await tool('sure').execute({}, { ...call(), permit })).toBe('here')
    expect(wanted).toEqual([{}, { mayAsk: false }])

    // Not with what variables, input or password.
    const ran: unknown[] = []
    const environment = {
      ...{ backend: 'local', root: '/', userHome: '/', cwd: () => '/', resolve: (path: string) => path },
      exec: async (_: unknown, ...all: readonly unknown[]) => (ran.push(all), {}),
    } as never
    const options = {
      ...{ env: { env: { LD_PRELOAD: '/tmp/x.so' } }, stdin: { stdin: 'x' }, sudoPassword: { sudoPassword: 'x' } },
      ...{ outside: { outside: true }, fine: { cwd: '/', timeoutMs: 9_000_000, maxOutputBytes: 10 } },
    }
    const refused = (name: string) =>
      `A command of a plugin takes cwd, timeoutMs and maxOutputBytes, not ${name}. Write what it needs into the command.`
    expect(await tool('runs').execute(options, { ...call(), permit, environment })).toEqual({
      ...{ env: refused('env'), stdin: refused('stdin') },
      ...{ sudoPassword: refused('sudoPassword'), outside: refused('outside') },
    })
    expect(ran).toEqual([['ls', { cwd: '/', timeoutMs: 600_000, maxOutputBytes: 10, signal: expect.any(AbortSignal) }]])

    const questions: unknown[] = []
    const ask = async (question: unknown) => (questions.push(question), { type: 'answered', text: '' }) as never
    await tool('curious').execute({}, { ...call(), ask })
    expect(questions).toEqual([{ question: 'The plugin wants wants to know: 7', choices: [], allowFreeText: true }])
    await close()
  })

  it('is told no key of config.yaml that belongs to another part', async () => {
    const code = `const section = api.config.section({ key: 'mcp_servers', schema: { '~standard': { version: 1, vendor: 'x', validate: (value) => ({ value }) } } })
      ${toolCode('nosy', 'return JSON.stringify(section.value ?? null)')}`
    const { tool, close } = await opened('nosy', code, { config: () => 'theirs' })
    expect(await tool.execute({}, call())).toBe('"theirs"')
    await close()
    const { loaded } = await openPlugins(host({ config: () => 'canary' }))
    const taken = () => {
      throw new Error('it is taken')
    }
    const api = { config: { section: taken } } as unknown as ExtensionApi
    expect(() => loaded[0]!.extension.setup(api)).toThrow('it is taken')
    const process = loaded[0]!.process!
    const request = { args: {}, place: { environment: null, sessionId: '' } }
    expect(await process.call('tool:nosy', request, { timeoutMs: 5_000 })).toBe('null')
    await process.close()
  })

  it('leaves no process behind, however often it is begun and reloaded', async () => {
    const { tool, close } = await opened('often', toolCode('often', "return 'here'"))
    const process = (await openPlugins(host())).loaded[0]!.process!
    for (let time = 0; time < STARTS; time++) {
      await process.listing()
      await process.restart()
    }
    await process.close()
    await tool.execute({}, call())
    await close()
    expect([...pids].filter(isAlive)).toEqual([])
  }, 3_600_000)
})

const isAlive = (pid: number) => existsSync(`/proc/${pid}`)

it('a route behind the key is not told the key', async () => {
  const add = (scope: string) =>
    `api.routes.add({ method: 'GET', path: '/${scope}', scope: '${scope}', handle: (request) => new Response([...request.headers.keys()].join()) })`
  await plugins(['install', await plugin('routed', `${add('api')}\n${add('open')}`)], { enable: true })
  const { routes, close } = setUp((await openPlugins(host())).extensions)
  const headers = { authorization: 'Bearer key', cookie: 'a=b', 'x-own': '1' }
  const answers = await Promise.all(
    routes.map(async ({ handle }) => (await handle(new Request('http://a/', { headers }), {})).text()),
  )
  expect(answers).toEqual(['x-own', 'authorization,cookie,x-own'])
  await close()
})

it('components of the standard are read: servers, hooks, prompts, skills; what is wrong is named', async () => {
  const folder = await files(join(home, 'sources', 'whole'), {
    'plugin.json': { $schema: SCHEMA, name: 'whole' },
    'mcp.json': {
      $schema: MCP_SCHEMA,
      mcpServers: {
        near: {
          type: 'stdio',
          command: './run.sh',
          args: ['${PLUGIN_DATA}/x', '${OTHER}'],
          env: { A: '${PLUGIN_ROOT}' },
        },
        away: { type: 'streamable-http', url: 'https://example.com/mcp' },
        plain: { type: 'streamable-http', url: 'http://example.com/mcp' },
        up: { type: 'stdio', command: './../x' },
        odd: { type: 'stdio', command: 'node', colour: 1 },
      },
    },
    'run.sh': '#!/bin/sh\n',
    [`${OURS}/hooks.json`]: {
      hooks: {
        PreToolUse: [
          { hooks: [{ type: 'command', command: `"\${PLUGIN_ROOT}"/no.sh${' --plain'.repeat(40)} --last` }] },
        ],
      },
    },
    [`${OURS}/commands/ask.md`]: '---\ndescription: Asks.\n---\nAsk about $ARGUMENTS, then $1.\n',
    'skills/one/SKILL.md': '---\nname: one\n---\n',
  })
  const text = await plugins(['install', folder], { enable: true })
  for (const line of [
    'plain is left out: url: it is no https address',
    'up is left out: its command ./../x is not in the plugin',
    'odd is left out',
    '--plain --last at events, which can do whatever you can.',
  ])
    expect(text).toContain(line)
  const opened = await openPlugins(host())
  const root = join(home, 'plugins', 'whole')
  const data = join(home, 'plugin-data', 'whole')
  expect(opened.servers).toEqual({
    'whole-near': {
      command: join(root, 'run.sh'),
      args: [`${data}/x`, '${OTHER}'],
      env: { A: root, PLUGIN_ROOT: root, PLUGIN_DATA: data },
      cwd: root,
    },
    'whole-away': { url: 'https://example.com/mcp', headers: {}, transport: 'http' },
  })
  expect((await opened.hooks())[0]!.text).toContain(`\\"${root}\\"/no.sh`)
  const { commands } = setUp([...opened.extensions, pluginsExtension(opened)])
  expect(await commands.find(({ name }) => name === 'whole-ask')!.run({ text: 'the moon' }, context())).toEqual({
    type: 'change',
    change: { type: 'send', text: 'Ask about the moon, then the.' },
  })
  expect(await plugins(['doctor'])).not.toContain('skill')
  expect(await opened.skills()).toEqual([{ plugin: 'whole', folder: join(root, 'skills') }])
  // Who holds its programs hears of it in any case, of what it may only while it is what was agreed to.
  const held = async () =>
    Promise.all(
      (await opened.skillPlaces()).map(async ({ folder, isAgreed }) => [folder.slice(home.length), await isAgreed()]),
    )
  const other = '/project/.agents/plugins/other/skills'
  await mkdir(join(home, other), { recursive: true })
  const at = join(root, 'skills').slice(home.length)
  expect(await held()).toEqual([
    [at, true],
    [other, false],
  ])
  await writeFile(join(root, 'skills', 'one', 'SKILL.md'), 'other words')
  expect(await opened.skills()).toEqual([])
  expect(await held()).toContainEqual([at, false])
  await plugins(['disable', 'whole'])
  expect(await held()).toContainEqual([at, false])
})

it('the dot folder of Claude Code is read: what its manifest lists, and what has no effect by name', async () => {
  const stop = (command: string, more: object = {}) => ({
    hooks: { Stop: [{ hooks: [{ type: 'command', command, ...more }] }] },
  })
  const folder = await files(join(home, 'shared', 'listed'), {
    '.claude-plugin/plugin.json': {
      ...{ name: 'listed', hooks: ['./a.json', './b.json'], commands: ['./more', './one.md'] },
      ...{ agents: './agents', lspServers: {}, skills: './others', author: { name: 'a' } },
    },
    'a.json': stop('$CLAUDE_PLUGIN_ROOT/a.sh'),
    'b.json': stop('node', { args: ['${CLAUDE_PLUGIN_ROOT}/b.js'] }),
    'more/two.md': 'Two.',
    'one.md': 'One.',
    'agents/x.md': 'X.',
  })
  const text = await plugins(['enable', 'listed'])
  for (const line of [
    `It runs node ${folder}/b.js at events`,
    '.claude-plugin/plugin.json: agents is not used here; it is ignored.',
    '.claude-plugin/plugin.json: lspServers is not used here; it is ignored.',
    '.claude-plugin/plugin.json: skills are read from skills/ alone; what skills names is ignored.',
    'agents of the plugin is not used here.',
  ])
    expect(text).toContain(line)
  const opened = await openPlugins(host())
  const hooks = await opened.hooks()
  expect(hooks.map(({ commands }) => commands)).toEqual([['$CLAUDE_PLUGIN_ROOT/a.sh'], [`node ${folder}/b.js`]])
  expect(hooks[0]!.variables).toMatchObject({
    CLAUDE_PLUGIN_ROOT: folder,
    PLUGIN_DATA: join(home, 'plugin-data', 'listed'),
  })
  expect(setUp(opened.extensions).commands.map(({ name }) => name)).toEqual(['listed-two', 'listed-one'])
  expect(await plugins(['disable', 'listed'])).toBe('Disabled listed. It counts from the next start of Hermes on.')
  const off = await openPlugins(host())
  expect([off.loaded, await off.hooks()]).toEqual([[], []])
  expect(await plugins([])).toContain('listed | off')
})

it('the dot-folder form is read as it is', async () => {
  const folder = await files(join(home, 'sources', 'dotted'), {
    '.plugin/plugin.json': { name: 'dotted', description: 'Dots.' },
    '.mcp.json': { mcpServers: { dotted: { command: 'node', args: ['${CLAUDE_PLUGIN_ROOT}/x.mjs'] } } },
    'commands/go.md': '# Go on\n',
    'hooks/hooks.json': { hooks: { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] } },
  })
  await plugins(['install', folder], { enable: true })
  const opened = await openPlugins(host())
  expect(opened.servers['dotted']).toMatchObject({ args: [join(home, 'plugins', 'dotted', 'x.mjs')] })
  expect(await opened.hooks()).toHaveLength(1)
  expect(setUp(opened.extensions).commands.map(({ name, summary }) => [name, summary])).toEqual([
    ['dotted-go', 'Go on'],
  ])
})

it('a plugin of a project counts where the project is trusted and the plugin is enabled', async () => {
  await files(join(home, 'project', '.agents', 'plugins', 'local'), {
    'plugin.json': { $schema: SCHEMA, name: 'local', extensions: { [OURS]: { extension: './index.js' } } },
    'index.js': `export default { name: 'local', setup(api) { ${toolCode('local', '')} } }`,
  })
  await expect(plugins(['enable', 'local'])).rejects.toThrow(
    'is not trusted, so its plugins are not used. To trust it: hermes trust add',
  )
  isTrusted = true
  expect((await openPlugins(host())).extensions).toEqual([])
  await plugins(['enable', 'local'])
  expect((await openPlugins(host({ isSafe: true }))).extensions).toEqual([])
  expect((await openPlugins(host())).extensions.map(({ name }) => name)).toEqual(['plugin-local'])
  isTrusted = false
  expect((await openPlugins(host())).problems[0]).toContain('the project that brings it is not trusted')
})

it('unpacks no tarball that holds more than a plugin may have, and none that is no tarball', async () => {
  const bomb = join(home, 'bomb.tgz')
  await run(
    [
      'sh',
      '-c',
      `head -c 24000000 /dev/zero | gzip -1 > part; cat part part part part part part part part part part > ${bomb}`,
    ],
    { cwd: home },
  )
  await expect(plugins(['install', bomb])).rejects.toThrow('it unpacks to more than 230 MB.')
  await writeFile(join(home, 'plain.tgz'), 'no tarball')
  await expect(plugins(['install', join(home, 'plain.tgz')])).rejects.toThrow('plain.tgz is no tarball')
})

it('is installed from a tarball and from git, pinned, updated and uninstalled; nothing of it runs meanwhile', async () => {
  const folder = await plugin('moved', toolCode('moved', "return 'one'"))
  await files(folder, {
    'package.json': { name: 'moved', scripts: { preinstall: `touch ${home}/ran`, postinstall: `touch ${home}/ran` } },
  })
  await run(['tar', '-czf', join(home, 'moved.tgz'), '-C', join(home, 'sources'), 'moved'], { cwd: home })
  expect(await plugins(['install', join(home, 'moved.tgz')])).toContain('To use it: hermes plugins enable moved')
  expect(await plugins(['list'])).toContain('moved | off | 1.0.0')
  expect(await plugins(['uninstall', 'moved'])).toBe('Uninstalled moved, with its data.')
  expect(await readdir(join(home, 'plugins'))).toEqual([])

  const git = ['git', '-c', 'user.name=a', '-c', 'user.email=a@b', '-C', folder] as const
  await run([...git, 'init', '-q'], { cwd: home })
  const commit = async () => {
    await run([...git, 'add', '-A'], { cwd: home })
    await run([...git, 'commit', '-qm', 'x'], { cwd: home })
    return (await run([...git, 'rev-parse', 'HEAD'], { cwd: home })).stdout.trim()
  }
  const first = await commit()
  await plugins(['install', `git+file://${folder}`], { enable: true })
  const state = async () => JSON.parse(await readFile(join(home, 'installed-plugins.json'), 'utf8')).plugins[0]
  expect(await state()).toMatchObject({ source: { type: 'git', pin: first }, isEnabled: true })
  await files(folder, {
    'index.js': `export default { name: 'moved', setup(api) { ${toolCode('moved', "return 'two'")} } }`,
  })
  const second = await commit()
  expect(await plugins(['update'])).toBe(
    'moved: 1.0.0 → 1.0.0.\nIt counts from the next start of Hermes on; for a gateway that runs: hermes gateway reload',
  )
  expect(await state()).toMatchObject({ source: { pin: second }, isEnabled: true })
  const manifest = JSON.parse(await readFile(join(folder, 'plugin.json'), 'utf8'))
  manifest.extensions[OURS].capabilities = { exec: true }
  await files(folder, { 'plugin.json': manifest, 'index.js': 'throw new Error("It ran.")' })
  await commit()
  expect(await plugins(['update'])).toContain('It is not what you agreed to, so it is off.')
  expect(await state()).toMatchObject({ isEnabled: false })
  // Where nothing holds its code, looking at it does not run it either.
  expect(await plugins(['validate', folder])).toContain(
    'Its code was not started, for nothing would hold it. To set it up: hermes plugins enable moved',
  )
  await expect(plugins(['enable', 'moved'])).rejects.toThrow('It ran.')
  expect(existsSync(join(home, 'ran'))).toBe(false)
})

/** A registry on this machine that speaks npm's protocol. */
async function startRegistry() {
  const packages = new Map<string, { readonly tarball: Buffer; readonly integrity: string }>()
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '/')
    const [, name = '', version] = /^\/([\w-]+)(?:\/-\/[\w-]+-([\d.]+)\.tgz)?$/.exec(path) ?? []
    const versions = [...packages].filter(([key]) => key.startsWith(`${name}@`))
    const one = packages.get(`${name}@${version}`)
    if (one) return void response.end(one.tarball)
    if (versions.length === 0) return void response.writeHead(404).end('{}')
    const about = versions.map(([key, { integrity }]) => {
      const at = key.slice(name.length + 1)
      const dist = { tarball: `http://${request.headers.host}/${name}/-/${name}-${at}.tgz`, integrity }
      return [at, { name, version: at, dist }] as const
    })
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({ name, 'dist-tags': { latest: about.at(-1)![0] }, versions: Object.fromEntries(about) }),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    /** With `integrity` the registry says something else of the tarball than what it is. */
    publish: async (folder: string, version: string, integrity?: string) => {
      const name = 'from-npm'
      const file = join(home, `${name}-${version}.tgz`)
      await run(['tar', '-czf', file, '-C', folder, '--transform=s,^\\.,package,', '.'], { cwd: home })
      const tarball = await readFile(file)
      const own = `sha512-${createHash('sha512').update(tarball).digest('base64')}`
      packages.set(`${name}@${version}`, { tarball, integrity: integrity ?? own })
      return own
    },
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

it('is installed from npm, pinned to version and integrity, and runs no script of its package', async () => {
  const registry = await startRegistry()
  const npmrc = join(home, '.npmrc')
  await writeFile(npmrc, `registry=${registry.url}\ncache=${join(home, 'npm-cache')}\nfetch-retries=0\n`)
  try {
    const folder = await plugin('from-npm', toolCode('from_npm', "return 'one'"))
    const scripts = Object.fromEntries(
      ['preinstall', 'install', 'postinstall', 'prepare', 'prepack'].map((when) => [when, `touch ${home}/ran`]),
    )
    const manifest = (version: string) => ({ 'package.json': { name: 'from-npm', version, scripts } })
    const first = await registry.publish(await files(folder, manifest('1.0.0')), '1.0.0')
    expect(await plugins(['install', 'npm:from-npm'], { enable: true })).toContain('Enabled from-npm')
    const state = async () => JSON.parse(await readFile(join(home, 'installed-plugins.json'), 'utf8')).plugins[0]
    expect(await state()).toMatchObject({ source: { type: 'npm', from: 'from-npm', pin: `1.0.0 ${first}` } })
    await registry.publish(await files(folder, manifest('1.1.0')), '1.1.0', first)
    await expect(plugins(['update'])).rejects.toThrow(/npm failed: .*(EINTEGRITY|integrity)/i)
    expect(await state()).toMatchObject({ source: { pin: `1.0.0 ${first}` } })
    expect(existsSync(join(home, 'ran'))).toBe(false)
  } finally {
    registry.close()
  }
})

it('is fetched without touching what its links lead to, and without running what its .npmrc names', async () => {
  const outside = await files(join(home, 'outside'), {
    'plugin.json': { $schema: SCHEMA, name: 'outside' },
    'kept/file': 'kept',
  })
  const folder = await plugin('linked', '')
  await files(folder, {
    'package.json': { name: 'linked', version: '1.0.0', dependencies: { other: 'git+file:///nowhere.git' } },
    'git.sh': `#!/bin/sh\ntouch ${home}/ran\nexit 1\n`,
    '.npmrc': 'git=./git.sh\n',
  })
  await chmod(join(folder, 'git.sh'), 0o755)
  await files(folder, { '.npmrc': `git=${folder}/git.sh\n` })
  await expect(plugins(['install', folder])).rejects.toThrow('npm failed')
  expect(existsSync(join(home, 'ran'))).toBe(false)

  await symlink(outside, join(folder, 'node_modules'))
  await run(['tar', '-czf', join(home, 'linked.tgz'), '-C', join(home, 'sources'), 'linked'], { cwd: home })
  await expect(plugins(['install', join(home, 'linked.tgz')])).rejects.toThrow('the link node_modules leads out')
  await symlink(outside, join(home, 'only'))
  await run(['tar', '-czf', join(home, 'only.tgz'), '-C', home, 'only'], { cwd: home })
  await expect(plugins(['install', join(home, 'only.tgz')])).rejects.toThrow('is no plugin')
  expect(await readFile(join(outside, 'kept', 'file'), 'utf8')).toBe('kept')
})

it('what one inside left uncaught is named by list and doctor of any process until it is updated', async () => {
  const folder = await plugin('inner', '', { runs: 'inside' })
  await plugins(['install', folder], { enable: true })
  await noteFault(host().stateFile, join(home, 'plugins', 'inner'), { error: 'of a timer.', atMs: 0 })
  const line =
    'inner: on 1970-01-01 00:00 UTC it left an error uncaught and was off from then on in that process: of a timer. Look for another version: hermes plugins update inner'
  expect(await plugins(['list'])).toContain(line)
  expect(await plugins(['doctor'])).toBe(`ok inner 1.0.0\nwarn ${line}`)
  await plugins(['update'])
  expect(await plugins(['doctor'])).toBe('ok inner 1.0.0')
})

it('runs nothing inside Hermes before somebody agrees to it', async () => {
  const folder = await plugin('within', '', { runs: 'inside' })
  const code = `import { writeFileSync } from 'node:fs'\nwriteFileSync(${JSON.stringify(join(home, 'ran'))}, '')\n`
  const text = await readFile(join(folder, 'index.js'), 'utf8')
  await files(folder, { 'index.js': code + text })
  expect(await plugins(['validate', folder])).toContain('runs inside Hermes and can do whatever you can')
  expect(existsSync(join(home, 'ran'))).toBe(false)
  const apart = await plugin('grown', '')
  await plugins(['install', apart], { enable: true })
  await plugin('grown', '', { runs: 'inside' })
  await files(apart, { 'index.js': code + text.replaceAll('within', 'grown') })
  expect(await plugins(['update'])).toContain('It is not what you agreed to, so it is off.')
  expect(existsSync(join(home, 'ran'))).toBe(false)
})

it.each(['tool', 'memory', 'hook', 'provider'])(
  'a plugin that begins as a %s passes its tests and can be enabled',
  async (kind) => {
    const { createPlugin } = await import('./install/template.js')
    const folder = join(home, 'new-one')
    await createPlugin(folder, kind)
    const tested = await run([process.execPath, '--no-warnings', '--test'], { cwd: folder })
    expect(tested.exitCode, tested.stdout).toBe(0)
    expect(await plugins(['install', folder], { enable: true })).toContain('Enabled new-one')
    await expect(createPlugin(folder, kind)).rejects.toThrow('is there already')
  },
)
