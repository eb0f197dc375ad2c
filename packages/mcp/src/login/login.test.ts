import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, stat } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { silentLogger, systemClock } from '@hermes/contracts'
import { createOriginFetch } from '@hermes/safety'
import { type TemporaryHome, temporaryHome } from '@hermes/testkit'
import { type AuthServer, type GuardedServer, startAuthServer, startGuardedServer } from '@hermes/testkit/auth-server'
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest'
import { ListingFiles } from '../servers/listing.js'
import { McpServer } from '../servers/server.js'
import { readServers } from '../settings/read-servers.js'
import type { ServerSettings } from '../settings/server-settings.js'
import { logIn, type OpenLoopback } from './log-in.js'
import { loginFetch } from './login-fetch.js'
import { LoginFiles } from './login-files.js'
import { ServerAuth } from './server-auth.js'

let home: TemporaryHome
let auth: AuthServer
let guarded: GuardedServer

beforeEach(async () => {
  home = await temporaryHome()
  auth = await startAuthServer({ registers: true })
  guarded = await startGuardedServer(auth)
})
afterEach(async () => {
  guarded.close()
  await auth.close()
  await home.remove()
})

const fetchTo = (baseUrl: string) => createOriginFetch({ baseUrl })

/** An authorization server that would take whatever it is sent. */
async function startOther() {
  const requests: string[] = []
  const server = createServer(async (request, response) => {
    requests.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''} ${await bodyOf(request)}`)
    const [token_endpoint, authorization_endpoint] = [`${issuer}/token`, `${issuer}/auth`]
    const about = { issuer, token_endpoint, authorization_endpoint, registration_endpoint: `${issuer}/register` }
    const more = { response_types_supported: ['code'], code_challenge_methods_supported: ['S256'] }
    const tokens = { access_token: 'theirs', token_type: 'Bearer', client_id: 'theirs', redirect_uris: [] }
    const body = request.url?.startsWith('/.well-known/') ? { ...about, ...more } : tokens
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { issuer, requests }
}

/** As a home has it, as far as a login needs it. */
const openLoopback: OpenLoopback = async ({ isOurs }) => {
  const { promise, resolve } = Promise.withResolvers<URLSearchParams>()
  const server = createServer(({ url }, response) => {
    const { searchParams } = new URL(url ?? '', 'http://127.0.0.1')
    response.end()
    if (isOurs(searchParams)) resolve(searchParams)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const redirectUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`
  return { redirectUri, wait: () => promise, close: () => void server.close() }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  return body === '' ? '{}' : body
}

const settingsOf = (url: string, oauth: object = {}): ServerSettings =>
  readServers({ locked: { url, protocol: 'legacy', oauth } }).servers[0]!
const logins = () => new LoginFiles(join(home.path, 'mcp-tokens'))

function loginAt(
  settings: ServerSettings,
  agree: (url: string, code: string | null) => Promise<unknown>,
  more: Partial<Parameters<typeof logIn>[1]> = {},
) {
  return logIn(settings, {
    openLoopback,
    startDevice: () => Promise.reject(new Error('Nobody logs in by code here.')),
    fetch: loginFetch(guarded.url, fetchTo),
    show: (address, code) => void agree(address, code).catch(() => undefined),
    signal: AbortSignal.timeout(20_000),
    clock: systemClock,
    ...more,
  })
}

/** The browser comes back from an authorization server with this. */
async function comeBack(url: string, query: Readonly<Record<string, string>>): Promise<void> {
  const { searchParams } = new URL(url)
  const back = new URL(searchParams.get('redirect_uri')!)
  back.search = String(new URLSearchParams({ state: searchParams.get('state')!, ...query }))
  await fetch(back)
}

const decline = (url: string) => comeBack(url, { error: 'access_denied' })

function connected(settings: ServerSettings): McpServer {
  const concealed = () => undefined
  const common = { clock: systemClock, logger: silentLogger }
  return new McpServer({
    ...common,
    settings,
    listings: new ListingFiles(join(home.path, 'listings')),
    startProgram: () => Promise.reject(new Error('none')),
    fetchTo,
    auth: new ServerAuth(settings, {
      ...common,
      logins: logins(),
      fetch: loginFetch(guarded.url, fetchTo),
      conceal: concealed,
    }),
    version: '0',
  })
}

/** Another process of the same home: it connects once it is told to, and says what tools it found. */
function startRenewing() {
  const fixtures = join(import.meta.dirname, '../__fixtures__')
  const sources = join(fixtures, '../../../testkit/src/__fixtures__/load-sources.mjs')
  const script = [join(fixtures, 'renewing-process.mjs'), home.path, guarded.url]
  const child = spawn(process.execPath, ['--conditions=@hermes/source', `--import=${sources}`, ...script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const [ready, lines] = [Promise.withResolvers<void>(), [] as string[]]
  createInterface(child.stdout).on('line', (line) => {
    lines.push(line)
    ready.resolve()
  })
  const ended = once(child, 'close').then(() => lines[1])
  return { ready: ready.promise, begin: () => void child.stdin.end('go\n'), ended }
}

it('finds where to log in, is registered there, and keeps the tokens for the owner alone', async () => {
  const settings = settingsOf(guarded.url)
  await expect(connected(settings).connect()).rejects.toMatchObject({
    code: 'mcp.login_needed',
    message: 'The MCP server locked wants a login. Log in with: hermes mcp login locked',
  })
  await logins().write(settings, await loginAt(settings, (url) => auth.agreeInBrowser(url)))
  const [file] = await readdir(join(home.path, 'mcp-tokens'))
  expect((await stat(join(home.path, 'mcp-tokens', file!))).mode & 0o777).toBe(0o600)
  const server = connected(settings)
  await server.connect()
  expect(server.listing?.tools.map(({ name }) => name)).toEqual(['locked'])
  await server.close()
})

it('renews a token that is refused once for all, and none when the login ended', async () => {
  const settings = settingsOf(guarded.url)
  const login = await loginAt(settings, (url) => auth.agreeInBrowser(url))
  await logins().write(settings, login)
  await auth.revoke(login.tokens.access_token)
  const servers = [connected(settings), connected(settings), connected(settings)]
  await Promise.all(servers.map((server) => server.connect()))
  expect(auth.tokenRequests.filter(({ grantType }) => grantType === 'refresh_token')).toEqual([
    { grantType: 'refresh_token', status: 200 },
  ])
  await Promise.all(servers.map((server) => server.close()))
  const renewed = (await logins().read(settings))!
  expect(renewed.tokens.access_token).not.toBe(login.tokens.access_token)
  await logins().write(settings, { ...renewed, tokens: { ...renewed.tokens, access_token: 'no', refresh_token: 'no' } })
  await expect(connected(settings).connect()).rejects.toMatchObject({ code: 'mcp.login_needed' })
})

it('renews a token once for all processes of a home, whose logins go on with what came of it', async () => {
  const settings = settingsOf(guarded.url)
  const login = await loginAt(settings, (url) => auth.agreeInBrowser(url))
  // It ended for both at the same time; a refresh token that is used twice ends the login.
  await logins().write(settings, { ...login, expiresAtMs: 1 })
  const processes = [startRenewing(), startRenewing()]
  await Promise.all(processes.map(({ ready }) => ready))
  for (const { begin } of processes) begin()
  expect(await Promise.all(processes.map(({ ended }) => ended))).toEqual(['locked', 'locked'])
  const renewals = () => auth.tokenRequests.filter(({ grantType }) => grantType === 'refresh_token')
  expect(renewals()).toEqual([{ grantType: 'refresh_token', status: 200 }])
  await logins().write(settings, { ...(await logins().read(settings))!, expiresAtMs: 1 })
  const server = connected(settings)
  await server.connect()
  await server.close()
  expect(renewals().map(({ status }) => status)).toEqual([200, 200])
}, 60_000)

it('ends only once a token that is being renewed is kept', async () => {
  const settings = settingsOf(guarded.url)
  const login = await loginAt(settings, (url) => auth.agreeInBrowser(url))
  await logins().write(settings, { ...login, expiresAtMs: 1 })
  const { arrived, release } = auth.holdNext()
  const server = connected(settings)
  const connecting = server.connect().catch(() => 'ended')
  await arrived
  const closing = server.close()
  release()
  await closing
  expect((await logins().read(settings))?.tokens.access_token).not.toBe(login.tokens.access_token)
  expect(await connecting).toBe('ended')
})

it('goes to no other place with a login than where it was had', async () => {
  const settings = settingsOf(guarded.url)
  const login = await loginAt(settings, (url) => auth.agreeInBrowser(url))
  const sent = loginFetch('https://tools.example/mcp', fetchTo)
  for (const url of ['http://tools.example/token', 'https://10.0.0.1/token', 'https://169.254.169.254/', auth.issuer])
    await expect(sent(url)).rejects.toMatchObject({ code: 'mcp.login_refused' })
  // Whatever else stands in the file, and whomever the server names by now.
  const other = await startOther()
  guarded.name(other.issuer)
  await logins().write(settings, { ...login, metadata: { token_endpoint: `${other.issuer}/token` } } as typeof login)
  await auth.revoke(login.tokens.access_token)
  const server = connected(settings)
  await server.connect()
  await server.close()
  expect(auth.tokenRequests.at(-1)).toEqual({ grantType: 'refresh_token', status: 200 })
  expect(other.requests).toEqual([])
})

it('has a login from the configured authorization server and from no other', async () => {
  const other = await startOther()
  const oauth = { client_id: auth.clientId, client_secret: 'the-secret', issuer: auth.issuer }
  const settings = settingsOf(guarded.url, oauth)
  guarded.name(other.issuer)
  const shown: string[] = []
  const show = (url: string) => {
    shown.push(url)
    return decline(url)
  }
  await expect(loginAt(settings, show)).rejects.toMatchObject({
    message: `Cannot log in at the MCP server locked: it names the authorization server ${other.issuer}, and oauth.issuer is ${auth.issuer}.`,
  })
  expect(shown).toEqual([])
  expect(other.requests.filter((one) => one.includes('the-secret') || !one.startsWith('GET /.well-known/'))).toEqual([])
  guarded.name(auth.issuer)
  const open = { client_id: auth.clientId, issuer: `${auth.issuer}/` }
  const login = await loginAt(settingsOf(guarded.url, open), (url) => auth.agreeInBrowser(url))
  await logins().write(settings, login)
  const server = connected(settings)
  await server.connect()
  await server.close()
  // A login that was had elsewhere is none.
  const moved = settingsOf(guarded.url, { issuer: other.issuer })
  await expect(connected(moved).connect()).rejects.toMatchObject({ code: 'mcp.login_needed' })
})

it('is the client that its document describes where the server takes documents, and is registered where it does not', async () => {
  const client_id = 'https://hermes.example/client.json'
  const about = { client_name: 'Hermes', redirect_uris: ['http://127.0.0.1/callback'], application_type: 'native' }
  const grants = { grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] }
  const document = { client_id, token_endpoint_auth_method: 'none', ...about, ...grants }
  const reading = await startAuthServer({ documents: { [client_id]: document } })
  onTestFinished(() => reading.close())
  const other = await startGuardedServer(reading)
  onTestFinished(other.close)
  const oauth = { client_metadata_url: client_id }
  const settings = settingsOf(other.url, oauth)
  const login = await loginAt(settings, (url) => reading.agreeInBrowser(url))
  expect(login.client.client_id).toBe(client_id)
  await logins().write(settings, { ...login, expiresAtMs: 1 })
  const server = connected(settings)
  await server.connect()
  await server.close()
  expect(reading.tokenRequests.map(({ grantType, status }) => `${grantType} ${status}`)).toEqual([
    'authorization_code 200',
    'refresh_token 200',
  ])
  const registered = await loginAt(settingsOf(guarded.url, oauth), (url) => auth.agreeInBrowser(url))
  expect(registered.client.client_id).not.toBe(client_id)
  const [problem] = readServers({
    a: { url: 'https://a.example', oauth: { client_metadata_url: 'http://b.example/c' } },
  }).problems
  expect(problem?.message).toBe('it must be an https address with a path.')
})

it('takes the address that the browser of another machine ends at, and no other one', async () => {
  const settings = settingsOf(guarded.url)
  const back = Promise.withResolvers<string>()
  const questions: string[] = []
  const ask = async (question: string) => {
    questions.push(question)
    const address = await back.promise
    const pasted = ['no address', address.replace(/state=[^&]*/, 'state=theirs'), ` ${address}\n`]
    return pasted[questions.length - 1]!
  }
  const agree = async (url: string) => back.resolve(await auth.agreeElsewhere(url))
  await logins().write(settings, await loginAt(settings, agree, { ask }))
  expect(questions.map((question) => question.slice(0, 10))).toEqual(['Or paste t', 'That is no', 'That is no'])
  const server = connected(settings)
  await server.connect()
  await server.close()
  // Who pastes nothing may still come back by themselves.
  const login = await loginAt(settings, (url) => auth.agreeInBrowser(url), { ask: async () => null })
  expect(await auth.accepts(login.tokens.access_token)).toBe(true)
})

it('redeems no code that another authorization server sent', async () => {
  const settings = settingsOf(guarded.url)
  const mixUp = (url: string) => comeBack(url, { code: 'theirs', iss: 'https://evil.example' })
  await expect(loginAt(settings, mixUp)).rejects.toMatchObject({ code: 'mcp.login_failed' })
  expect(auth.tokenRequests).toEqual([])
})

it('says in a line why a login failed', async () => {
  const settings = settingsOf(guarded.url)
  await expect(loginAt(settings, decline)).rejects.toMatchObject({
    message: 'Cannot log in at the MCP server locked: it was declined (access_denied).',
  })
  guarded.name((await startOther()).issuer)
  await expect(loginAt(settings, decline, { isByCode: true })).rejects.toThrow('has no logins by code')
  const nowhere = 'http://127.0.0.1:9/mcp'
  await expect(loginAt(settingsOf(nowhere), decline, { fetch: loginFetch(nowhere, fetchTo) })).rejects.toThrow(
    'Cannot log in at the MCP server locked: connect ECONNREFUSED 127.0.0.1:9.',
  )
  const program = readServers({ files: { command: 'files' } }).servers[0]!
  await expect(loginAt(program, decline)).rejects.toThrow('it is a program')
  expect(JSON.stringify(await readFile(join(home.path, 'mcp-tokens'), 'utf8').catch(() => 'none'))).toBe('"none"')
})
