// The guide to chat platforms, followed with the CLI and the gateway as they are built: a plugin from the template is another chat.
import { execFile } from 'node:child_process'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { startModelServer, type TemporaryHome, temporaryHome } from '@hermes/testkit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { writeChatHome } from '../support/chat-home.js'
import { runCli } from '../support/cli.js'
import { type Gateway, startGateway } from '../support/gateway.js'

const ROOT = resolve(import.meta.dirname, '../..')
const GUIDE = join(ROOT, 'docs/guides/platform.md')
const MESSAGES = 6

/** As `chat-server.ts` of the template has it. */
interface Chat {
  readonly url: string
  readonly shown: readonly { readonly chat: string; readonly text: string }[]
  unconfirmed(): number
  say(text: string, chat?: string): void
  close(): Promise<void>
}

let home: TemporaryHome
let server: Awaited<ReturnType<typeof startModelServer>>
let chat: Chat | null
let gateway: Gateway | null

const work = () => join(home.path, 'work')
const hermes = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runCli(args, { home: home.path, cwd: work(), env })

beforeEach(async () => {
  home = await temporaryHome()
  server = await startModelServer()
  chat = gateway = null
  await writeChatHome(home.path, {}, { platforms: {}, people: { owner: { lobby: ['ada'] } } })
})
afterEach(async () => {
  await gateway?.stop()
  await chat?.close()
  await server.close()
  await home.remove()
})

/** Does what the guide says, with a chat server on a free port; gives what each command printed. */
async function follow(): Promise<readonly string[]> {
  const blocks = [...(await readFile(GUIDE, 'utf8')).matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block!)
  const printed: string[] = []
  for (const line of blocks
    .join('')
    .split('\n')
    .filter((one) => one.includes('hermes '))) {
    const [, variables = '', words = ''] = /^\s*((?:[A-Z_]+=\S+ )*)hermes (.*)$/.exec(line)!
    if (variables !== '') {
      const { startChat } = (await import(join(work(), 'lobby/chat-server.ts'))) as {
        startChat(token: string): Promise<Chat>
      }
      chat = await startChat('secret')
    }
    const env = Object.fromEntries(
      variables
        .trim()
        .split(' ')
        .filter(Boolean)
        .map((pair) => pair.split('=')),
    )
    const known = chat && env['LOBBY_URL'] ? { ...env, LOBBY_URL: chat.url } : env
    const { exitCode, stdout, stderr } = await hermes(words.split(' '), known)
    expect(exitCode, `${line}\n${stdout}${stderr}`).toBe(0)
    printed.push(stdout)
  }
  return printed
}

async function start(): Promise<void> {
  gateway = await startGateway(['--base-url', server.baseUrl, '-m', 'test'], { home: home.path, cwd: work(), env: {} })
}

it('the template passes the suite of platforms', async () => {
  await hermes(['plugins', 'create', 'lobby', '--platform'])
  const folder = join(work(), 'lobby')
  // In place of `npm install`.
  await mkdir(join(folder, 'node_modules/@hermes'), { recursive: true })
  for (const name of ['contracts', 'platform'])
    await symlink(join(ROOT, 'packages', name), join(folder, 'node_modules/@hermes', name))
  await symlink(join(ROOT, 'node_modules/vitest'), join(folder, 'node_modules/vitest'))
  const conditions = ['@hermes/source', 'node']
  const config = { resolve: { conditions }, ssr: { resolve: { conditions, externalConditions: conditions } } }
  await writeFile(join(folder, 'vitest.config.mjs'), `export default ${JSON.stringify(config)}\n`)
  const vitest = [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run']
  const { stdout } = await promisify(execFile)(process.execPath, vitest, {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: home.path, NO_COLOR: '1' },
  })
  expect(stdout).toMatch(/Tests\s+9 passed/)
}, 90_000)

it('a platform that no plugin brings is one line that says how one is installed', async () => {
  expect(await hermes(['gateway', 'setup', 'matrix'])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(
      /no chat platform "matrix".*telegram, email\..*hermes plugins install SOURCE --enable/,
    ),
  })
  expect(await hermes(['gateway', 'setup', 'telegrma'])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/Did you mean telegram\?/),
  })
})

