// hermes auth: keys and logins kept, shown without their secrets, and used by a conversation.
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type AuthServer, startAuthServer } from '@hermes/testkit/auth-server'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startEditor } from '../support/acp.js'
import { runCli, startCli } from '../support/cli.js'
import { needs } from '../support/require.js'
import { useScene } from '../support/scene.js'
import { hasTmux, openTerminal } from '../support/terminal.js'

const FIRST = 'sk-first-0123456789abcdef'
const SECOND = 'sk-second-0123456789ghijkl'

const scene = useScene()
beforeEach(() => mkdir(scene.home, { recursive: true }))

const auth = (args: readonly string[], more: { env?: Record<string, string>; input?: string } = {}) =>
  runCli(['auth', ...args], { ...scene, ...more })
const chat = (env: Record<string, string> = {}) => runCli(['chat', '-q', 'Hi.'], { ...scene, env })
const config = (yaml: string) => writeFile(join(scene.home, 'config.yaml'), yaml)
const authFile = () => readFile(join(scene.home, 'auth.json'), 'utf8').catch(() => null)
/** An endpoint called lab, which is the model server. */
const lab = (more = '') =>
  config(`model: {provider: lab, default: m}\nproviders: {lab: {base_url: "${scene.server.baseUrl}"${more}}}\n`)

