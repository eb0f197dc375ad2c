import type { CommandContext, CommandResult } from '@hermes/contracts/extension'
import { loginFetch } from '../login/login-fetch.js'
import { type McpCommandParts, serverOf, usage } from './parts.js'

/** Logs the person in at a server, then connects to it. */
export async function login(
  { servers, options, logins }: McpCommandParts,
  [name, ...more]: readonly string[],
  { signal, notice, ask, isByCode }: Pick<CommandContext, 'signal' | 'notice' | 'ask'> & { readonly isByCode: boolean },
): Promise<CommandResult> {
  if (name === undefined || more.length > 0) throw usage('Use /mcp login SERVER [--device].')
  const server = serverOf(servers, name)
  const { settings } = server
  const address = settings.address.type === 'http' ? settings.address.url : 'http://localhost'
  const { logIn } = await import('../login/log-in.js')
  const had = await logIn(settings, {
    ...options,
    fetch: loginFetch(address, options.fetchTo),
    isByCode,
    ask,
    show: (url, code, hasCodes) => {
      if (code !== null) return notice(`Open this in a browser, on any device, and enter the code ${code}:\n${url}`)
      const port = URL.parse(new URL(url).searchParams.get('redirect_uri') ?? '')?.port
      const remote = ask ? '' : `\nOver ssh, forward the port first: ssh -L ${port}:127.0.0.1:${port} …`
      const other = hasCodes ? `\nWithout a browser here: hermes mcp login ${name} --device` : ''
      notice(`Open this in a browser${ask ? '' : ' on this machine'}:\n${url}${remote}${other}`)
    },
    wanted: (await logins.read(settings))?.wanted,
    signal,
  })
  options.conceal(had.tokens.access_token)
  if (had.tokens.refresh_token !== undefined) options.conceal(had.tokens.refresh_token)
  await logins.alone(settings, () => logins.write(settings, had))
  server.forgive()
  await server.disconnect()
  await server.connect(signal)
  const { length } = server.listing!.tools
  return { type: 'text', text: `You are logged in at ${name}: ${length} tool${length === 1 ? '' : 's'}.` }
}

/** Forgets a login. */
export async function logout(
  { servers, logins }: McpCommandParts,
  [name, ...more]: readonly string[],
): Promise<CommandResult> {
  if (name === undefined || more.length > 0) throw usage('Use /mcp logout SERVER.')
  const server = serverOf(servers, name)
  const wasThere = await logins.alone(server.settings, () => logins.remove(server.settings))
  await server.disconnect()
  return { type: 'text', text: wasThere ? `The login of ${name} is forgotten.` : `There is no login of ${name}.` }
}
