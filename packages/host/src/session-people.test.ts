// People of one home in one process: chats, groups and the owner at its entry points.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openRuntime } from '@hermes/runtime'
import { type ModelStep, startModelServer, temporaryHome } from '@hermes/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { openCommandContext } from './command-context.js'
import { createSessionHost, type OpenRequest, type SessionHandle } from './index.js'

const CONFIG = {
  people: { owner: { telegram: ['1'] }, bob: { telegram: ['2'], email: ['bob@example.org'] } },
  toolsets: ['hermes-cli', 'session_search'],
  auxiliary: { title_generation: { enabled: false }, session_summary: { enabled: false } },
  memory: { flush_min_turns: 0 },
}

async function stage(config: object = {}) {
  const [temporary, server] = [await temporaryHome(), await startModelServer()]
  const path = (...names: readonly string[]) => join(temporary.path, ...names)
  for (const folder of ['home', 'work']) await mkdir(path(folder))
  await writeFile(path('home/config.yaml'), JSON.stringify({ ...CONFIG, ...config }))
  const world = { userHome: temporary.path, env: { PATH: '/usr/bin:/bin' }, cwd: path('work'), tempDir: temporary.path }
  const runtime = await openRuntime({ home: path('home'), ...world, user: 'ada' })
  const host = createSessionHost({ runtime })
  onTestFinished(async () => {
    await host.close()
    await runtime.close()
    await server.close()
    await temporary.remove()
  })
  const open = (request: Omit<OpenRequest, 'permissions'>): SessionHandle =>
    host.open({ baseUrl: server.baseUrl, model: 'm', permissions: 'deny', ...request })
  /** What the model was sent, tool answers included. */
  const say = async (session: SessionHandle, text: string, ...steps: readonly ModelStep[]): Promise<string> => {
    server.enqueue(...steps, { text: 'Noted.' })
    expect(await session.send(text).result).toMatchObject({ status: 'completed' })
    return JSON.stringify(server.requests.at(-1)!.body.messages)
  }
  return { host, runtime, open, say, path }
}

const remember = (content: string): ModelStep => ({
  toolCalls: [{ name: 'memory', args: { target: 'memory', action: 'add', content } }],
})
const search = (query: string): ModelStep => ({ toolCalls: [{ name: 'session_search', args: { query } }] })

it.each(['cli', 'oneshot', 'acp'])(
  "shows the owner at %s what is the owner's, over chats too, and nothing of others",
  async (platform) => {
    const { open, say, path } = await stage()
    await say(
      open({ platform: 'telegram', user: '1', chatKey: '1' }),
      'My boat is a dinghy.',
      remember('The owner sails.'),
    )
    await say(open({ platform: 'telegram', user: '2', chatKey: '2' }), 'My boat is a trawler.', remember('Bob fishes.'))
    await say(
      open({ platform: 'telegram', user: '3', chatKey: '3' }),
      'My boat is a canoe.',
      remember('A stranger paddles.'),
    )
    const owner = await say(open({ platform }), 'Hello.', search('boat'))
    expect(owner).toMatch(/The owner sails/)
    expect(owner).toMatch(/dinghy/)
    expect(owner).not.toMatch(/fishes|trawler|paddles|canoe/)
    const bob = await say(open({ platform: 'email', user: 'BOB@example.org', chatKey: 'x' }), 'Hello.', search('boat'))
    expect(bob).toMatch(/Bob fishes/)
    expect(bob).toMatch(/trawler/)
    expect(bob).not.toMatch(/sails|dinghy|paddles|canoe/)
    expect(await readFile(path('home/memories/MEMORY.md'), 'utf8')).toBe('The owner sails.\n')
    expect(await readFile(path('home/memories/users/bob/MEMORY.md'), 'utf8')).toBe('Bob fishes.\n')
  },
)

it.each([
  ['own', /The group meets/, /The owner sails/],
  ['owner', /The owner sails[\s\S]*The group meets|The group meets[\s\S]*The owner sails/, /dinghy/],
])('gives a group what is its own, and by groups.memory: %s', async (memory, seen, unseen) => {
  const { open, say, path } = await stage({ groups: { memory } })
  await say(open({ platform: 'cli' }), 'My boat is a dinghy.', remember('The owner sails.'))
  const group = { platform: 'telegram', chatKey: '-5', isGroup: true }
  const first = open({ ...group, user: '1' })
  await say(first, 'We have a boat.', remember('The group meets.'))
  expect(first.person).toBe('group:telegram:-5')
  expect(open({ ...group, user: '9' }).id).toBe(first.id)
  const again = open({ ...group, user: '2', sessionId: 'another-session' })
  const text = await say(again, 'Hello.', search('boat'))
  expect(text).toMatch(seen)
  expect(text).not.toMatch(unseen)
  expect(await readFile(path('home/memories/MEMORY.md'), 'utf8')).toBe('The owner sails.\n')
})

