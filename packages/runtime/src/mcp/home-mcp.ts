import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type HermesConfig, homeLayout, loadConfig, type OwnValue, setOwnValue } from '@hermes/config'
import { type Clock, HermesError, isJsonObject, type JsonObject, type Logger } from '@hermes/contracts'
import { type Environment, programLine, type RunningProgram } from '@hermes/contracts/environment'
import type { ModelClient } from '@hermes/contracts/model'
import type { Policy } from '@hermes/contracts/policy'
import { createMcp, type HomeMcp, type SampleRequest, type ServerSettings } from '@hermes/mcp'
import { askModel } from '@hermes/models'
import { createLocalEnvironment, type IsolationSupport } from '@hermes/sandbox'
import { isolationOf } from '../environment/isolation-options.js'
import { passedVariables, permitOwnProgram } from '../environment/own-program.js'
import { HERMES_VERSION } from '../version.js'

/** What MCP servers of a home get of it. */
interface HomeMcpOptions {
  readonly home: string
  readonly userHome: string
  /** Where the home is opened. Absolute. */
  readonly cwd: string
  readonly user: string
  readonly tempDir: string
  readonly env: Readonly<Record<string, string>>
  readonly config: HermesConfig
  readonly own: readonly OwnValue[]
  /** Servers of plugins that the person agreed to; an entry of config.yaml of the same name counts more. */
  readonly brought: Readonly<Record<string, JsonObject>>
  readonly policy: Policy
  readonly isolationSupport: IsolationSupport
  readonly fetchTo: (address: string) => typeof fetch
  readonly conceal: (secret: string) => void
  /** The model of a session that is open. */
  readonly modelOf: (sessionId: string) => Promise<ModelClient>
  readonly clock: Clock
  readonly logger: Logger
}

const KEY = 'mcp_servers'

/** MCP for a home. Nothing is loaded, read or started before a session begins or somebody asks. */
export function openHomeMcp(options: HomeMcpOptions): HomeMcp {
  const { home, userHome, env, own, brought, fetchTo, conceal, clock, logger } = options
  const withBrought = (value: unknown): unknown =>
    Object.keys(brought).length === 0 || (value !== undefined && !isJsonObject(value))
      ? value
      : { ...brought, ...value }
  const configuredIn = (values: readonly OwnValue[]) => {
    const { value, written } = values.find(({ key }) => key === KEY) ?? {}
    const names = isJsonObject(value) ? Object.keys(value) : []
    const ofPlugins = Object.keys(brought).filter((name) => !names.includes(name))
    return { value: withBrought(value), written: withBrought(written), brought: ofPlugins }
  }
  const reread = async () => {
    const { own: now, problems, source } = await loadConfig({ home, env })
    // A file that is broken for a while takes no server away.
    if (source === 'file' || now.length > 0 || problems.length === 0) return configuredIn(now)
    throw new HermesError(problems[0]!.message, { code: 'config.unreadable' })
  }
  let seen = ''
  return createMcp({
    configured: configuredIn(own),
    reread,
    changed: async () => {
      const found = await stat(homeLayout(home).config).catch(() => null)
      // Nor does one that is missing for a while, as when it is replaced.
      if (found === null || seen === `${found.mtimeMs} ${found.size}`) return null
      seen = `${found.mtimeMs} ${found.size}`
      return reread()
    },
    folders: { userHome, workspace: options.cwd },
    writeServer: (name, value) => {
      if (value === null && Object.hasOwn(brought, name))
        throw new HermesError(`The MCP server ${name} comes with a plugin. Switch that off: hermes plugins disable`, {
          code: 'mcp.of_a_plugin',
        })
      return setOwnValue({ home, path: [KEY, name], value })
    },
    loginDir: join(home, 'mcp-tokens'),
    openLoopback: async (about) => (await import('@hermes/credential-pool/oauth')).openLoopback(about),
    startDevice: async (client, about) =>
      (await import('@hermes/credential-pool/oauth')).startDeviceLogin(client, about),
    cacheDir: join(homeLayout(home).cache, 'mcp'),
    startProgram: (server) => startServer(server, options),
    fetchTo,
    conceal,
    sample: (request) => sample(request, options),
    version: HERMES_VERSION,
    clock,
    logger,
  })
}

async function sample({ sessionId, signal, server, models, ...request }: SampleRequest, { modelOf }: HomeMcpOptions) {
  const client = await modelOf(sessionId)
  const { provider, model } = client.nextEndpoint?.(undefined) ?? client
  if (models.length > 0 && !models.some((name) => name === model || name === `${provider}/${model}`))
    throw new HermesError(`The MCP server ${server} may not ask ${model} (sampling.allowed_models).`, {
      code: 'mcp.sampling_refused',
    })
  return askModel(client, { ...request, tools: [] }, { purpose: 'mcp', sessionId, signal })
}

/** An environment of its own for each start: it ends with the program, and the program with it. */
async function startServer(server: ServerSettings, options: HomeMcpOptions): Promise<RunningProgram> {
  const { address, name } = server
  if (address.type !== 'stdio') throw new TypeError('Not a program.')
  const cwd = address.cwd ?? options.userHome
  const environment = environmentOf(server, cwd, options)
  try {
    const action = { type: 'spawn', command: programLine(address.argv), cwd, backend: 'local' } as const
    const permit = await permitOwnProgram(action, {
      platform: 'mcp',
      name: `The MCP server ${name}`,
      sessionId: `mcp:${name}`,
      user: options.user,
      policy: options.policy,
    })
    const program = await environment.startProgram!(permit, { argv: address.argv, cwd, env: address.env })
    void program.ended.then(() => environment.close())
    return program
  } catch (error) {
    await environment.close()
    throw error
  }
}

function environmentOf({ address, name }: ServerSettings, cwd: string, options: HomeMcpOptions): Environment {
  const { home, userHome, user, tempDir, config, isolationSupport, clock, logger } = options
  const env = passedVariables(options.env)
  const isIsolated = address.type === 'stdio' && address.isIsolated
  const isolation = isIsolated ? isolationOf({ config, home, userHome, cwd, isolationSupport }) : null
  if (isIsolated && isolation === null)
    throw new HermesError(
      `The MCP server ${name} was not started: it is to be isolated, and terminal.isolation is off or cannot work in ${cwd}.`,
      { code: 'mcp.not_isolated', details: { server: name } },
    )
  return createLocalEnvironment({
    cwd,
    env,
    home: userHome,
    outputDir: homeLayout(home).outputs,
    user,
    clock,
    logger,
    ...(isolation === null
      ? {}
      : { temp: [...new Set([tempDir, '/tmp', '/var/tmp'])], isolation: { ...isolation, required: true } }),
  })
}
