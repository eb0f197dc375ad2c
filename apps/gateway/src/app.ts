import { errorLine, HermesError, type Logger, systemClock } from '@hermes/contracts'
import type { Runtime } from '@hermes/runtime'
import type { HttpBindings } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { cors } from 'hono/cors'
import { matchedRoutes } from 'hono/route'
import { type Access, type Caller, checkAccess } from './access.js'
import { ApiError, toApiError } from './api-error.js'
import { KeyLimits, requireScope } from './api-keys.js'
import type { ApprovalRoutes } from './approval-routes.js'
import type { Chat, ChatCall } from './chat.js'
import { EXTENSION_ROUTES, type ExtensionRoutes } from './extension-routes.js'
import type { Figures } from './figures.js'
import { createPeerOf, type PeerOf } from './peer.js'
import type { PlatformHealth } from './platforms/platform-health.js'
import { ROUTE_LIST, ROUTES, scopeOf } from './routes.js'
import type { RunCall, RunRoutes } from './runs/run-routes.js'
import type { SessionRoutes } from './session-routes.js'
import type { StoredSessionRoutes } from './stored-session-routes.js'

const MAX_BODY_BYTES = 10 * 1024 * 1024
const STALLED_READER_MS = 120_000

type Env = { readonly Bindings: HttpBindings; readonly Variables: { person: string | null } }

/** Options of {@link createApp}. */
interface AppOptions {
  readonly access: Access
  readonly chat: Chat
  readonly runs: RunRoutes
  readonly storedSessions: StoredSessionRoutes
  readonly toolsets: () => ReturnType<Runtime['toolsets']>
  readonly skills: () => ReturnType<Runtime['skills']['list']>
  /** Whether the store answers. */
  readonly storeAnswers: () => Promise<boolean>
  /** Origins of web pages that may ask, and read answers. */
  readonly corsOrigins: readonly string[]
  readonly sessions: SessionRoutes
  readonly extensions: ExtensionRoutes
  /** Takes deliveries of chat platforms, which have secrets of their own; `null` where none is meant. */
  readonly receive: (platform: string, request: Request) => Promise<Response> | null
  readonly approvals: ApprovalRoutes
  readonly figures: Figures
  /** How chat platforms are doing. */
  readonly health: () => readonly PlatformHealth[]
  /** Answers clients of the Model Context Protocol. */
  readonly mcp: (request: Request) => Promise<Response>
  readonly models: readonly string[]
  /** Unix time in seconds, shown with the models. */
  readonly startedAt: number
  readonly version: string
  readonly logger: Logger
}

