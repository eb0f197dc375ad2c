import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type Adapter, type AdapterPayload, Provider } from 'oidc-provider'

/** A real authorization server on loopback: refresh tokens are good for one use, and a second use ends the login. */
export interface AuthServer extends AsyncDisposable {
  readonly issuer: string
  readonly deviceAuthorizationEndpoint: string
  readonly authorizationEndpoint: string
  readonly tokenEndpoint: string
  /** A public client that may use device codes, the authorization code with PKCE, and refresh tokens. */
  readonly clientId: string
  /** A scope with which refresh tokens are given out. */
  readonly scope: string
  /** What came to the token endpoint, in order: the grant type and how it was answered. */
  readonly tokenRequests: readonly { readonly grantType: string; readonly status: number }[]
  /** Confirms a device login as the person in the browser would. */
  approveDevice(userCode: string): Promise<void>
  /** Declines a device login. */
  declineDevice(userCode: string): Promise<void>
  /** Opens an authorization URL like a browser whose person agrees, and goes back to the waiting program. */
  agreeInBrowser(url: string): Promise<Response>
  /** The same on another machine, where nobody waits: the address that the browser ends at. */
  agreeElsewhere(url: string): Promise<string>
  /** Logs somebody in out of band. */
  login(): Promise<{ readonly accessToken: string; readonly refreshToken: string }>
  /** Whether an access token is good. */
  accepts(accessToken: string): Promise<boolean>
  /** Makes an access token bad, as an owner does who revokes it. */
  revoke(accessToken: string): Promise<void>
  /** Answers the next request to the token endpoint like this instead. */
  failNext(status: number, body: string): void
  /** Keeps the answer to the next request to the token endpoint back, whose tokens count already, until what it gives is called. */
  holdNext(): { readonly arrived: Promise<void>; release(): void }
  close(): Promise<void>
}

const CLIENT_ID = 'hermes-test'
const SCOPE = 'openid offline_access'
const ACCOUNT = 'ada'

/** An MCP server that wants a login. */
export interface GuardedServer {
  readonly url: string
  /** Says from now on that one logs in at another authorization server. */
  name(issuer: string): void
  close(): void
}

