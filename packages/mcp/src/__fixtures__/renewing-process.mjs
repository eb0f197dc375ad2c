// node renewing-process.mjs HOME ADDRESS: waits for a line on standard input, connects to a server with the login of that home, and says what
// tools it has, or why it has none.
import { once } from 'node:events'
import { join } from 'node:path'
import { silentLogger, systemClock } from '@hermes/contracts'
import { createOriginFetch } from '@hermes/safety'
import { loginFetch } from '../login/login-fetch.ts'
import { LoginFiles } from '../login/login-files.ts'
import { ServerAuth } from '../login/server-auth.ts'
import { ListingFiles } from '../servers/listing.ts'
import { McpServer } from '../servers/server.ts'
import { readServers } from '../settings/read-servers.ts'

const [home, url] = process.argv.slice(2)
const [settings] = readServers({ locked: { url, protocol: 'legacy' } }).servers
const fetchTo = (baseUrl) => createOriginFetch({ baseUrl })
const common = { settings, fetchTo, clock: systemClock, logger: silentLogger, version: '0' }
const logins = new LoginFiles(join(home, 'mcp-tokens'))
const server = new McpServer({
  ...common,
  listings: new ListingFiles(join(home, `listings-${process.pid}`)),
  startProgram: () => Promise.reject(new Error('none')),
  auth: new ServerAuth(settings, { ...common, logins, fetch: loginFetch(url, fetchTo), conceal: () => undefined }),
})
await import('@modelcontextprotocol/client')
console.log('ready')
await once(process.stdin, 'data')
await server.connect().catch(() => undefined)
console.log(server.listing?.tools.map(({ name }) => name).join() ?? server.state.message)
await server.close()
process.exit(0)