/** The routes of the API. */
export function createApp(options: AppOptions): Hono<Env> {
  const { access, chat, runs, sessions, storedSessions, extensions, receive, health, approvals, mcp } = options
  const { figures, toolsets, skills, storeAnswers, corsOrigins, models, startedAt, version, logger } = options
  const app = new Hono<Env>()
  const peerOf = createPeerOf()
  app.use(async (context, next) => {
    await next()
    for (const [name, value] of Object.entries(SAFE_HEADERS)) context.res.headers.set(name, value)
  })
  app.use((context, next) => {
    const startedMs = systemClock.now()
    const { outgoing } = context.env
    outgoing.once('close', () => {
      const route = matchedRoutes(context).at(-1)?.path ?? '*'
      const ms = systemClock.now() - startedMs
      figures
        .count({ method: context.req.method, route, status: context.res.status, ms })
        .catch((error: unknown) => logger.warn('A request was not counted.', { error: errorLine(error) }))
    })
    return next()
  })
  if (corsOrigins.length > 0) app.use(corsFor(corsOrigins))
  const limits = new KeyLimits(systemClock)
  app.use(async (context, next) => {
    const { path } = context.req
    const isOpen = OPEN.has(path) || path.startsWith(WEBHOOKS) || extensions.isOpen(context.req.raw)
    const needsKey = !(access.type === 'key' && isOpen)
    const { person, key } = needsKey ? await guard(context, { access, corsOrigins, peerOf }) : NOBODY_ELSE
    if (key) {
      const scope = scopeOf(path)
      if (scope !== 'any' && scope !== 'none') requireScope(key, scope)
      const leave = limits.enter(key)
      // Who left while we looked who it is does not leave once more.
      if (context.env.outgoing.closed) leave()
      else context.env.outgoing.once('close', leave)
    }
    context.set('person', person)
    await next()
  })
  for (const path of HEALTH) app.get(path, (context) => context.json({ status: 'ok', version }))
  app.get('/health/detailed', async (context) => {
    const all = context.get('person') === null ? health() : []
    const store = (await storeAnswers()) ? 'ok' : 'failed'
    const isWell = store === 'ok' && all.every(({ hears }) => hears)
    const uptime_seconds = Math.floor(systemClock.now() / 1000) - startedAt
    return context.json({ status: isWell ? 'ok' : 'degraded', version, uptime_seconds, store, platforms: all })
  })
  app.get('/metrics', async (context) => {
    // They tell of all people together; a key of the configuration was made for it.
    if (context.get('person') !== null) throw ownerOnly()
    const { text, type } = await figures.text()
    return context.body(text, 200, { 'content-type': type })
  })
  app.get('/openapi.json', async (context) => {
    const { apiDocument } = await import('./api-document.js')
    return context.json(apiDocument(version))
  })
  app.get('/v1/capabilities', (context) => context.json(capabilities({ access, version, corsOrigins })))
  app.get('/v1/toolsets', (context) => {
    const data = Object.entries(toolsets()).map(([name, { description, tools }]) => {
      return { object: 'toolset', name, description, tools }
    })
    return context.json({ object: 'list', data })
  })
  app.get('/v1/skills', async (context) => {
    const data = (await skills()).map((skill) => ({ object: 'skill', ...skill }))
    return context.json({ object: 'list', data })
  })
  const modelOf = (id: string) => ({ id, object: 'model', created: startedAt, owned_by: 'hermes' })
  app.get('/v1/models', (context) => context.json({ object: 'list', data: models.map(modelOf) }))
  app.get('/v1/models/:id{.+}', (context) => {
    const id = context.req.param('id')
    if (models.includes(id)) return context.json(modelOf(id))
    throw new ApiError(`There is no model "${id}" here. Valid models: ${models.join(', ')}.`, {
      status: 404,
      code: 'model_not_found',
    })
  })
  const answered = async (context: Context<Env>, answer: (call: ChatCall) => Promise<Response>) => {
    const { signal } = context.req.raw
    const { promise: delivered, resolve } = Promise.withResolvers<void>()
    context.env.outgoing.once('finish', resolve)
    const response = await answer({
      body: await context.req.text(),
      person: context.get('person'),
      sessionId: context.req.header('x-hermes-session-id'),
      sessionKey: context.req.header('x-hermes-session-key'),
      idempotencyKey: context.req.header('idempotency-key'),
      signal,
      delivered,
    })
    // A reader that takes nothing for so long is gone; a stream that waits for its model writes a comment now and then.
    if (response.headers.get('content-type')?.startsWith('text/event-stream'))
      context.env.outgoing.setTimeout(STALLED_READER_MS)
    return response
  }
  const limited = bodyLimit({ maxSize: MAX_BODY_BYTES, onError: tooLarge })
  app.post('/v1/chat/completions', limited, (context) => answered(context, (call) => chat.answer(call)))
  app.post('/v1/responses', limited, (context) => answered(context, (call) => chat.respond(call)))
  app.get('/v1/responses/:id', async (context) =>
    context.json(await chat.response(context.req.param('id'), context.get('person'))),
  )
  const runCall = async ({ req, get }: Context<Env>): Promise<RunCall> => ({
    person: get('person'),
    body: req.method === 'POST' ? await req.text() : '',
    idempotencyKey: req.header('idempotency-key'),
    lastEventId: req.header('last-event-id'),
    query: req.query(),
  })
  app.post('/v1/runs', limited, async (context) => runs.begin(await runCall(context)))
  app.get('/v1/runs', async (context) => runs.list(await runCall(context)))
  app.get('/v1/runs/:id', async (context) => runs.get(context.req.param('id'), await runCall(context)))
  app.get('/v1/runs/:id/events', async (context) => {
    context.env.outgoing.setTimeout(STALLED_READER_MS)
    return runs.events(context.req.param('id'), await runCall(context))
  })
  app.post('/v1/runs/:id/approval', limited, async (context) =>
    runs.approve(context.req.param('id'), await runCall(context)),
  )
  app.post('/v1/runs/:id/:action', limited, async (context) => {
    const { id, action } = context.req.param()
    return runs.act(id, action, await runCall(context))
  })
  app.get('/v1/approvals', async (context) => context.json(await approvals.list(context.get('person'))))
  app.post('/v1/approvals/:id', limited, async (context) => {
    const call = { id: context.req.param('id'), person: context.get('person'), body: await context.req.text() }
    return context.json(await approvals.answer(call))
  })
  const asking = ({ req, get }: Context<Env>) => ({ person: get('person'), query: req.query() })
  app.get('/v1/sessions', async (context) => context.json(await storedSessions.list(asking(context))))
  app.get('/v1/sessions/search', async (context) => context.json(await storedSessions.search(asking(context))))
  app.get('/v1/sessions/:id', async (context) =>
    context.json(await storedSessions.get(context.req.param('id'), asking(context))),
  )
  app.patch('/v1/sessions/:id', limited, async (context) =>
    context.json(await storedSessions.change(context.req.param('id'), asking(context), await context.req.text())),
  )
  app.delete('/v1/sessions/:id', async (context) =>
    context.json(await storedSessions.remove(context.req.param('id'), asking(context))),
  )
  app.get('/v1/sessions/:id/messages', async (context) =>
    context.json(await storedSessions.messages(context.req.param('id'), asking(context))),
  )
  app.post('/v1/sessions/:id/fork', limited, async (context) =>
    context.json(await storedSessions.fork(context.req.param('id'), asking(context), await context.req.text()), 201),
  )
  app.get('/v1/sessions/:id/children', (context) =>
    context.json(sessions.list(context.req.param('id'), context.get('person'))),
  )
  app.post('/v1/sessions/:id/:action', limited, async (context) => {
    const { id: sessionId, action } = context.req.param()
    return context.json(
      sessions.run({ sessionId, person: context.get('person'), action, body: await context.req.text() }),
    )
  })
  app.post('/v1/sessions/:id/children/:child/:action', limited, async (context) => {
    const { id: sessionId, child, action } = context.req.param()
    return context.json(
      await sessions.act({ sessionId, person: context.get('person'), child, action, body: await context.req.text() }),
    )
  })
  app.all(`${EXTENSION_ROUTES}/*`, limited, (context) => {
    // What extensions answer with is of nobody in particular.
    if (context.get('person') !== null && !extensions.isOpen(context.req.raw)) throw ownerOnly()
    return extensions.answer(context.req.raw)
  })
  app.post(`${WEBHOOKS}:platform`, limited, (context) => {
    const taken = receive(context.req.param('platform'), context.req.raw)
    return taken ?? context.notFound()
  })
  app.all('/mcp', limited, (context) => {
    // Sessions and memory are the owner's.
    if (context.get('person') !== null) throw ownerOnly()
    return mcp(context.req.raw)
  })
  app.notFound(({ req }) =>
    toResponse(
      new ApiError(`There is no ${req.method} ${req.path}. Routes: ${ROUTE_LIST}.`, {
        status: 404,
        code: 'unknown_route',
      }),
    ),
  )
  app.onError((error) => {
    if (!(error instanceof ApiError) && !HermesError.isInstance(error))
      logger.error('A request failed unexpectedly.', { error: error.stack ?? errorLine(error) })
    return toResponse(toApiError(error))
  })
  return app
}