it('names the session of any chat safely, the same in every process, and another one for each person', async () => {
  const { open } = await stage()
  const keys = ['a/b', 'a\nb', '../../etc', '', 'x'.repeat(200), `${'x'.repeat(200)}y`, '-100', '100']
  const ids = keys.map((chatKey) => open({ platform: 'telegram', user: '2', chatKey }).id)
  for (const id of ids) expect(id).toMatch(/^chat-[0-9a-f]{32}$/)
  expect(new Set(ids).size).toBe(keys.length)
  expect(open({ platform: 'telegram', user: '2', chatKey: 'a/b' }).id).toBe(ids[0])
  expect(open({ platform: 'telegram', user: '3', chatKey: 'a/b' }).id).not.toBe(ids[0])
  expect(open({ platform: 'discord', user: '2', chatKey: 'a/b' }).id).not.toBe(ids[0])
})

it('lets nobody but the owner into a session of another person, open or not', async () => {
  const { host, open, say } = await stage()
  const bob = open({ platform: 'telegram', user: '2' })
  await say(bob, 'My boat is a trawler.')
  const stranger = { platform: 'telegram', user: '3', sessionId: bob.id }
  const unknown = expect.objectContaining({ code: 'host.unknown_session', message: `There is no session "${bob.id}".` })
  expect(() => open(stranger)).toThrow(unknown)
  expect(host.agentOf(bob.id, 'telegram:3')).toBeNull()
  expect(host.agentOf(bob.id, 'bob')).not.toBeNull()
  await bob.end('left')
  bob.close()
  const early = open(stranger)
  await expect(early.send('And?').result).rejects.toThrow(unknown)
  await expect(early.agent()).rejects.toThrow(unknown)
  await expect(early.subscribe()).rejects.toThrow(unknown)
  // Who came too early reads nothing later either.
  const owner = open({ platform: 'cli', sessionId: bob.id })
  expect(await say(owner, 'What is it?')).toContain('trawler')
  await expect(early.subscribe()).rejects.toThrow(unknown)
  expect([owner.person, early.ready]).toEqual(['bob', null])
})

it.each([{}, { approvals: { mode: 'off' }, terminal: { isolation: 'off' } }])(
  'keeps what is in the home from the file tools and references of others: %o',
  async (config) => {
    const { open, say, path } = await stage(config)
    await say(open({ platform: 'cli' }), 'Hello.', remember('The owner sails.'))
    await say(open({ platform: 'telegram', user: '2' }), 'Hello.', remember('Bob fishes.'))
    const files = ['memories/MEMORY.md', 'memories/users/bob/MEMORY.md'].map((name) => path('home', name))
    await writeFile(path('work/a.txt'), 'Anybody walks.')
    const readAll = [...files, path('work/a.txt')].map((file) => ({ name: 'read_file', args: { path: file } }))
    const looks = ['content', 'files'].flatMap((target) =>
      [path(), path('home'), path('home/memories')].map((folder) => ({
        name: 'search_files',
        args: { pattern: target === 'files' ? '*.md' : 'sails|fishes', path: folder, target },
      })),
    )
    const steps = [{ toolCalls: readAll }, { toolCalls: looks }]
    const stranger = () => open({ platform: 'telegram', user: '3' })
    const seen = await say(stranger(), `Look at @file:${files[0]} and @file:../home/memories/MEMORY.md.`, ...steps)
    expect(seen).toContain('Anybody walks.')
    expect(seen).not.toMatch(/The owner sails|Bob fishes|MEMORY\.md:\d/)
    expect(await say(open({ platform: 'cli' }), 'Look.', ...steps)).toMatch(/Bob fishes/)
  },
)

it('keeps long outputs of others in a folder of their own, which is all that their commands see of the home', async () => {
  const { open, say, path } = await stage()
  const command = `seq 1 60000; find ${path('home')} -name 'output-*'`
  const print: ModelStep = { toolCalls: [{ name: 'terminal', args: { command } }] }
  const fileIn = (text: string) => /\/[^\s"]*\/output-[\w-]+\.\w+/.exec(text)![0]
  const ofOwner = fileIn(await say(open({ platform: 'cli' }), 'Count.', print))
  const look: ModelStep = { toolCalls: [{ name: 'terminal', args: { command: `cat ${ofOwner}; echo done` } }] }
  const bob = open({ platform: 'telegram', user: '2' })
  const ofBob = fileIn(await say(bob, 'Count.', print))
  expect(ofBob).toContain(path('home/cache/users/bob/terminal/'))
  const read = { name: 'read_file', args: { path: ofBob, offset: 29_000, limit: 3 } }
  expect(await say(bob, 'Read.', look, { toolCalls: [read] })).toContain('29001')
  expect(await say(open({ platform: 'telegram', user: '3' }), 'Read.', look, { toolCalls: [read] })).not.toContain(
    '29001',
  )
})

it('tells nobody whose session has a title already', async () => {
  const { runtime, open, say, path } = await stage()
  const context = async (user: string) => {
    const handle = open({ platform: 'telegram', user })
    await say(handle, 'Hello.')
    const caller = { platform: 'telegram', user, isOwner: false, changes: [] }
    const rest = { isBusy: () => false, notice: () => undefined, signal: new AbortController().signal }
    return openCommandContext({ runtime, handle, caller, cwd: path('work'), ...rest })
  }
  await (await context('2')).session!.rename('boat')
  const problem = {
    code: 'command.usage',
    message: 'Another session has the title "boat" already; choose another one.',
  }
  await expect((await context('3')).session!.rename('boat')).rejects.toMatchObject({ ...problem, details: {} })
})
