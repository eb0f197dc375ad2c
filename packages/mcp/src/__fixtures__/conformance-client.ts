import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger, systemClock } from '@hermes/contracts'
import type { ToolContext } from '@hermes/contracts/tool'
import { createOriginFetch } from '@hermes/safety'
import { discoverOAuthServerInfo } from '@modelcontextprotocol/client'
import { answersFor } from '../answers/answers.js'
import { RunningCalls } from '../answers/running-calls.js'
import { logIn } from '../login/log-in.js'
import { loginFetch } from '../login/login-fetch.js'
import { LoginFiles } from '../login/login-files.js'
import { ProgramAuth } from '../login/program-auth.js'
import { ServerAuth } from '../login/server-auth.js'
import { ListingFiles } from '../servers/listing.js'
import { McpServer } from '../servers/server.js'
import { readServers } from '../settings/read-servers.js'
import { toolsOf } from '../tools/server-tools.js'

/** One scenario of the suite. */
export interface Scenario {
  readonly url: string
  readonly scenario: string
  /** What the person knows. */
  readonly context: Readonly<Record<string, string>>
}

/** What parameters of each type are called with. */
const VALUES: Readonly<Record<string, unknown>> = { number: 2, integer: 2, boolean: true, array: [], object: {} }
// The suite starts all of its scenarios at once, so on a busy machine they take minutes.
const PATIENCE = { timeout: 240, connect_timeout: 240 }

/**
 * The client under test of the MCP conformance suite: connects to a server as Hermes does, with a person who agrees to everything, and calls
 * each of its tools. Rejects as they do.
 */
export async function runScenario({ url, scenario, context }: Scenario): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'hermes-conformance-'))
  const client = await open({ url, scenario, context }, home)
  try {
    await client.loggedIn(() => client.server.connect())
    for (const tool of toolsOf(client.server, client.calls)) {
      const { properties = {} } = tool.parameters as { readonly properties?: Record<string, { readonly type: string }> }
      const args = Object.entries(properties).map(([name, { type }]) => [name, VALUES[type] ?? 'x'])
      const called = {
        sessionId: 'conformance',
        signal: new AbortController().signal,
        permit: async () => ({ consume: () => undefined }),
        progress: () => undefined,
        ask: async () => ({ type: 'answered', text: '' }),
      } as unknown as ToolContext
      await client.loggedIn(async () => tool.execute(Object.fromEntries(args), called))
    }
  } finally {
    await client.server.close()
    await rm(home, { recursive: true, force: true })
  }
}

async function open({ url, scenario, context }: Scenario, home: string) {
  const { client_id, client_secret, private_key_pem, signing_algorithm } = context
  // What the person knows who was given the secret.
  const issuer = (client_secret || private_key_pem) && (await discoverOAuthServerInfo(url)).authorizationServerUrl
  const oauth = {
    ...(issuer && { issuer }),
    ...(client_id && { client_id }),
    ...(client_secret && { client_secret }),
    ...(scenario.startsWith('auth/client-credentials') && { grant: 'client_credentials' }),
    ...(private_key_pem && { private_key: private_key_pem, signing_algorithm }),
    ...(scenario === 'auth/basic-cimd' && {
      client_metadata_url: 'https://conformance-test.local/client-metadata.json',
    }),
  }
  const settings = readServers({ suite: { url, oauth, ...PATIENCE } }).servers[0]!
  const fetchTo = (baseUrl: string) => createOriginFetch({ baseUrl })
  const logins = new LoginFiles(home)
  const calls = new RunningCalls()
  const ports = { clock: systemClock, logger: silentLogger, fetchTo, version: '0.0.0' }
  const send = loginFetch(url, fetchTo)
  const Auth = settings.oauth.grant === 'client_credentials' ? ProgramAuth : ServerAuth
  const server = new McpServer({
    ...ports,
    settings,
    listings: new ListingFiles(home),
    startProgram: () => Promise.reject(new Error('No program.')),
    auth: new Auth(settings, { ...ports, logins, fetch: send, conceal: () => undefined }),
    answers: answersFor(settings, { ...ports, calls, sample: null }),
  })

  /** The browser of the person: goes where it is sent, and comes back with the code. */
  async function login(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<URLSearchParams>()
    const loopback = { redirectUri: 'http://127.0.0.1:3333/callback', wait: () => promise, close: () => undefined }
    const show = async (address: string) => {
      const back = (await fetch(address, { redirect: 'manual' })).headers.get('location')
      resolve(new URL(back!).searchParams)
    }
    const { wanted } = (await logins.read(settings)) ?? {}
    const found = await logIn(settings, {
      ...ports,
      openLoopback: async () => loopback,
      startDevice: () => Promise.reject(new Error('Nobody logs in by code here.')),
      fetch: send,
      ...(wanted !== undefined && { wanted }),
      show: (address) => void show(address).catch(() => undefined),
      signal: new AbortController().signal,
    })
    await logins.write(settings, found)
    server.forgive()
    await server.disconnect()
  }

  /** Logs in when that is wanted, three times at most. */
  async function loggedIn<T>(work: () => Promise<T>, left = 3): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if ((error as { readonly code?: string }).code !== 'mcp.login_needed' || left === 0) throw error
      await login()
      return loggedIn(work, left - 1)
    }
  }

  return { server, calls, loggedIn }
}