it('a chat platform that a plugin brings loses and repeats nothing, killed before a run, in one, and while its answer is sent, into safe mode and back', async () => {
  const [, installed, setUp, platforms] = await follow()
  expect(installed).toContain('Its code runs inside Hermes and can do whatever you can.')
  expect(setUp).toContain('lobby: answers as bot')
  expect(setUp).toContain('hermes pairing approve lobby CODE')
  expect(platforms).toMatch(/^lobby: .*pairing code\n$/)
  const { say, shown, unconfirmed } = chat!
  for (let index = 0; index < MESSAGES * 3; index++) server.enqueue({ text: 'ok', latencyMs: 20 })
  await start()
  const boundaries = [() => 1, () => server.requests.length, () => shown.length]
  for (let index = 0; index < MESSAGES; index++) {
    const boundary = boundaries[index / 2]
    const [before, answered] = [boundary?.() ?? 0, shown.length]
    say(`message ${index}.`)
    if (!boundary) continue
    await expect.poll(boundary, { interval: 2, timeout: 15_000 }).toBeGreaterThanOrEqual(index === 0 ? 1 : before + 1)
    gateway!.child.kill('SIGKILL')
    await start()
    // No message is in two kills: one that ended the process time after time would be given up, and say so.
    await expect.poll(() => shown.length, { timeout: 15_000 }).toBeGreaterThan(answered)
  }
  // The third kill within a minute leaves plugins out. The last message waits at the chat server.
  expect(gateway!.stderr()).toContain('safe mode')
  await expect.poll(async () => (await hermes(['gateway', 'status'])).stdout, { timeout: 15_000 }).toMatch(/safe mode/)
  expect(await gateway!.stop()).toBe(0)
  await start()
  const newest = () => JSON.stringify(server.requests.at(-1)?.body.messages ?? [])
  await expect.poll(newest, { timeout: 20_000 }).toContain(`message ${MESSAGES - 1}.`)
  const last = server.requests.at(-1)!.body.messages
  const heard = last.flatMap(({ role, content }) =>
    role === 'user' ? [...JSON.stringify(content).matchAll(/message (\d+)\./g)].map(([, index]) => Number(index)) : [],
  )
  expect(heard).toEqual(Array.from({ length: MESSAGES }, (_, index) => index))
  expect(newest()).toContain('You speak in a chat: short messages, plain text.')
  const answers = last.filter(({ role }) => role === 'assistant').length + 1
  await expect.poll(() => shown.length, { timeout: 15_000 }).toBeGreaterThanOrEqual(answers)
  await expect.poll(unconfirmed, { timeout: 15_000 }).toBe(0)
  const texts = shown.map(({ text }) => text)
  expect(texts.filter((text) => text !== 'ok' && !/repetition/.test(text))).toEqual([])
  expect(texts.filter((text) => text === 'ok').length).toBeLessThanOrEqual(answers)
  expect(server.violations).toEqual([])
}, 120_000)

it('has what people expect of a platform: health, pairing, sending, rest, and a token that is in no log', async () => {
  await follow()
  const { say, shown } = chat!
  const to = (name: string) => shown.flatMap((one) => (one.chat === name ? [one.text] : []))
  await start()
  await expect
    .poll(async () => (await hermes(['gateway', 'status'])).stdout, { timeout: 15_000 })
    .toMatch(/lobby: hears as bot/)
  expect((await hermes(['doctor'])).stdout).toMatch(/lobby: answers as bot/)
  expect((await hermes(['config', 'check'])).exitCode).toBe(0)
  say('Let me in.', 'eve')
  await expect.poll(() => to('eve').length, { timeout: 15_000 }).toBe(1)
  const code = /[A-Z2-9]{8}/.exec(to('eve')[0]!)![0]
  expect((await hermes(['pairing', 'approve', 'lobby', code])).stdout).toMatch(/"eve" \(lobby:eve\) may talk/)
  server.enqueue({ text: 'Welcome.' })
  say('Hello again.', 'eve')
  await expect.poll(() => to('eve').at(-1), { timeout: 15_000 }).toBe('Welcome.')
  expect(await hermes(['send', 'lobby:eve', 'News.'])).toMatchObject({ exitCode: 0, stdout: 'Sent.\n' })
  expect(await hermes(['gateway', 'platforms', 'pause', 'lobby'])).toMatchObject({ exitCode: 0 })
  await expect
    .poll(async () => (await hermes(['gateway', 'status'])).stdout, { timeout: 15_000 })
    .toMatch(/lobby: .*paused/)
  expect(await gateway!.stop()).toBe(0)
  gateway = null
  const log = await readFile(join(home.path, 'logs/gateway.log'), 'utf8')
  expect(log).not.toContain('secret')
}, 120_000)
