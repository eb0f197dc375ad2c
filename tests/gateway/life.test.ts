// The life of a gateway: installed, started, killed, restarted, reloaded, and removed, under a supervisor that does as the unit says.
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { type ModelServer, startModelServer, type TemporaryHome, temporaryHome } from '@hermes/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { KEY } from '../support/gateway.js'
import { needs } from '../support/require.js'
import { withoutTitles } from '../support/without-titles.js'

const SYSTEMCTL = join(import.meta.dirname, '../support/systemctl.mjs')
const WAIT = { timeout: 30_000, interval: 50 }

let user: TemporaryHome
let server: ModelServer
let home: string
let bin: string

beforeAll(async () => {
  user = await temporaryHome()
  server = await startModelServer()
  ;[home, bin] = [join(user.path, '.hermes'), join(user.path, 'bin')]
  for (const folder of [home, bin, join(user.path, 'work')]) await mkdir(folder)
  await copyFile(SYSTEMCTL, join(bin, 'systemctl'))
  await writeFile(join(home, '.env'), `API_SERVER_KEY=${KEY}\n`)
  await configure('first')
  withoutTitles(home)
})
afterAll(async () => {
  await hermes('stop')
  await server.close()
  await user.remove()
})

const configure = (name: string, port = '0') =>
  writeFile(join(home, 'config.yaml'), `gateway:\n  api_server:\n    port: ${port}\n    model_name: ${name}\n`)

const hermes = (...args: readonly string[]) => {
  const env = { PATH: `${bin}:${process.env['PATH']}` }
  return runCli(['gateway', ...args], { home, cwd: join(user.path, 'work'), env })
}

/** The gateway that runs, as it says itself; `null` for none. */
async function running(): Promise<{ readonly pid: number; readonly address: string } | null> {
  const { stdout } = await hermes('status')
  const [, pid, address] = /^Process (\d+), .*: (http\S+),/m.exec(stdout) ?? []
  return pid === undefined ? null : { pid: Number(pid), address: address! }
}

async function models(): Promise<unknown> {
  const at = await running()
  const answer = await fetch(`${at?.address}/models`, { headers: { authorization: `Bearer ${KEY}` } })
  return ((await answer.json()) as { data: { id: string }[] }).data[0]!.id
}

const ANALYZE = 'systemd-analyze'
const hasAnalyze = spawnSync(ANALYZE, ['--version']).status === 0

needs(ANALYZE, hasAnalyze)('a unit', () => {
  it('is looked at by systemd itself once it is installed', () => expect(hasAnalyze).toBe(true))
})

/** What systemd says of the unit that was installed. */
function verified() {
  const unit = join(user.path, '.config', 'systemd', 'user', 'hermes-gateway.service')
  const env = { ...process.env, HOME: user.path, XDG_RUNTIME_DIR: user.path }
  const output = spawnSync(ANALYZE, ['verify', '--user', '--man=no', unit], { encoding: 'utf8', env })
  return [
    output.status,
    `${output.stdout}${output.stderr}`
      .split('\n')
      .filter((line) => line.includes('hermes-gateway'))
      .join('\n'),
  ]
}

const flags = () => ['--base-url', server.baseUrl, '-m', 'test']

it('goes on in the background, and a restart lets what is under way come to its end', async () => {
  const started = await hermes('start', ...flags())
  expect(started).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^Started: process \d+, http/) })
  expect((await hermes('start', ...flags())).stdout).toMatch(/^It runs already/)
  const { pid, address } = (await running())!
  const gate = Promise.withResolvers<void>()
  server.setHandler(async () => {
    await gate.promise
    return { text: 'To the end.' }
  })
  const answer = fetch(`${address}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}` },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Take your time.' }] }),
  })
  await server.waitForRequests(1)
  const restarted = hermes('restart')
  // Something else may listen there at once.
  const asks = { headers: { authorization: `Bearer ${KEY}` } }
  await expect
    .poll(async () => (await fetch(`${address}/models`, asks).catch(() => null))?.ok === true, WAIT)
    .toBe(false)
  gate.resolve()
  expect(JSON.stringify(await (await answer).json())).toContain('To the end.')
  expect(await restarted).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^Started: process/) })
  expect((await running())!.pid).not.toBe(pid)
  expect(await hermes('stop')).toMatchObject({ exitCode: 0, stdout: 'Stopped: 1.\n' })
  server.setHandler(null)
}, 90_000)

it('says what was wrong where a start comes to nothing', async () => {
  const failed = await hermes('start', '--cwd', 'nowhere', ...flags())
  expect(failed).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/nowhere cannot be used/) })
  expect(await hermes('reload')).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/No gateway runs/) })
})

it('does not count a start as one that came to nothing where it said why, so that no safe mode comes of it', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const taken = await hermes('run', ...flags(), '--port', String(port))
  other.close()
  expect(taken).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/something else listens there/) })
  expect(await readdir(join(home, 'gateway', 'boots'))).toEqual([])
})

it('is a service: installed, reloaded, started again by its supervisor, in safe mode after three ends, and removed', async () => {
  expect(await hermes('install', ...flags())).toMatchObject({ exitCode: 0 })
  await expect.poll(running, WAIT).not.toBeNull()
  const { pid } = (await running())!
  expect(await models()).toBe('first')
  if (hasAnalyze) expect(verified()).toEqual([0, ''])
  // A reload takes what can be used, and keeps the process.
  await configure('second')
  await hermes('reload')
  await expect.poll(models, WAIT).toBe('second')
  const refusals = async () =>
    (await readFile(join(home, 'logs', 'gateway.log'), 'utf8')).split('Not reloaded').length - 1
  for (const [count, port] of ['4', '"no number"', '{'].entries()) {
    await configure('third', port)
    await hermes('reload')
    await expect.poll(refusals, WAIT).toBe(count + 1)
  }
  expect([await models(), (await running())!.pid]).toEqual(['second', pid])
  await configure('second')
  expect(await hermes('restart')).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^Started/) })
  expect((await running())!.pid).not.toBe(pid)
  for (let kills = 0; kills < 3; kills++) {
    const { pid: old } = (await running())!
    process.kill(old, 'SIGKILL')
    await expect.poll(async () => ((await running()) ?? { pid: old }).pid !== old, WAIT).toBe(true)
  }
  expect(await hermes('status')).toMatchObject({ exitCode: 1, stdout: expect.stringMatching(/safe mode/) })
  expect(await hermes('uninstall')).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^Removed: /) })
  await expect.poll(running, WAIT).toBeNull()
  const ended = async () => (await readFile(join(bin, 'ended'), 'utf8')).trim().split('\n')
  await expect.poll(ended, WAIT).toEqual(['75', 'SIGKILL', 'SIGKILL', 'SIGKILL', '0'])
  expect(await hermes('uninstall')).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/not installed/) })
}, 120_000)
