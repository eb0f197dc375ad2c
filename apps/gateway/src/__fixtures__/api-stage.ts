// The API on a real home with a scripted model server, in this process: requests go to its routes without a socket.
import { EventEmitter } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, silentLogger } from '@hermes/contracts'
import { createSessionHost, type SessionHost } from '@hermes/host'
import { openRuntime, type Runtime } from '@hermes/runtime'
import { type ModelServer, startModelServer, temporaryHome } from '@hermes/testkit'
import { type Api, type ApiOptions, openApi } from '../open-api.js'
import { resolveSettings } from '../settings.js'

const BASE = {
  auxiliary: { title_generation: { enabled: false }, session_summary: { enabled: false } },
  terminal: { isolation: 'off' },
  memory: { flush_min_turns: 0 },
}
const KEY = 'the-key-of-a-test-0123456789'

export interface ApiStage {
  readonly server: ModelServer
  readonly work: string
  readonly runtime: Runtime
  readonly api: Api
  /** Says something in a session as a terminal does, past the API. */
  sayElsewhere(sessionId: string, text: string): Promise<void>
  /** A request with the key of the owner, or of somebody else. With a header `x-lost` its answer does not arrive. */
  ask(path: string, body?: unknown, headers?: Readonly<Record<string, string>>, method?: string): Promise<Response>
  /** The same home with a new process' view of it. */
  restart(): Promise<void>
  close(): Promise<void>
}

interface StageOptions extends Pick<ApiOptions, 'served'> {
  readonly clock?: Clock
  /** Default: true. */
  readonly needsKey?: boolean
}

export async function apiStage(
  config: object = {},
  { clock, served, needsKey = true }: StageOptions = {},
): Promise<ApiStage> {
  const [server, temporary] = [await startModelServer(), await temporaryHome()]
  const [home, work] = [join(temporary.path, '.hermes'), join(temporary.path, 'work')]
  for (const folder of [home, work]) await mkdir(folder)
  await writeFile(join(home, 'config.yaml'), JSON.stringify({ ...BASE, ...config }))
  let open: {
    readonly runtime: Runtime
    readonly host: SessionHost
    readonly api: Api
    readonly end: () => Promise<void>
  }
  const start = async () => {
    const env = { PATH: process.env['PATH'] ?? '/usr/bin:/bin' }
    const runtime = await openRuntime({ home, userHome: temporary.path, env, cwd: work, user: 'ada', tempDir: work })
    const host = createSessionHost({ runtime, idleMs: 60_000 })
    const api = openApi({
      runtime,
      host,
      request: {
        baseUrl: server.baseUrl,
        model: 'm',
        platform: 'gateway',
        cwd: work,
        keepsFolder: true,
        permissions: 'park',
        answersQuestions: 'later',
      },
      settings: resolveSettings({
        flags: { host: undefined, port: 0, cwd: undefined, allowLoopbackWithoutKey: !needsKey, agent: {} },
        variables: needsKey ? { API_SERVER_KEY: KEY } : {},
        config: runtime.config.gateway.api_server,
        people: runtime.people,
        hasPlatforms: false,
      }),
      models: ['hermes-agent', 'm'],
      receive: () => null,
      platforms: () => [],
      version: '0.0.0',
      logger: silentLogger,
      ...(clock ? { clock } : {}),
      ...(served ? { served } : {}),
    })
    const end = async () => {
      await api.close()
      await host.close('server_stop')
      await runtime.close()
    }
    open = { runtime, host, api, end }
    await api.takeUp()
  }
  await start()
  return {
    server,
    work,
    get runtime() {
      return open.runtime
    },
    get api() {
      return open.api
    },
    sayElsewhere: async (sessionId, text) => {
      const session = open.host.open({ baseUrl: server.baseUrl, model: 'm', platform: 'cli', permissions: 'deny', sessionId })
      await session.send(text).result
      session.close()
    },
    ask: async (path, body, { 'x-lost': isLost, ...headers } = {}, method = body === undefined ? 'GET' : 'POST') => {
      const init = {
        method,
        headers: { authorization: `Bearer ${KEY}`, ...headers },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }
      const outgoing = Object.assign(new EventEmitter(), { setTimeout: () => undefined })
      const answer = await open.api.app.request(path, init, { incoming: { socket: {} }, outgoing } as never)
      if (!isLost) outgoing.emit('finish')
      outgoing.emit('close')
      return answer
    },
    restart: async () => {
      await open.end()
      await start()
    },
    close: async () => {
      await open.end()
      await server.close()
      await temporary.remove()
    },
  }
}