describe('keys', () => {
  it('are kept for their owner alone, listed by their last four characters, used, and forgotten', async () => {
    await lab()
    expect(await auth(['add', 'lab', '--key-stdin', '--label', 'work'], { input: `${FIRST}\n` })).toEqual({
      exitCode: 0,
      signal: null,
      stdout: `Kept work (key …cdef) for lab in ${join(scene.home, 'auth.json')}\n`,
      stderr: '',
    })
    expect((await stat(join(scene.home, 'auth.json'))).mode & 0o777).toBe(0o600)
    await auth(['add', 'custom:lab', '--key-stdin', '--priority', '0'], { input: SECOND })
    expect((await auth(['list'])).stdout).toBe(
      'lab custom:lab\n  1  work   key …cdef    kept here, ready\n  2  key-1  key …ijkl    kept here, ready\n',
    )
    expect((await auth(['status', 'lab'])).stdout).toBe('lab: 2 of 2 can be used now, chosen fill-first\n')
    scene.server.setHandler(() => ({ text: 'hello' }))
    expect(await chat()).toMatchObject({ exitCode: 0, stdout: 'hello\n' })
    expect(scene.server.requests[0]!.headers['authorization']).toBe(`Bearer ${FIRST}`)
    expect((await runCli(['doctor'], scene)).stdout).toMatch(/Model m at lab .*, key found/)
    expect((await auth(['remove', 'lab', '1'])).stdout).toContain('Removed work of lab.')
    expect((await auth(['list', 'lab', '--json'])).stdout).toMatch(
      /^\{"provider":"custom:lab","id":"[0-9a-f]{6}","label":"key-1"[^\n]+\}\n$/,
    )
    expect(await authFile()).not.toContain(FIRST)
  })

  it('are used alone where one is chosen, by a project or a session, which keeps it', async () => {
    await lab()
    await auth(['add', 'lab', '--key-stdin', '--label', 'home'], { input: FIRST })
    await auth(['add', 'lab', '--key-stdin', '--label', 'work'], { input: SECOND })
    scene.server.setHandler(() => ({ text: 'hello' }))
    const key = async (...args: string[]) => {
      const { stderr } = await runCli(['chat', '-q', 'Hi.', ...args], scene)
      return scene.server.requests.at(-1)?.headers['authorization'] ?? stderr
    }
    expect((await auth(['use', 'lab', 'work', '--project'])).stdout).toMatch(/^In \/.*, lab uses work alone, from/)
    expect(await key()).toBe(`Bearer ${SECOND}`)
    expect(await key('--account', 'home')).toBe(`Bearer ${FIRST}`)
    expect(await key('-c')).toBe(`Bearer ${FIRST}`)
    expect(await key('-c', '--account', 'default')).toBe(`Bearer ${SECOND}`)
    const editor = await startEditor([], scene)
    const id = await editor.newSession(scene.cwd)
    await editor.prompt(id, '/account home')
    await editor.prompt(id, 'Hi.')
    expect(scene.server.requests.at(-1)!.headers['authorization']).toBe(`Bearer ${FIRST}`)
    await editor.leave()
    expect((await runCli(['chat', '-q', 'Hi.', '--account', 'wrok'], scene)).stderr).toContain('There are: home, work.')
    expect((await auth(['use', 'lab', 'default', '--project'])).stdout).toContain('in their order again')
    expect(await key()).toBe(`Bearer ${FIRST}`)
  })

  it('take turns: one that is refused rests, the next answers, and a reset ends the rest', async () => {
    await lab()
    for (const input of [FIRST, SECOND]) await auth(['add', 'lab', '--key-stdin'], { input })
    scene.server.setHandler(({ headers }) =>
      headers['authorization'] === `Bearer ${FIRST}` ? { fault: 'status', status: 402 } : { text: 'from the second' },
    )
    expect(await chat()).toMatchObject({ exitCode: 0, stdout: 'from the second\n' })
    const requested = scene.server.requests.length
    expect(await chat()).toMatchObject({ exitCode: 0, stdout: 'from the second\n' })
    expect(scene.server.requests).toHaveLength(requested + 1)
    expect((await auth(['list', 'lab'], { env: { COLUMNS: '200' } })).stdout).toMatch(
      /1 {2}key-1 .* rests for .*\(billing/,
    )
    expect(await auth(['status', 'lab'])).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('1 of 2 can be used now'),
    })
    expect((await auth(['reset', 'lab'])).stdout).toBe('Used again: key-1\n')
    expect((await auth(['status', 'lab'])).stdout).toContain('2 of 2')
  })

  it('say that none can be used, when the next one can, and end with exit code 1', async () => {
    await lab()
    await auth(['add', 'lab', '--key-stdin'], { input: FIRST })
    scene.server.setHandler(() => ({ fault: 'status', status: 402 }))
    expect((await chat()).exitCode).toBe(1)
    const status = await auth(['status', 'lab', '--json'])
    expect(status.exitCode).toBe(1)
    expect(JSON.parse(status.stdout)).toMatchObject({ total: 1, usable: 0, usableAtMs: expect.any(Number) })
  })

  it('of the environment are listed and never written, and are taken out where they are', async () => {
    const env = { OPENAI_API_KEY: FIRST }
    await auth(['add', 'openai', '--key-stdin'], { input: SECOND, env })
    expect((await auth(['list', 'openai'], { env })).stdout).toContain(
      'OPENAI_API_KEY  key …cdef    environment or .env, ready',
    )
    const refused = await auth(['remove', 'openai', 'OPENAI_API_KEY'], { env })
    expect(refused).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('comes from the variable OPENAI_API_KEY'),
    })
    expect(await authFile()).not.toContain(FIRST)
  })

  it('in a malformed auth.json stop nothing: the file is kept aside and reported once', async () => {
    await lab(', key_env: LAB_KEY')
    await writeFile(join(scene.home, 'auth.json'), `{"credential_pool": {"custom:lab": [{"access_token": "${FIRST}"`)
    scene.server.setHandler(() => ({ text: 'hello' }))
    const first = await chat({ LAB_KEY: SECOND })
    expect(first).toMatchObject({ exitCode: 0, stdout: 'hello\n' })
    expect(first.stderr).toMatch(
      /auth\.json could not be used: it is not valid JSON\. It is kept as .*auth\.json\.broken-/,
    )
    expect(first.stderr).not.toContain(FIRST)
    expect((await chat({ LAB_KEY: SECOND })).stderr).not.toContain('auth.json')
    const aside = (await readdir(scene.home)).filter((name) => name.startsWith('auth.json.broken'))
    expect(await readFile(join(scene.home, aside[0]!), 'utf8')).toContain(FIRST)
  })

  it.each([
    [['add', 'opnrouter', '--key-stdin'], FIRST, /Unknown provider "opnrouter"\. Did you mean openrouter\?/],
    [['list', 'opnai'], '', /Unknown provider "opnai"\. Did you mean openai\?/],
    [['add', 'openai', '--key-stdin'], '', /found no key/],
    [['add', 'openai', '--key-stdin'], 'two words', /A key has no spaces/],
    [['add', 'openai', '--key-stdin', '--oauth'], FIRST, /exclude each other/],
    [['add', 'openai', '--key-stdin', '--priority', '-1'], FIRST, /at least 0/],
    [['add', 'openai'], '', /Nobody can be asked here/],
    [['add'], '', /Which provider\?/],
    [['add', 'custom', '--key-stdin'], FIRST, /could go anywhere/],
    [['add', 'openai', '--oauth'], '', /providers\.openai\.oauth\.client_id/],
    [['remove', 'openai', 'nope'], '', /has no credential "nope"/],
    [['remove', 'openai'], '', /missing required argument 'credential'/],
    [['reset', 'openai'], '', /has no keys or logins/],
    [['priority', 'openai', 'key-1', 'first'], '', /whole number of at least 0/],
    [['priority', 'openai', 'key-1', '0'], '', /openai has no credential "key-1"\. It has none\./],
    [['refresh', 'opnai', '1'], '', /Did you mean openai\?/],
    [['refresh', 'openai', '1'], '', /has no credential "1"/],
  ])('%j with input %j is answered by one line and exit code 2', async (args, input, line) => {
    const result = await auth(args, { input })
    expect(result).toMatchObject({ exitCode: 2, stdout: '' })
    expect(result.stderr).toMatch(/^hermes: [^\n]+\n$/)
    expect(result.stderr).toMatch(line)
    expect(await authFile()).toBeNull()
  })

  it('are kept for an endpoint by any of its names', async () => {
    await lab(', aliases: [workshop]')
    const added = await auth(['add', 'Workshop', '--key-stdin'], { input: FIRST })
    expect(added.stdout).toBe(`Kept key-1 (key …cdef) for lab in ${join(scene.home, 'auth.json')}\n`)
    expect((await auth(['status', 'workshop'])).stdout).toContain('lab: 1 of 1 can be used now')
    expect((await auth(['list', 'worshop'])).stderr).toContain('Did you mean workshop?')
  })

  it('change their places in the order of use', async () => {
    await lab()
    for (const input of [FIRST, SECOND]) await auth(['add', 'lab', '--key-stdin'], { input })
    expect(await auth(['priority', 'lab', 'key-2', '0'])).toMatchObject({
      exitCode: 0,
      stdout: 'lab uses, in this order: key-2, key-1\n',
    })
    scene.server.setHandler(() => ({ text: 'hello' }))
    await chat()
    expect(scene.server.requests[0]!.headers['authorization']).toBe(`Bearer ${SECOND}`)
  })

  it('are not kept twice', async () => {
    await auth(['add', 'openai', '--key-stdin', '--label', 'a'], { input: FIRST })
    expect(await auth(['add', 'openai', '--key-stdin'], { input: FIRST })).toMatchObject({
      exitCode: 2,
      stderr: 'hermes: This key is there already, as "a".\n',
    })
  })
})

