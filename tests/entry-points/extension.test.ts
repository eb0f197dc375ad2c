// An extension that imports nothing of Hermes but types works alike in the terminal, the gateway and the editor.
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startEditor } from '../support/acp.js'
import { runCli, runCliProcess } from '../support/cli.js'
import { startGateway } from '../support/gateway.js'
import { useScene } from '../support/scene.js'
import { hasTmux, openTerminal } from '../support/terminal.js'

const scene = useScene()

const KETTLE = `
/** @type {import('@hermes/contracts/extension').Extension} */
export default {
  name: 'kettle',
  setup(api) {
    const section = api.config.section({
      key: 'kettle',
      schema: { '~standard': { version: 1, vendor: 'kettle', validate: (value) =>
        typeof value?.room === 'number' ? { value } : { issues: [{ message: 'must be a number', path: ['room'] }] } } },
    })
    const room = () => section.value?.room ?? 1
    api.prompt.section({ name: 'place', render: () => 'The kettle stands in room ' + room() + '.' })
    api.hooks.on('input', ({ platform }) => ({ after: [{ type: 'text', text: '[Asked through ' + platform + '.]', origin: 'reminder' }] }))
    api.tools.add({
      name: 'pour',
      toolset: 'kettle',
      description: 'Pours tea.',
      effect: 'read',
      parameters: { type: 'object', properties: { cups: { type: 'integer' } }, required: ['cups'] },
      execute: ({ cups }) => cups + ' cups poured in room ' + room(),
    })
    api.commands.add({ name: 'steep', summary: 'let it steep', run: () => ({ type: 'text', text: 'It steeps in room ' + room() + '.' }) })
    const blend = async (_, { ask, signal }) => ({ type: 'text', text: 'Blended: ' + (await ask('Which tea?', signal)) + '.' })
    api.commands.add({ name: 'blend', summary: 'blend a tea', run: blend })
    let leaf
    const grow = () => {
      leaf ? leaf.dispose() : leaf = api.commands.add({ name: 'leaf', summary: 'a leaf', scope: 'anyone', run: () => ({ type: 'text', text: 'Green.' }) })
      return { type: 'text', text: 'Grown.' }
    }
    api.commands.add({ name: 'grow', summary: 'grow a leaf, or lose it', scope: 'anyone', needsSession: false, run: grow })
    api.doctor.check({ name: 'water', run: () => [{ level: 'warn', text: 'no water in room ' + room() }] })
    api.subcommands.add({
      name: 'boil',
      summary: 'boil some water',
      words: 'for whom',
      options: { type: 'object', properties: { cups: { type: 'integer', minimum: 1 }, milk: { type: 'boolean' } } },
      load: async () => ({ cups = 1, milk = false }, { words, write }) => {
        write(cups + ' cups' + (milk ? ' with milk' : '') + ' for ' + words.join(' and ') + ', room ' + room() + '\\n')
        return 3
      },
    })
    api.routes.add({ method: 'GET', path: '/rooms/:room', scope: 'api', handle: (request, { room }) => Response.json({ room }) })
    api.routes.add({ method: 'POST', path: '/hook', scope: 'open', handle: async (request) => new Response(await request.text()) })
    api.routes.add({ method: 'GET', path: '/broken', scope: 'api', handle: () => { throw new Error('the pipe burst') } })
  },
}
`

const MOON = `
export default { name: 'moonlight', setup: (api) => {
  api.factories.add('model-provider', 'moon', () => ({ baseUrl: process.env.MOON_URL, defaultModel: 'luna' }))
} }
`

async function install(settings = 'kettle: { room: 7 }'): Promise<void> {
  const { home } = scene
  await mkdir(join(home, 'extensions'), { recursive: true, mode: 0o700 })
  await writeFile(join(home, 'extensions/kettle.mjs'), KETTLE, { mode: 0o600 })
  await writeFile(join(home, 'config.yaml'), `extensions: [kettle.mjs]\n${settings}\n`)
}