/** A server of one tool that answers nobody without a token of `auth`. */
export async function startGuardedServer({ issuer, accepts }: AuthServer): Promise<GuardedServer> {
  let named = issuer
  const server = createServer(async (request, response) => {
    const origin = `http://${request.headers.host}`
    const json = (status: number, body: object, headers = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
    if (request.url === '/about')
      return json(200, {
        resource: `${origin}/mcp`,
        authorization_servers: [named],
        scopes_supported: ['openid', 'offline_access'],
      })
    if (!(await accepts(request.headers.authorization?.replace('Bearer ', '') ?? '')))
      return json(401, {}, { 'www-authenticate': `Bearer resource_metadata="${origin}/about"` })
    const { id, method } = JSON.parse((await text(request)) || '{}') as { id?: number; method?: string }
    if (id === undefined) return response.writeHead(202).end()
    const inputSchema = { type: 'object' }
    const results: Readonly<Record<string, object>> = {
      initialize: {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'g', version: '1' },
      },
      'tools/list': { tools: [{ name: 'locked', inputSchema }] },
    }
    const result = results[method ?? '']
    return json(200, { jsonrpc: '2.0', id, ...(result ? { result } : { error: { code: -32601, message: 'No.' } }) })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    name: (other: string) => {
      named = other
    },
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** How an {@link AuthServer} behaves. */
interface AuthServerOptions {
  /** Seconds that access tokens live. Default 3,600. */
  readonly tokenLifeS?: number
  /** Seconds between two questions that clients with a device code are told. Default: nothing, which means 5. */
  readonly pollIntervalS?: number
  /** Whether clients may register themselves. Default `false`. */
  readonly registers?: boolean
  /** Documents of clients by their https addresses, which are client ids then. Default: no address is one. */
  readonly documents?: Readonly<Record<string, object>>
}

/** Starts one on a free port. */
export async function startAuthServer(options: AuthServerOptions = {}): Promise<AuthServer> {
  const { tokenLifeS = 3_600, pollIntervalS, registers = false, documents = null } = options
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = createProvider(issuer, { tokenLifeS, registers, documents })
  const handle = provider.callback()
  const tokenRequests: { grantType: string; status: number }[] = []
  const failures: { readonly status: number; readonly body: string }[] = []
  const held: { readonly arrive: () => void; readonly released: Promise<void> }[] = []

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request.url?.startsWith('/interaction/')) {
      agree(provider, request, response).catch(() => response.destroy())
      return
    }
    const failure = request.url === '/token' ? failures.shift() : undefined
    if (request.url === '/token') recordGrant(request, response, tokenRequests)
    const hold = request.url === '/token' ? held.shift() : undefined
    if (hold) holdBack(response, hold)
    if (request.url === '/device/auth' && pollIntervalS !== undefined) addInterval(response, pollIntervalS)
    if (failure) response.writeHead(failure.status, { 'content-type': 'application/json' }).end(failure.body)
    else void handle(request, response)
  })

  return {
    issuer,
    deviceAuthorizationEndpoint: `${issuer}/device/auth`,
    authorizationEndpoint: `${issuer}/auth`,
    tokenEndpoint: `${issuer}/token`,
    clientId: CLIENT_ID,
    scope: SCOPE,
    tokenRequests,
    approveDevice: async (userCode) => {
      const code = await findDevice(provider, userCode)
      const { resource } = code.params
      const grantId = await newGrant(provider, code.clientId, resource)
      Object.assign(code, { accountId: ACCOUNT, grantId, scope: SCOPE, authTime: nowS(), resource })
      await code.save(60)
    },
    declineDevice: async (userCode) => {
      const code = await findDevice(provider, userCode)
      Object.assign(code, { error: 'access_denied', errorDescription: 'the person declined' })
      await code.save(60)
    },
    agreeInBrowser: (url) => browse(url, () => true) as Promise<Response>,
    agreeElsewhere: async (url) => (await browse(url, (target) => target.startsWith(issuer))) as string,
    login: async () => {
      const client = (await provider.Client.find(CLIENT_ID))!
      const fields = { accountId: ACCOUNT, client, grantId: await newGrant(provider), scope: SCOPE, gty: 'device_code' }
      const [access, refresh] = [new provider.AccessToken(fields), new provider.RefreshToken(fields as never)]
      Object.assign(refresh, { rotations: 0, iiat: nowS() })
      return { accessToken: await access.save(), refreshToken: await refresh.save() }
    },
    accepts: async (accessToken) => (await provider.AccessToken.find(accessToken))?.isExpired === false,
    revoke: async (accessToken) => void (await (await provider.AccessToken.find(accessToken))?.destroy()),
    failNext: (status, body) => void failures.push({ status, body }),
    holdNext: () => {
      const [arrived, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      held.push({ arrive: arrived.resolve, released: released.promise })
      return { arrived: arrived.promise, release: released.resolve }
    },
    close,
    [Symbol.asyncDispose]: close,
  }

  async function close(): Promise<void> {
    server.close()
    server.closeAllConnections()
  }
}

function createProvider(
  issuer: string,
  {
    tokenLifeS,
    registers,
    documents,
  }: Required<Pick<AuthServerOptions, 'tokenLifeS' | 'registers'>> & {
    readonly documents: Readonly<Record<string, object>> | null
  },
): Provider {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return new Provider(issuer, {
    adapter: createAdapters(),
    clients: [
      {
        client_id: CLIENT_ID,
        application_type: 'native',
        token_endpoint_auth_method: 'none',
        redirect_uris: ['http://127.0.0.1/callback'],
        response_types: ['code'],
        grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' } as never] },
    cookies: { keys: ['test'] },
    // Documents stand on the public web, which is none in a test.
    fetch: async (url) =>
      Response.json(documents?.[String(url)] ?? {}, { status: documents?.[String(url)] ? 200 : 404 }),
    features: {
      deviceFlow: { enabled: true },
      devInteractions: { enabled: false },
      registration: { enabled: registers },
      clientIdMetadataDocument: { enabled: documents !== null, ack: 'draft-02' },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({ scope: SCOPE, accessTokenFormat: 'opaque' }),
        useGrantedResource: () => true,
      },
    },
    findAccount: (_context, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    issueRefreshToken: () => true,
    rotateRefreshToken: () => true,
    ttl: {
      AccessToken: tokenLifeS,
      RefreshToken: 86_400,
      DeviceCode: 600,
      Grant: 86_400,
      Session: 600,
      Interaction: 600,
      IdToken: 600,
    },
  })
}

/** Where the server keeps things: in memory, nothing shared with another one. */
function createAdapters(): (model: string) => Adapter {
  const kept = new Map<string, AdapterPayload>()
  const search = async (model: string, isIt: (payload: AdapterPayload) => boolean) =>
    [...kept].find(([key, payload]) => key.startsWith(`${model}:`) && isIt(payload))?.[1]
  return (model) => ({
    upsert: async (id, payload) => void kept.set(`${model}:${id}`, payload),
    find: async (id) => kept.get(`${model}:${id}`),
    findByUserCode: (userCode) => search(model, (payload) => payload.userCode === userCode),
    findByUid: (uid) => search(model, (payload) => payload.uid === uid),
    consume: async (id) => void Object.assign(kept.get(`${model}:${id}`) ?? {}, { consumed: nowS() }),
    destroy: async (id) => void kept.delete(`${model}:${id}`),
    revokeByGrantId: async (grantId) => {
      for (const [key, payload] of kept) if (payload.grantId === grantId) kept.delete(key)
    },
  })
}

/** The person's part: logs in and agrees to everything. */
async function agree(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { params } = await provider.interactionDetails(request, response)
  const consent = { grantId: await newGrant(provider, String(params['client_id']), params['resource']) }
  await provider.interactionFinished(request, response, { login: { accountId: ACCOUNT }, consent })
}

async function newGrant(provider: Provider, clientId = CLIENT_ID, resource?: unknown): Promise<string> {
  const grant = new provider.Grant({ accountId: ACCOUNT, clientId })
  grant.addOIDCScope(SCOPE)
  if (typeof resource === 'string') grant.addResourceScope(resource, SCOPE)
  return grant.save()
}

async function findDevice(provider: Provider, userCode: string) {
  const find = provider.DeviceCode as unknown as { findByUserCode(code: string): Promise<DeviceCode | undefined> }
  const code = await find.findByUserCode(userCode.replaceAll(/\W/g, ''))
  if (!code) throw new Error(`No login waits for the code ${userCode}.`)
  return code
}

interface DeviceCode {
  readonly clientId: string
  readonly params: { readonly resource?: string }
  save(lifeS: number): Promise<string>
}

function recordGrant(
  request: IncomingMessage,
  response: ServerResponse,
  records: { grantType: string; status: number }[],
): void {
  let body = ''
  const push = request.push.bind(request)
  request.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (chunk) body += String(chunk)
    return push(chunk, encoding)
  }
  response.on('finish', () => {
    const grantType = new URLSearchParams(body).get('grant_type') ?? ''
    records.push({ grantType, status: response.statusCode })
  })
}

function addInterval(response: ServerResponse, interval: number): void {
  const end = response.end.bind(response)
  response.end = (body: unknown) => {
    const text = JSON.stringify({ ...JSON.parse(String(body)), interval })
    response.setHeader('content-length', Buffer.byteLength(text))
    return end(text)
  }
}

function holdBack(
  response: ServerResponse,
  { arrive, released }: { readonly arrive: () => void; readonly released: Promise<void> },
): void {
  const end = response.end.bind(response)
  response.end = (body: unknown) => {
    arrive()
    void released.then(() => end(body))
    return response
  }
}

/** Follows redirects for as long as an address can be reached: the last answer, or the address that cannot. */
async function browse(url: string, isReached: (target: string) => boolean): Promise<Response | string> {
  const cookies = new Map<string, string>()
  for (let target = url; ; ) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(target, { redirect: 'manual', headers: { cookie } })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    const location = response.headers.get('location')
    if (location === null) return response
    target = new URL(location, target).href
    if (!isReached(target)) return target
  }
}

function nowS(): number {
  return Math.floor(Date.now() / 1_000)
}
