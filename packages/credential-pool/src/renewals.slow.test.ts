import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonObject } from '@hermes/contracts'
import { type AuthServer, startAuthServer } from '@hermes/testkit/auth-server'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startCaller } from './__fixtures__/callers.js'
import { failed, keys, NOW, next, openPoolHome, type PoolHome } from './__fixtures__/pool-home.js'
import { type CredentialPoolOptions, openCredentialStore, type TokenSet } from './index.js'

/** Enough to meet at one token; a soak takes as many as one machine ever saw. */
const PROCESSES = process.env['HERMES_TEST_RUNS'] === undefined ? 5 : 120

const homes: PoolHome[] = []
afterEach(async () => {
  for (const home of homes.splice(0)) await home[Symbol.asyncDispose]()
})

/** A home with one login whose token expires in `lifeMs`. */
async function homeWithLogin(
  lifeMs: number,
  more: JsonObject = {},
  ...others: readonly JsonObject[]
): Promise<PoolHome> {
  const login = {
    auth_type: 'oauth',
    access_token: 'old-access-token-0123',
    refresh_token: 'refresh-1',
    expires_at_ms: NOW + lifeMs,
    client_id: 'mine',
    token_endpoint: 'https://login.example/token',
    ...more,
  }
  const home = await openPoolHome(keys(login, ...others))
  homes.push(home)
  return home
}

/** A token endpoint that a test answers by hand. */
function scripted(...answers: readonly (TokenSet | Error)[]) {
  const spent: string[] = []
  const left = [...answers]
  const renewTokens: CredentialPoolOptions['renewTokens'] = async (refreshToken) => {
    spent.push(refreshToken)
    const answer = left.shift() ?? new Error('The script is over.')
    if (answer instanceof Error) throw answer
    return answer
  }
  return { spent, renewTokens }
}

const tokens = (name: string): TokenSet => ({
  accessToken: `access-token-${name}`,
  refreshToken: `refresh-${name}`,
  expiresAtMs: NOW + 3_600_000,
})
const refused = (error: string) =>
  Object.assign(new Error(`refused: ${error}`), { code: 'oauth.refused', details: { error } })
const stored = async (home: PoolHome) =>
  ((await home.read())['credential_pool'] as Record<string, JsonObject[]>)['p']![0]!

describe('renew', () => {
  it('renews a login by its label although its token is still good', async () => {
    const home = await homeWithLogin(3_600_000)
    const { spent, renewTokens } = scripted(tokens('2'))
    const info = await home.pool({ renewTokens }).renew('key-0')
    expect(info).toMatchObject({ label: 'key-0', state: { type: 'ready' } })
    expect([spent, (await stored(home))['access_token']]).toEqual([['refresh-1'], 'access-token-2'])
  })

  it('says why it could not: a key, a passing failure, a login that is over', async () => {
    const home = await homeWithLogin(3_600_000, {}, {})
    const { spent, renewTokens } = scripted(new Error('the server is away'), refused('invalid_grant'))
    const pool = home.pool({ renewTokens })
    await expect(pool.renew('key-1')).rejects.toMatchObject({ code: 'credentials.not_renewable' })
    await expect(pool.renew('key-0')).rejects.toMatchObject({
      code: 'credentials.not_renewed',
      retryable: true,
      message: 'key-0 of p was not renewed: the server is away.',
    })
    const over = {
      code: 'credentials.not_renewed',
      retryable: false,
      message: expect.stringContaining('invalid_grant'),
    }
    await expect(pool.renew('key-0')).rejects.toMatchObject(over)
    await expect(pool.renew('key-0')).rejects.toMatchObject(over)
    expect(spent).toHaveLength(2)
    await expect(pool.renew('nope')).rejects.toMatchObject({ code: 'credentials.unknown' })
  })
})