it('adds a tool, and to prompt and messages, in the terminal, the gateway and the editor', async () => {
  await install()
  const { server, home, cwd } = scene
  const flags = ['--base-url', server.baseUrl, '-m', 'm']
  const pour = { toolCalls: [{ name: 'pour', args: { cups: 2 } }] }
  server.enqueue(pour, { text: 'One.' }, pour, { text: 'Two.' }, pour, { text: 'Three.' })
  expect(await runCli(['chat', '-q', 'Tea?', ...flags], { home, cwd })).toMatchObject({ exitCode: 0, stdout: 'One.\n' })
  const gateway = await startGateway(flags, { home, cwd })
  await gateway.client().chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'Tea?' }] })
  expect(await gateway.stop()).toBe(0)
  const editor = await startEditor(flags, { home, cwd })
  const { sessionId } = await editor.agent.request('session/new', { cwd, mcpServers: [] })
  expect(await editor.prompt(sessionId, 'Tea?')).toBe('end_turn')
  expect(await editor.leave()).toBe(0)
  const through = ['oneshot', 'gateway', 'acp']
  for (const [index, platform] of through.entries()) {
    const { messages } = server.requests[2 * index + 1]!.body
    expect(JSON.stringify(messages[0])).toContain('The kettle stands in room 7.')
    expect(JSON.stringify(messages[1])).toContain(`[Asked through ${platform}.]`)
    expect(JSON.stringify(messages.at(-1))).toContain('2 cups poured in room 7')
  }
})

it('adds a command, a config key and a check', async () => {
  await install()
  const { home, cwd } = scene
  const boil = await runCli(['boil', 'Ada', 'Bo', '--cups', '2', '--milk'], { home, cwd })
  expect(boil).toEqual({ exitCode: 3, signal: null, stdout: '2 cups with milk for Ada and Bo, room 7\n', stderr: '' })
  const bad = await runCli(['boil', '--cups', 'none'], { home, cwd })
  expect(bad.exitCode).toBe(2)
  expect(bad.stderr).toMatch(/^hermes: boil: .*cups.*\n$/)
  expect((await runCli(['--help'], { home, cwd })).stdout).toMatch(/boil .*boil some water/)
  expect((await runCli(['boil', '--help'], { home, cwd })).stdout).toContain('--cups <value>')
  const doctor = await runCli(['doctor', '--offline'], { home, cwd })
  expect(doctor.stdout).toContain('warn  kettle: no water in room 7\n')
  expect(doctor.stdout).not.toContain('known key')
  expect(await runCli(['config', 'check'], { home, cwd })).toMatchObject({ exitCode: 0 })
  await install('kettle: { room: seven }')
  const checked = await runCli(['config', 'check'], { home, cwd })
  expect(checked).toMatchObject({
    exitCode: 1,
    stdout: expect.stringMatching(/config\.yaml:2:\d+: kettle\.room: must be a number\.\n$/),
  })
})

it('adds a model provider: chosen by its name, listed and checked', async () => {
  const { server, home, cwd } = scene
  await mkdir(join(home, 'extensions'), { recursive: true, mode: 0o700 })
  await writeFile(join(home, 'extensions/moon.mjs'), MOON, { mode: 0o600 })
  await writeFile(join(home, 'config.yaml'), 'extensions: [moon.mjs]\nmodel: { provider: moon }\n')
  // Its code reads the variable of the process it runs in.
  const options = { home, cwd, env: { MOON_URL: server.baseUrl } }
  server.enqueue({ text: 'By name.' }, { text: 'By flag.' })
  expect(await runCliProcess(['chat', '-q', 'Hi.'], options)).toMatchObject({ exitCode: 0, stdout: 'By name.\n' })
  const flag = await runCliProcess(['chat', '-q', 'Hi.', '--provider', 'moon', '-m', 'crescent'], options)
  expect(flag).toMatchObject({ exitCode: 0, stdout: 'By flag.\n' })
  const chats = server.requests.filter(({ body }) => body?.messages !== undefined)
  expect(chats.map(({ body }) => body.model)).toEqual(['luna', 'crescent'])
  expect((await runCliProcess(['model', 'list'], options)).stdout).toMatch(/^moon +.*the extension moonlight$/m)
  expect((await runCliProcess(['doctor'], options)).stdout).toContain(`Model luna at moon (${server.baseUrl})`)
})

