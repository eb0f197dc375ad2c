// The client under test of the MCP conformance suite: connects to the server it is given as Hermes does, with a person who agrees to everything.
// `node --conditions=@hermes/source conformance-client.mjs URL`; the suite names the scenario in the environment.
import { mkdtemp, rm } from 'node:fs/promises'
import { registerHooks } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

registerHooks({
  resolve: (specifier, context, next) =>
    next(
      /^\.\.?\//.test(specifier) && context.parentURL?.endsWith('.ts') ? specifier.replace(/\.js$/, '.ts') : specifier,
      context,
    ),
})
const { silentLogger, systemClock } = await import('@hermes/contracts')
const { createOriginFetch } = await import('@hermes/safety')
const { answersFor } = await import('../answers/answers.ts')
const { RunningCalls } = await import('../answers/running-calls.ts')
const { logIn } = await import('../login/log-in.ts')
const { loginFetch } = await import('../login/login-fetch.ts')
const { LoginFiles } = await import('../login/login-files.ts')
const { ProgramAuth } = await import('../login/program-auth.ts')
const { ServerAuth } = await import('../login/server-auth.ts')
const { ListingFiles } = await import('../servers/listing.ts')
const { McpServer } = await import('../servers/server.ts')
const { readServers } = await import('../settings/read-servers.ts')
const { toolsOf } = await import('../tools/server-tools.ts')

const url = process.argv.at(-1)
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? ''
const { client_id, client_secret, private_key_pem, signing_algorithm } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT || '{}')
const home = await mkdtemp(join(tmpdir(), 'hermes-conformance-'))
// What the person knows who was given the secret.
const { discoverOAuthServerInfo } = await import('@modelcontextprotocol/client')
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
// The suite starts all of its scenarios at once, so on a busy machine they take minutes.
const patience = { timeout: 240, connect_timeout: 240 }
const [settings] = readServers({ suite: { url, oauth, ...patience } }).servers
const fetchTo = (baseUrl) => createOriginFetch({ baseUrl })
const logins = new LoginFiles(home)
const calls = new RunningCalls()
const ports = { clock: systemClock, logger: silentLogger, fetchTo, version: '0.0.0' }
const send = loginFetch(url, fetchTo)
const server = new McpServer({
  ...ports,
  settings,
  listings: new ListingFiles(home),
  auth: new (settings.oauth.grant === 'client_credentials' ? ProgramAuth : ServerAuth)(settings, {
    ...ports,
    logins,
    fetch: send,
    conceal: () => undefined,
  }),
  answers: answersFor(settings, { ...ports, calls, sample: null }),
})

/** The browser of the person: goes where it is sent, and comes back with the code. */
async function login() {
  let arrive
  const query = new Promise((resolve) => {
    arrive = resolve
  })
  const loopback = { redirectUri: 'http://127.0.0.1:3333/callback', wait: () => query, close: () => undefined }
  const show = async (address) => {
    const back = (await fetch(address, { redirect: 'manual' })).headers.get('location')
    arrive(new URL(back).searchParams)
  }
  const signal = new AbortController().signal
  const { wanted } = (await logins.read(settings)) ?? {}
  const found = await logIn(settings, {
    ...ports,
    openLoopback: async () => loopback,
    fetch: send,
    wanted,
    show,
    signal,
  })
  await logins.write(settings, found)
  server.forgive()
  await server.disconnect()
}

/** Logs in when that is wanted, three times at most. */
async function loggedIn(work, left = 3) {
  try {
    return await work()
  } catch (error) {
    if (error.code !== 'mcp.login_needed' || left === 0) throw error
    await login()
    return loggedIn(work, left - 1)
  }
}

const values = { number: 2, integer: 2, boolean: true, array: [], object: {} }
try {
  await loggedIn(() => server.connect())
  for (const tool of toolsOf(server, calls)) {
    const args = Object.entries(tool.parameters.properties ?? {}).map(([name, { type }]) => [name, values[type] ?? 'x'])
    const context = {
      sessionId: 'conformance',
      signal: new AbortController().signal,
      permit: async () => ({ consume: () => undefined }),
      progress: () => undefined,
      ask: async () => ({ type: 'answered', text: '' }),
    }
    await loggedIn(() => tool.execute(Object.fromEntries(args), context))
  }
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
} finally {
  await server.close()
  await rm(home, { recursive: true, force: true })
}