describe('a token', () => {
  it('is used as it is while it lives', async () => {
    const home = await homeWithLogin(600_000)
    const { spent, renewTokens } = scripted()
    expect((await next(home.pool({ renewTokens }))).secret).toBe('old-access-token-0123')
    expect(spent).toEqual([])
  })

  it.each([
    ['about to expire', 60_000],
    ['expired', -1],
  ])('that is %s is renewed before it is handed out, and kept in the spelling it had', async (_, lifeMs) => {
    const home = await homeWithLogin(lifeMs, { expires_at: '2026-11-21T09:01:00Z', plan: 'pro' })
    const { spent, renewTokens } = scripted(tokens('2'))
    const secrets: string[] = []
    const pool = home.pool({ renewTokens, onSecret: (secret) => secrets.push(secret) })
    expect((await next(pool)).secret).toBe('access-token-2')
    expect((await next(pool)).secret).toBe('access-token-2')
    expect([spent, secrets[0]]).toEqual([['refresh-1'], 'access-token-2'])
    expect(await stored(home)).toMatchObject({
      access_token: 'access-token-2',
      refresh_token: 'refresh-2',
      expires_at_ms: NOW + 3_600_000,
      expires_at: new Date(NOW + 3_600_000).toISOString(),
      last_refresh: new Date(NOW).toISOString(),
      last_status: 'ok',
      plan: 'pro',
    })
  })

  it('keeps its refresh token when the server gives no other', async () => {
    const home = await homeWithLogin(-1)
    const { renewTokens } = scripted({ ...tokens('2'), refreshToken: null })
    await next(home.pool({ renewTokens }))
    expect(await stored(home)).toMatchObject({ refresh_token: 'refresh-1' })
  })

  it('that has expired and cannot be renewed is not used', async () => {
    const home = await homeWithLogin(-1, { refresh_token: null }, {})
    const pool = home.pool()
    expect((await next(pool)).id).toBe('id-1')
    expect((await pool.entries())[0]?.state).toEqual({ type: 'dead', reason: 'expired' })
  })

  it('of a new login is not overwritten by a renewal of the old one', async () => {
    const home = await homeWithLogin(-1)
    const theirs = keys({ auth_type: 'oauth', access_token: 'of-the-new-login', refresh_token: 'refresh-9' })
    const pool = home.pool({
      renewTokens: async () => {
        await home.write(theirs)
        return tokens('2')
      },
    })
    await next(pool)
    expect(await home.read()).toEqual(theirs)
  })

  it('that another process renewed is adopted, without a request', async () => {
    const home = await homeWithLogin(600_000)
    const first = home.pool(scripted(tokens('2')))
    const { spent, renewTokens } = scripted()
    const second = home.pool({ renewTokens })
    const [one, two] = [await next(first), await next(second)]
    await first.refresh(one)
    expect((await second.refresh(two))?.secret).toBe('access-token-2')
    expect(spent).toEqual([])
  })

  it('is renewed once for any number of callers in a process', async () => {
    const home = await homeWithLogin(-1)
    const { spent, renewTokens } = scripted(tokens('2'))
    const pool = home.pool({ renewTokens })
    const credentials = await Promise.all(Array.from({ length: 50 }, () => pool.select()))
    expect(new Set(credentials.map((credential) => credential?.secret))).toEqual(new Set(['access-token-2']))
    expect(spent).toEqual(['refresh-1'])
  })

  it('that was replaced since says nothing about the new one when it is refused', async () => {
    const home = await homeWithLogin(600_000)
    const pool = home.pool(scripted(tokens('2')))
    const old = await next(pool)
    await pool.refresh(old)
    await pool.report(old, failed('auth-permanent'))
    expect((await next(pool)).secret).toBe('access-token-2')
  })

  it('is fetched to the end although nobody waits any longer', async () => {
    const home = await homeWithLogin(600_000)
    const requested = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<TokenSet>()
    const pool = home.pool({
      renewTokens: () => {
        requested.resolve()
        return answer.promise
      },
    })
    const controller = new AbortController()
    const credential = await next(pool)
    const waiting = pool.refresh(credential, { signal: controller.signal })
    await requested.promise
    controller.abort()
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' })
    answer.resolve(tokens('2'))
    expect((await pool.refresh(credential))?.secret).toBe('access-token-2')
    expect(await stored(home)).toMatchObject({ refresh_token: 'refresh-2' })
  })
})

describe('a renewal', () => {
  it.each([
    'invalid_grant',
    'refresh_token_reused',
    'token_revoked',
    'token_invalidated',
    'unauthorized_client',
    'invalid_token',
  ])('that is refused for good (%s) ends the login until the next one, and the next key is used', async (word) => {
    const home = await homeWithLogin(-1, {}, {})
    const { spent, renewTokens } = scripted(refused(word))
    const pool = home.pool({ renewTokens })
    expect((await next(pool)).id).toBe('id-1')
    await home.clock.advance(1_800_000)
    expect((await next(pool)).id).toBe('id-1')
    expect((await pool.entries())[0]?.state).toEqual({ type: 'dead', reason: word })
    expect(spent).toEqual(['refresh-1'])
    const store = openCredentialStore({ path: home.path, clock: home.clock })
    await store.add({
      ...{ provider: 'p', type: 'oauth', label: 'key-0', tokens: tokens('3'), flow: 'device_code' },
      ...{ settings: { clientId: 'mine' }, tokenEndpoint: 'https://login.example/token' },
    })
    expect(await next(pool)).toEqual({ id: 'id-0', secret: 'access-token-3' })
  })

  it('that is refused because another program was first is taken for what it is', async () => {
    const home = await homeWithLogin(-1)
    const pool = home.pool({
      renewTokens: async () => {
        const document = await home.read()
        const entries = (document['credential_pool'] as Record<string, JsonObject[]>)['p']!
        const theirs = {
          ...entries[0]!,
          access_token: 'theirs-0123456789',
          refresh_token: 'refresh-9',
          expires_at_ms: NOW + 3_600_000,
        }
        await home.write({ ...document, credential_pool: { p: [theirs] } })
        throw refused('refresh_token_reused')
      },
    })
    expect((await next(pool)).secret).toBe('theirs-0123456789')
    expect(await stored(home)).not.toHaveProperty('last_status')
  })

  it('that fails in passing benches nothing: the token is used while it lives, and the renewal tried again later', async () => {
    const home = await homeWithLogin(60_000)
    const { spent, renewTokens } = scripted(new Error('no network'), tokens('2'))
    const pool = home.pool({ renewTokens })
    expect((await next(pool)).secret).toBe('old-access-token-0123')
    expect((await next(pool)).secret).toBe('old-access-token-0123')
    expect(spent).toHaveLength(1)
    await home.clock.advance(30_000)
    expect((await next(pool)).secret).toBe('access-token-2')
  })

  it('that fails in passing says when it is tried again once the token has expired', async () => {
    const home = await homeWithLogin(-1)
    const pool = home.pool(scripted(new Error('no network'), tokens('2')))
    expect(await pool.usableAtMs()).toBe(NOW)
    expect(await pool.select()).toBeNull()
    expect(await pool.usableAtMs()).toBe(NOW + 30_000)
    await home.clock.advance(30_000)
    expect((await next(pool)).secret).toBe('access-token-2')
  })

  it('is not tried without a client, or for a key', async () => {
    const home = await homeWithLogin(-1, { client_id: null }, {})
    const { spent, renewTokens } = scripted()
    const pool = home.pool({ renewTokens })
    const credential = await next(pool)
    expect(credential.id).toBe('id-1')
    expect(await pool.refresh(credential)).toBeNull()
    expect(spent).toEqual([])
  })
})