it('is held to files that only the person can have written, with what it imports, then and later', async () => {
  const { home, cwd } = scene
  const folder = join(home, 'extensions')
  await mkdir(join(home, 'lent'), { recursive: true })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const part = (name: string) => `export default { name: '${name}', setup: (api) => {
    const load = () => import('../lent/open.mjs').then(() => 'loaded', ({ message }) => message)
    api.doctor.check({ name: 'imports', run: async () => [{ level: 'warn', text: await load() }] })
  } }`
  const refused = (name: string) =>
    `others can write to ${join(home, 'lent', name)}. Run: chmod go-w ${join(home, 'lent', name)}`
  for (const [name, mode] of [
    ['own.mjs', 0o644],
    ['open.mjs', 0o666],
    ['word.mjs', 0o622],
  ] as const) {
    await writeFile(join(home, 'lent', name), `export const word = 'tea'`)
    await chmod(join(home, 'lent', name), mode)
  }
  const now = `import '../lent/own.mjs'\nimport { word } from '../lent/word.mjs'\n${part('now')}`
  await writeFile(join(folder, 'now.mjs'), now, { mode: 0o600 })
  await writeFile(join(folder, 'later.mjs'), `import '../lent/own.mjs'\n${part('later')}`, { mode: 0o600 })
  await writeFile(join(home, 'config.yaml'), 'extensions: [now.mjs, later.mjs]\n')
  const opened = await runCli(['prompt'], { home, cwd })
  expect(opened.stderr).toBe(`hermes: Extension now.mjs is left out: ${refused('word.mjs')}.\n`)
  expect((await runCli(['doctor', '--offline'], { home, cwd })).stdout).toContain(
    `warn  later: ${refused('open.mjs')}\n`,
  )
})

it.runIf(hasTmux)('adds a slash command to the terminal', async () => {
  await install()
  const { server, home, cwd } = scene
  await using terminal = await openTerminal(['--base-url', server.baseUrl, '-m', 'm'], { home, cwd, columns: 80 })
  await terminal.shows(/\n>$/)
  await terminal.type('/steep')
  await terminal.press('Enter')
  await terminal.shows(/It steeps in room 7\./)
  for (const [line, text] of [
    ['/leaf', /Unknown command \/leaf\./],
    ['/grow', /Grown\./],
    ['/leaf', /Green\./],
  ] as const) {
    await terminal.type(line)
    await terminal.press('Enter')
    await terminal.shows(text)
  }
  await terminal.type('/blend')
  await terminal.press('Enter')
  await terminal.shows(/Which tea\?/)
  await terminal.type('green and black')
  await terminal.press('Enter')
  await terminal.shows(/Blended: green and black\./)
})

it('adds and removes slash commands while an editor and the gateway are at work', async () => {
  await install()
  const { server, home, cwd } = scene
  const flags = ['--base-url', server.baseUrl, '-m', 'm']
  const editor = await startEditor(flags, { home, cwd })
  const id = await editor.newSession(cwd)
  const lists = () =>
    editor.updates.flatMap(({ update }) =>
      update.sessionUpdate === 'available_commands_update'
        ? [update.availableCommands.some(({ name }) => name === 'leaf')]
        : [],
    )
  await expect.poll(lists).toEqual([false])
  await editor.prompt(id, '/grow')
  await expect.poll(lists).toEqual([false, true])
  await editor.prompt(id, '/leaf')
  await editor.prompt(id, '/grow')
  await expect.poll(lists).toEqual([false, true, false])
  expect(JSON.stringify(editor.updates)).toContain('Green.')
  expect(await editor.leave()).toBe(0)
  const gateway = await startGateway(flags, { home, cwd })
  const ask = async (content: string) => {
    const body = await gateway.client().chat.completions.create({ model: 'm', messages: [{ role: 'user', content }] })
    return body.choices[0]?.message.content
  }
  expect(await ask('/help')).not.toContain('/leaf')
  expect(await ask('/grow')).toBe('Grown.')
  expect(await ask('/help')).toContain('/leaf')
  expect(await ask('/grow')).toBe('Grown.')
  expect(await ask('/leaf')).toBe('Unknown command /leaf. /help lists all.')
  expect(await gateway.stop()).toBe(0)
  expect(server.requests).toHaveLength(0)
})

it('adds routes of its own to the gateway, with the key and without', async () => {
  await install()
  const { server, home, cwd } = scene
  const gateway = await startGateway(['--base-url', server.baseUrl, '-m', 'm'], { home, cwd })
  const at = (path: string) => `/../extensions/kettle${path}`
  expect(await (await gateway.request(at('/rooms/a%20b'))).json()).toEqual({ room: 'a b' })
  expect((await gateway.request(at('/rooms/3'), { headers: {} })).status).toBe(401)
  const hook = await gateway.request(at('/hook'), { body: 'signed', headers: {} })
  expect([hook.status, await hook.text()]).toEqual([200, 'signed'])
  expect((await gateway.request(at('/broken'))).status).toBe(500)
  expect((await gateway.request(at('/nothing'))).status).toBe(404)
  expect((await gateway.request(at('/rooms/3'))).status).toBe(200)
  expect(await gateway.stop()).toBe(0)
})
