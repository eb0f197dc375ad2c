// The gateway as people run it, with a bot: killed at any moment it neither loses nor repeats a message.
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ModelServer, startModelServer, type TemporaryHome, temporaryHome } from '@hermes/testkit'
import { type BotApiServer, startBotApiServer } from '@hermes/testkit/chats'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { writeChatHome } from '../support/chat-home.js'
import { runCli } from '../support/cli.js'
import { type Gateway, startGateway } from '../support/gateway.js'

const MESSAGES = 9

let home: TemporaryHome
let server: ModelServer
let bot: BotApiServer
let gateway: Gateway

async function start(): Promise<void> {
  const options = { home: home.path, cwd: join(home.path, 'work'), env: { TELEGRAM_BOT_TOKEN: bot.token } }
  gateway = await startGateway(['--base-url', server.baseUrl, '-m', 'test'], options)
}

beforeEach(async () => {
  home = await temporaryHome()
  server = await startModelServer()
  bot = await startBotApiServer()
  await writeChatHome(home.path, { base_url: bot.url }, { people: { owner: { telegram: ['7'] } } })
  await start()
})
afterEach(async () => {
  await gateway.stop()
  await server.close()
  await bot.close()
  await home.remove()
})

it('loses and repeats none of what people wrote, and keeps its order, killed before a run, in one, and while its answer is sent', async () => {
  for (let index = 0; index < MESSAGES * 3; index++) server.enqueue({ text: 'ok', latencyMs: 20 })
  const sent = () => bot.calls.filter(({ method }) => method === 'sendMessage').length
  const boundaries = [() => 1, () => server.requests.length, sent]
  for (let index = 0; index < MESSAGES; index++) {
    const boundary = boundaries[index / 3]
    const before = boundary?.() ?? 0
    bot.say(`message ${index}.`)
    if (!boundary) continue
    await expect.poll(boundary, { interval: 2, timeout: 15_000 }).toBeGreaterThanOrEqual(index === 0 ? 1 : before + 1)
    gateway.child.kill('SIGKILL')
    await start()
  }
  const newest = () => JSON.stringify(server.requests.at(-1)?.body.messages ?? [])
  await expect.poll(newest, { timeout: 20_000 }).toContain(`message ${MESSAGES - 1}.`)
  const last = server.requests.at(-1)!.body.messages
  const heard = last.flatMap(({ role, content }) =>
    role === 'user' ? [...JSON.stringify(content).matchAll(/message (\d+)\./g)].map(([, index]) => Number(index)) : [],
  )
  expect(heard).toEqual(Array.from({ length: MESSAGES }, (_, index) => index))
  const answers = last.filter(({ role }) => role === 'assistant').length + 1
  await expect.poll(() => bot.messages(7).length, { timeout: 15_000 }).toBeGreaterThanOrEqual(answers)
  await expect.poll(() => bot.unconfirmed, { timeout: 15_000 }).toBe(0)
  const shown = bot.messages(7).map(({ text }) => text)
  expect(shown.filter((text) => text === 'ok').length + shown.filter((text) => /repetition/.test(text)).length).toBe(
    shown.length,
  )
  expect(shown.filter((text) => text === 'ok').length).toBeLessThanOrEqual(answers)
  expect(server.violations).toEqual([])
}, 90_000)

it('says how it is doing, refuses a second process with its account, and lets people in by their code', async () => {
  const cli = (args: readonly string[]) =>
    runCli(args, { home: home.path, cwd: home.path, env: { TELEGRAM_BOT_TOKEN: bot.token } })
  await expect
    .poll(async () => (await cli(['gateway', 'status'])).stdout, { timeout: 10_000 })
    .toMatch(/telegram: hears as @hermes_test_bot/)
  expect((await cli(['gateway', 'platforms'])).stdout).toMatch(/telegram: .*pairing code/)
  const second = await cli(['gateway', 'run', '--port', '0', '--base-url', server.baseUrl, '-m', 'test'])
  expect(second).toMatchObject({
    exitCode: 78,
    stderr: expect.stringMatching(/speaks for this account of telegram already/),
  })
  expect(await gateway.request('/models')).toMatchObject({ status: 401 })
  bot.say('hello', { userId: 9, name: 'Eve' })
  const [prompt] = await bot.waitFor(9, (messages) => messages.length > 0)
  const code = /[A-Z2-9]{8}/.exec(prompt!.text)![0]
  expect(await cli(['pairing', 'approve', 'telegram', 'WRONGONE'])).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/No pairing with this code/),
  })
  expect((await cli(['pairing', 'approve', 'telegram', code])).stdout).toMatch(/"Eve" \(telegram:9\) may talk/)
  server.enqueue({ text: 'Welcome.' })
  bot.say('hello again', { userId: 9, name: 'Eve' })
  await bot.waitFor(9, (messages) => messages.some(({ text }) => text === 'Welcome.'))
  expect(await cli(['send', 'telegram:9', 'News', 'for', '**you**'])).toMatchObject({ exitCode: 0, stdout: 'Sent.\n' })
  expect(bot.messages(9).at(-1)!.text).toBe('News for you')
  expect((await cli(['pairing', 'list'])).stdout).toMatch(/telegram {2}let in {2}9 {2}"Eve"/)
  expect(await cli(['pairing', 'revoke', 'telegram', '9'])).toMatchObject({ exitCode: 0 })
  const calls = bot.messages(9).length
  bot.say('still there?', { userId: 9, name: 'Eve' })
  await expect.poll(() => bot.unconfirmed).toBe(0)
  expect(bot.messages(9)).toHaveLength(calls)
  expect(await cli(['gateway', 'stop'])).toMatchObject({ exitCode: 0, stdout: 'Stopped: 1.\n' })
  expect(await gateway.stop()).toBe(0)
  expect(await cli(['gateway', 'status'])).toMatchObject({
    exitCode: 1,
    stdout: expect.stringMatching(/No gateway runs/),
  })
}, 90_000)