describe('several processes', () => {
  let server: AuthServer
  let api: Server
  let apiUrl: string
  let refusals: number

  beforeEach(async () => {
    server = await startAuthServer()
    refusals = 0
    api = createServer((request, response) => {
      const token = (request.headers.authorization ?? '').replace(/^Bearer /, '')
      server.accepts(token).then(
        (isGood) => {
          if (!isGood) refusals++
          response.writeHead(isGood ? 200 : 401).end()
        },
        () => response.destroy(),
      )
    }).listen(0, '127.0.0.1')
    await once(api, 'listening')
    apiUrl = `http://127.0.0.1:${(api.address() as AddressInfo).port}/`
  })
  afterEach(async () => {
    api.close()
    api.closeAllConnections()
    await server.close()
  })

  const renewalsRequested = () => server.tokenRequests.filter(({ grantType }) => grantType === 'refresh_token')

  async function home(expiresInMs: number): Promise<{ home: PoolHome; accessToken: string }> {
    const { accessToken, refreshToken } = await server.login()
    const more = { access_token: accessToken, refresh_token: refreshToken, expires_at_ms: Date.now() + expiresInMs }
    return {
      home: await homeWithLogin(0, { ...more, client_id: server.clientId, token_endpoint: server.tokenEndpoint }),
      accessToken,
    }
  }

  async function meet(path: string): Promise<(string | null)[]> {
    const callers = Array.from({ length: PROCESSES }, () =>
      startCaller(path, apiUrl, server.tokenEndpoint, server.clientId),
    )
    await Promise.all(callers.map(({ ready }) => ready))
    for (const caller of callers) caller.begin()
    return Promise.all(callers.map(({ outcome }) => outcome))
  }

  it('that meet one expired token cause one renewal, and none of them is refused', async () => {
    const { home: place, accessToken } = await home(-1_000)
    await server.revoke(accessToken)
    const outcomes = await meet(place.path)
    expect(outcomes).toEqual(Array(PROCESSES).fill('200'))
    expect(renewalsRequested()).toEqual([{ grantType: 'refresh_token', status: 200 }])
    expect(refusals).toBe(0)
  }, 240_000)

  it('that are refused with one token that was revoked cause one renewal, and each goes on with what it brought', async () => {
    const { home: place, accessToken } = await home(3_600_000)
    await server.revoke(accessToken)
    const outcomes = await meet(place.path)
    expect(outcomes.filter((outcome) => outcome !== '200' && outcome !== 'renewed 200')).toEqual([])
    expect(renewalsRequested()).toEqual([{ grantType: 'refresh_token', status: 200 }])
  }, 240_000)

  it('are not held up by one that is killed in the middle of its renewal', async () => {
    const { home: place } = await home(-1_000)
    const requested = Promise.withResolvers<void>()
    const silent = createServer(() => requested.resolve()).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const endpoint = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/token`
    const { pool } = { pool: (await place.read())['credential_pool'] as Record<string, JsonObject[]> }
    await place.write({ version: 1, credential_pool: { p: [{ ...pool['p']![0]!, token_endpoint: endpoint }] } })
    const killed = startCaller(place.path, apiUrl, endpoint, server.clientId)
    await killed.ready
    killed.begin()
    await requested.promise
    await place.write({ version: 1, credential_pool: pool })
    const heir = startCaller(place.path, apiUrl, server.tokenEndpoint, server.clientId)
    await heir.ready
    heir.begin()
    killed.process.kill('SIGKILL')
    expect([await killed.outcome, await heir.outcome]).toEqual([null, '200'])
    silent.closeAllConnections()
    silent.close()
  })
})
