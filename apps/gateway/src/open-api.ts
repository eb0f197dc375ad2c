// The API put together: what its routes need, on one home.
import { type Clock, errorLine, type Logger, systemClock } from '@hermes/contracts'
import { createServedHome, type OpenRequest, type SessionHost } from '@hermes/host'
import { RequestServer } from '@hermes/mcp/serve'
import type { Runtime } from '@hermes/runtime'
import { createApp } from './app.js'
import { ApprovalRoutes } from './approval-routes.js'
import { Chat } from './chat.js'
import { ChatCommands } from './commands.js'
import { Conversations } from './conversations.js'
import { ExtensionRoutes } from './extension-routes.js'
import { Figures } from './figures.js'
import { HeardAnswers } from './heard-answers.js'
import type { FetchImage } from './named-images.js'
import { type PlatformReport, platformHealth } from './platforms/platform-health.js'
import { BackgroundRuns } from './runs/background-runs.js'
import { RunOwners, SIGN_EVERY_MS } from './runs/run-owners.js'
import { RunRoutes } from './runs/run-routes.js'
import { StoredRuns } from './runs/stored-runs.js'
import { SessionRoutes } from './session-routes.js'
import type { Settings } from './settings.js'
import { StoredSessionRoutes } from './stored-session-routes.js'

const HOUR_MS = 3_600_000

/** What the API is made of. */
export interface ApiOptions {
  readonly runtime: Runtime
  readonly host: SessionHost
  /** What agents are made with. */
  readonly request: Omit<OpenRequest, 'session' | 'sessionId' | 'instructions'> & { readonly cwd: string }
  readonly settings: Pick<Settings, 'access' | 'maxRuns' | 'maxWaiting' | 'corsOrigins'>
  readonly models: readonly string[]
  readonly receive: (platform: string, request: Request) => Promise<Response> | null
  readonly platforms: () => readonly PlatformReport[]
  readonly version: string
  readonly logger: Logger
  /** Makes what clients of the Model Context Protocol get out of what a home offers. Default: that. */
  readonly served?: ConstructorParameters<typeof RequestServer>[1]
  /** Default: the machine's. */
  readonly clock?: Clock
}

/** The API of a gateway. */
export interface Api {
  readonly app: ReturnType<typeof createApp>
  /** Takes up what a gateway before has left. From then on does that again and again, and forgets every hour what is old. Never rejects. */
  takeUp(): Promise<void>
  /** Waits until no request and no run is under way, or the signal fires. Never rejects. */
  drain(signal: AbortSignal): Promise<void>
  /** Takes no more requests, interrupts those under way and waits until what was said is stored. */
  close(): Promise<void>
}

/** Opens nothing heavy: agents are made by the first request. */
export function openApi(options: ApiOptions): Api {
  const { runtime, host, request, settings, models, version, logger, receive, platforms, clock = systemClock } = options
  const { access, maxRuns, maxWaiting, corsOrigins } = settings
  const { cwd, permissions, model, provider, baseUrl, maxSteps } = request
  const meta = async () => (await runtime.storage()).meta
  const heard = new HeardAnswers({ meta, clock, logger })
  const conversations = new Conversations({ storage: () => runtime.storage(), host, request, heard })
  const commands = new ChatCommands({ runtime, host, cwd })
  const fetchImage: FetchImage = (url, who) => runtime.fetchForPerson(url, { ...who, platform: 'api' })
  const chat = new Chat({ conversations, commands, fetchImage, models, maxRuns, maxWaiting, clock })
  const isOpen = runtime.config.gateway.api_server.answer_approvals
  const approvals = new ApprovalRoutes({ runtime, host, isOpen })
  const stored = new StoredRuns(meta)
  const owners = new RunOwners({ meta, clock })
  const runs = new BackgroundRuns({
    ...{ chat, host, approvals, clock, logger, owners },
    runs: stored,
    requireSession: (sessionId, person) => conversations.requireSession(sessionId, person),
  })
  const agent = defined({ model, provider, baseUrl, maxSteps })
  const served = createServedHome({ runtime, host, cwd, agent, permissions: isOpen ? 'ask' : permissions })
  const mcp = new RequestServer({ home: served, version }, options.served)
  const app = createApp({
    ...{ access, corsOrigins, chat, approvals, models, version, logger, receive },
    health: () => platformHealth(platforms(), clock.now()),
    figures: new Figures({ load: () => chat.load, platforms, now: () => clock.now() }),
    storedSessions: new StoredSessionRoutes(runtime, host),
    skills: () => runtime.skills.list(cwd),
    toolsets: () => runtime.toolsets(),
    storeAnswers: () =>
      runtime
        .storage()
        .then(({ meta }) => meta.get('health'))
        .then(
          () => true,
          () => false,
        ),
    runs: new RunRoutes(runs),
    sessions: new SessionRoutes(host),
    extensions: new ExtensionRoutes(runtime),
    mcp: (incoming) => mcp.answer(incoming),
    startedAt: Math.floor(clock.now() / 1000),
  })
  const closing = new AbortController()
  const forgetOwners = async () => owners.prune(new Set((await stored.list()).map(({ owner }) => owner)))
  const forget = async () => {
    for (const prune of [() => stored.prune(clock.now()), () => heard.prune(), forgetOwners])
      await prune().catch((error: unknown) => logger.warn('Old notes stay.', { error: errorLine(error) }))
  }
  const goOn = async () => {
    let forgotAtMs = clock.now()
    while (!closing.signal.aborted) {
      await clock.sleep(SIGN_EVERY_MS, closing.signal).catch(() => undefined)
      if (closing.signal.aborted) return
      await runs.takeUp()
      if (clock.now() - forgotAtMs < HOUR_MS) continue
      forgotAtMs = clock.now()
      await forget()
    }
  }
  let going = Promise.resolve()
  return {
    app,
    takeUp: async () => {
      await runs.takeUp()
      await forget()
      going = goOn()
    },
    drain: (signal) => chat.drain(signal),
    close: async () => {
      runs.close()
      closing.abort()
      await Promise.all([chat.stop(), mcp.close(), going])
      await runs.settled()
    },
  }
}

function defined<Fields extends object>(fields: Fields): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}