it('a chat chooses its account: its requests go out with that key alone, those of other chats with the first', async () => {
  await gateway.stop()
  const lab = { providers: { lab: { base_url: server.baseUrl } }, model: { provider: 'lab', default: 'm' } }
  await rm(join(home.path, 'work'), { recursive: true })
  await writeChatHome(home.path, { base_url: bot.url }, { people: { owner: { telegram: ['7', '8'] } }, ...lab })
  const options = { home: home.path, cwd: join(home.path, 'work'), env: { TELEGRAM_BOT_TOKEN: bot.token } }
  for (const label of ['first', 'work'])
    await runCli(['auth', 'add', 'lab', '--key-stdin', '--label', label], {
      ...options,
      input: `sk-${label}-0123456789`,
    })
  server.setHandler(() => ({ text: 'Yes.' }))
  gateway = await startGateway([], options)
  const say = async (userId: number, text: string) => {
    const before = bot.messages(userId).length
    bot.say(text, { userId, name: `User ${userId}` })
    return (await bot.waitFor(userId, (messages) => messages.length > before)).at(-1)!.text
  }
  const keyOf = async (userId: number, text: string) => {
    await say(userId, text)
    return server.requests.at(-1)!.headers['authorization']
  }
  expect(await keyOf(7, 'One.')).toBe('Bearer sk-first-0123456789')
  expect(await say(7, '/account work')).toContain('work of custom:lab is used in this session, and no other')
  expect(await keyOf(7, 'Two.')).toBe('Bearer sk-work-0123456789')
  expect(await keyOf(8, 'Three.')).toBe('Bearer sk-first-0123456789')
  expect(await say(7, '/account wrok')).toContain('first, work')
  expect(await keyOf(7, 'Four.')).toBe('Bearer sk-work-0123456789')
  expect(await say(7, '/account default')).toContain('is chosen in this session any more')
  expect(await keyOf(7, 'Five.')).toBe('Bearer sk-first-0123456789')
}, 90_000)

it('what an agent wants to save is shown, said yes and no to in a chat of the owner, and a skill comes by its name', async () => {
  const put = async (path: string, text: string | object) => {
    await mkdir(join(home.path, path, '..'), { recursive: true })
    await writeFile(join(home.path, path), typeof text === 'string' ? text : JSON.stringify(text))
  }
  const waiting = { atMs: 1, sessionId: 's1', by: 'agent', why: 'text from outside was read' }
  const note = { atMs: 1, sessionId: 's1', person: null, taintedBy: [], target: 'user' }
  for (const [id, name] of [
    ['abc123', 'brew'],
    ['abc789', 'spill'],
  ] as const)
    await put(`pending/skills/${id}.json`, {
      ...{ ...waiting, id, change: { action: 'create', name, description: `Does ${name}.`, content: 'Grind first.' } },
    })
  for (const [id, drink] of [
    ['def456', 'tea'],
    ['def789', 'mud'],
  ] as const)
    await put(`pending/memory/${id}.json`, { ...note, id, changes: [{ action: 'add', content: `Prefers ${drink}.` }] })
  await put('skills/tea/SKILL.md', '---\nname: tea\ndescription: Makes tea.\n---\n\nBoil water first.\n')
  const say = async (text: string) => {
    const before = bot.messages(7).length
    bot.say(text)
    return (await bot.waitFor(7, (messages) => messages.length > before)).at(-1)!.text
  }
  for (const [line, answer] of [
    ['/skills pending', /brew[\s\S]*spill/],
    ['/skills diff abc123', /\+Grind first\./],
    ['/skills approve abc123', /create brew/],
    ['/skills reject abc789', /spill/],
    ['/memory pending', /Prefers tea\.[\s\S]*Prefers mud\./],
    ['/memory diff def456', /\+Prefers tea\./],
    ['/memory approve def456', /Remembered: \+Prefers tea\./],
    ['/memory reject def789', /mud/],
  ] as const)
    expect(await say(line)).toMatch(answer)
  expect(await readFile(join(home.path, 'skills/brew/SKILL.md'), 'utf8')).toContain('Grind first.')
  expect(await readFile(join(home.path, 'memories/USER.md'), 'utf8')).toBe('Prefers tea.\n')
  for (const kind of ['skills', 'memory']) expect(await readdir(join(home.path, 'pending', kind))).toEqual([])
  server.enqueue({ text: 'Green it is.' })
  expect(await say('/tea Make it green.')).toBe('Green it is.')
  expect(JSON.stringify(server.requests.at(-1)!.body.messages)).toContain('Boil water first.')
}, 90_000)