/** Who asks for what needs no key is told nothing of anybody. */
const NOBODY_ELSE: Caller = { person: null }
const WEBHOOKS = '/webhooks/'
const HEALTH = new Set(['/health', '/v1/health'])
const OPEN: ReadonlySet<string> = new Set([...HEALTH, '/openapi.json'])
const CORS_MAX_AGE_S = 600
const SAFE_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
}

function guard(
  { req, env }: Context<Env>,
  { access, corsOrigins, peerOf }: Pick<AppOptions, 'access' | 'corsOrigins'> & { readonly peerOf: PeerOf },
): Promise<Caller> {
  const headers = {
    host: req.header('host'),
    origin: req.header('origin'),
    authorization: req.header('authorization'),
    fetchSite: req.header('sec-fetch-site'),
  }
  return checkAccess(access, headers, { peer: () => peerOf(env.incoming.socket), corsOrigins })
}

/** Web pages of these origins read answers, and ask what their key lets them. */
function corsFor(origins: readonly string[]) {
  const isAllowed = (origin: string) => origins.includes('*') || origins.includes(origin)
  return cors({
    origin: (origin) => (isAllowed(origin) ? (origins.includes('*') ? '*' : origin) : null),
    allowMethods: ['GET', 'POST', 'PATCH', 'DELETE', 'OPTIONS'],
    exposeHeaders: ['x-hermes-session-id', 'idempotency-replayed', 'retry-after'],
    maxAge: CORS_MAX_AGE_S,
  })
}

/** What a client can count on. */
function capabilities({
  access,
  version,
  corsOrigins,
}: Pick<AppOptions, 'access' | 'version' | 'corsOrigins'>): object {
  return {
    object: 'hermes.api_server.capabilities',
    version,
    auth: { type: 'bearer', required: access.type === 'key' },
    features: {
      ...{
        chat_completions: true,
        responses: true,
        runs: true,
        run_events_resume: true,
        approvals: true,
        sessions: true,
      },
      ...{
        client_tools: true,
        structured_output: true,
        stop_sequences: true,
        images: true,
        idempotency: true,
        steer: true,
      },
      cors: corsOrigins.length > 0,
    },
    headers: {
      session: 'X-Hermes-Session-Id',
      session_key: 'X-Hermes-Session-Key',
      idempotency: 'Idempotency-Key',
      last_event: 'Last-Event-ID',
    },
    endpoints: ROUTES.map(({ method, path, scope }) => ({ method, path, scope })),
  }
}

function ownerOnly(): ApiError {
  const message = 'This route answers the owner of the server only: send the key of the server.'
  return new ApiError(message, { status: 403, code: 'owner_only' })
}

function tooLarge(): Response {
  const message = `The body is larger than ${MAX_BODY_BYTES / 1024 / 1024} MB. Shorten the conversation or shrink its images.`
  return toResponse(new ApiError(message, { status: 413, code: 'body_too_large' }))
}

function toResponse({ status, body, headers }: ApiError): Response {
  return Response.json(body, { status, headers })
}