describe('a login', () => {
  let issuer: AuthServer

  beforeEach(async () => {
    issuer = await startAuthServer({ pollIntervalS: 1 })
    await lab(`, oauth: {client_id: ${issuer.clientId}, issuer: "${issuer.issuer}", scope: "${issuer.scope}"}`)
  })
  afterEach(() => issuer.close())

  /** What a process writes to standard error, up to `pattern`. */
  async function says(child: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> {
    let text = ''
    for await (const chunk of child.stderr!) {
      text += chunk
      const match = pattern.exec(text)
      if (match) return match
    }
    throw new Error(`It never said ${pattern}, but: ${text}`)
  }

  async function logInByCode(): Promise<void> {
    const child = startCli(['auth', 'add', 'lab', '--oauth'], scene)
    const ended = once(child, 'close')
    const [, code] = await says(child, /enter the code ([A-Z]{4}-[A-Z]{4})/)
    await issuer.approveDevice(code!)
    expect(await ended).toEqual([0, null])
  }

  it('by code serves a conversation, renews itself and on demand, and shows no token; a key has nothing to be renewed with', async () => {
    await logInByCode()
    const listed = await auth(['list', 'lab'])
    expect(listed.stdout).toMatch(/1 {2}login-1 {2}login …\S{4} {2}login, ready, renews itself/)
    const document = JSON.parse((await authFile())!)
    const entry = document.credential_pool['custom:lab'][0]
    expect(listed.stdout).not.toContain(entry.access_token)
    await writeFile(
      join(scene.home, 'auth.json'),
      JSON.stringify({
        ...document,
        credential_pool: { 'custom:lab': [{ ...entry, expires_at_ms: Date.now() - 1_000 }] },
      }),
    )
    scene.server.setHandler(() => ({ text: 'hello' }))
    expect(await chat()).toMatchObject({ exitCode: 0, stdout: 'hello\n' })
    const [, token] = /^Bearer (.+)$/.exec(String(scene.server.requests[0]!.headers['authorization']))!
    expect(token).not.toBe(entry.access_token)
    expect(await issuer.accepts(token!)).toBe(true)
    const renewals = () => issuer.tokenRequests.filter(({ grantType }) => grantType === 'refresh_token').length
    expect(renewals()).toBe(1)
    // One that the server refuses is renewed within the turn.
    scene.server.setHandler(({ headers }) =>
      headers['authorization'] === `Bearer ${token}` ? { fault: 'status', status: 401 } : { text: 'hello' },
    )
    expect(await chat()).toMatchObject({ exitCode: 0, stdout: 'hello\n' })
    expect(renewals()).toBe(2)
    const before = JSON.parse((await authFile())!).credential_pool['custom:lab'][0].access_token
    const renewed = await auth(['refresh', 'lab', 'login-1'])
    expect(renewed).toMatchObject({ exitCode: 0, stderr: '' })
    expect(renewed.stdout).toMatch(/^Renewed login-1 \(login …\S{4}\) of lab, good until \d{4}-\d\d-\d\dT[\d:]+Z\n$/)
    expect(JSON.parse((await authFile())!).credential_pool['custom:lab'][0].access_token).not.toBe(before)
    await auth(['add', 'lab', '--key-stdin'], { input: FIRST })
    expect(await auth(['refresh', 'lab', 'key-1'])).toMatchObject({
      exitCode: 2,
      stderr: 'hermes: key-1 of custom:lab has no refresh token: there is nothing to renew it with.\n',
    })
    issuer.failNext(400, '{"error":"invalid_grant"}')
    const over = await auth(['refresh', 'lab', 'login-1'])
    expect(over).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/ended this login \(invalid_grant\)/) })
  }, 60_000)

  it('in the browser goes through a port of this machine', async () => {
    const child = startCli(['auth', 'add', 'lab', '--flow', 'browser', '--label', 'mine'], scene)
    const ended = once(child, 'close')
    const [, url] = await says(child, /on this machine:\n(\S+)\n/)
    expect(await (await issuer.agreeInBrowser(url!)).text()).toContain('You are logged in')
    expect(await ended).toEqual([0, null])
    expect((await auth(['list', 'lab'])).stdout).toContain('mine')
  })

  it('keeps nothing when the person gives up or declines', async () => {
    const child = startCli(['auth', 'add', 'lab', '--oauth'], scene)
    const ended = once(child, 'close')
    await says(child, /Waiting/)
    child.kill('SIGINT')
    expect((await ended)[0]).toBe(130)
    const declined = startCli(['auth', 'add', 'lab', '--oauth'], scene)
    const over = once(declined, 'close')
    const [, code] = await says(declined, /enter the code ([A-Z]{4}-[A-Z]{4})/)
    await issuer.declineDevice(code!)
    expect((await over)[0]).toBe(1)
    expect(await authFile()).toBeNull()
  }, 60_000)
})

needs('tmux', hasTmux)('hermes auth add in a terminal', () => {
  it('asks for the provider and the key, and shows neither key nor more than its end', async () => {
    await using terminal = await openTerminal(['auth', 'add'], { ...scene, columns: 90 })
    await terminal.shows('A key or login for which provider?')
    await terminal.press('Enter')
    await terminal.shows('The key for OpenAI')
    await terminal.type(FIRST)
    await terminal.shows('•••••••••••••••••••••••••')
    await terminal.press('Enter')
    expect(await terminal.exitCode()).toBe(0)
    expect(await terminal.screen()).toContain('Kept key-1 (key …cdef) for OpenAI')
    expect(await terminal.screen()).not.toContain(FIRST)
    expect(await authFile()).toContain(FIRST)
  })
})
