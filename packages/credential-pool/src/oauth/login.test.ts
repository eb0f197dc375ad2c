import { createFakeClock } from '@hermes/testkit'
import { type AuthServer, startAuthServer } from '@hermes/testkit/auth-server'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { renewTokens, startBrowserLogin, startDeviceLogin } from './index.js'

let server: AuthServer

beforeEach(async () => {
  server = await startAuthServer()
})
afterEach(() => server.close())

const settings = () => ({ clientId: server.clientId, issuer: server.issuer, scope: server.scope })

describe('startDeviceLogin', () => {
  it('waits until the person has confirmed, at the pace of the server, and gets tokens that can be renewed', async () => {
    const clock = createFakeClock(Date.now())
    const login = await startDeviceLogin(settings(), { clock })
    expect(login.verificationUri).toBe(`${server.issuer}/device`)
    expect(login.verificationUriComplete).toContain(login.userCode)
    const waiting = login.wait()
    await clock.waitForSleepers()
    await clock.advance(5_000)
    await clock.waitForSleepers()
    expect(clock.pending()).toEqual([5_000])
    await server.approveDevice(login.userCode)
    await clock.advance(5_000)
    const tokens = await waiting
    expect(await server.accepts(tokens.accessToken)).toBe(true)
    expect(tokens.expiresAtMs).toBe(clock.now() + 3_600_000)
    const renewed = await renewTokens(tokens.refreshToken!, settings())
    expect(await server.accepts(renewed.accessToken)).toBe(true)
    expect(server.tokenRequests.map(({ grantType, status }) => `${grantType.replace(/.*:/, '')} ${status}`)).toEqual([
      'device_code 400',
      'device_code 200',
      'refresh_token 200',
    ])
  })

  it('asks more slowly when told so and when the server cannot be reached', async () => {
    const clock = createFakeClock()
    const login = await startDeviceLogin(settings(), { clock })
    server.failNext(400, '{"error":"slow_down"}')
    const waiting = login.wait().catch((error: unknown) => error)
    await clock.waitForSleepers()
    await clock.advance(5_000)
    await clock.waitForSleepers()
    expect(clock.pending()).toEqual([10_000])
    await server.close()
    await clock.advance(10_000)
    await clock.waitForSleepers()
    expect(clock.pending()).toEqual([20_000])
    await clock.advance(600_000)
    for (let round = 0; round < 60 && clock.pending().length > 0; round++) await clock.advance(60_000)
    expect(await waiting).toMatchObject({ code: 'oauth.expired' })
  })

  it('takes errors that come with status 200 or as objects', async () => {
    const clock = createFakeClock()
    const login = await startDeviceLogin(settings(), { clock })
    server.failNext(200, '{"error":"authorization_pending"}')
    server.failNext(401, '{"error":{"code":"access_denied","message":"no"}}')
    const waiting = login.wait().catch((error: unknown) => error)
    for (let round = 0; round < 2; round++) {
      await clock.waitForSleepers()
      await clock.advance(5_000)
    }
    expect(await waiting).toMatchObject({ code: 'oauth.refused', message: 'The login was declined in the browser.' })
  })

  it('says that the person declined', async () => {
    const clock = createFakeClock(Date.now())
    const login = await startDeviceLogin(settings(), { clock })
    await server.declineDevice(login.userCode)
    const waiting = login.wait().catch((error: unknown) => error)
    await clock.waitForSleepers()
    await clock.advance(5_000)
    expect(await waiting).toMatchObject({ code: 'oauth.refused', details: { error: 'access_denied' } })
  })

  it('stops at once when it is aborted', async () => {
    const controller = new AbortController()
    const login = await startDeviceLogin(settings(), { signal: controller.signal })
    const waiting = login.wait()
    controller.abort()
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' })
  })

  it('needs no issuer when the endpoints are named', async () => {
    const { clientId, deviceAuthorizationEndpoint, tokenEndpoint } = server
    const login = await startDeviceLogin({ clientId, deviceAuthorizationEndpoint, tokenEndpoint })
    expect(login).toMatchObject({ tokenEndpoint, verificationUri: `${server.issuer}/device` })
  })

  it.each([
    [{ clientId: 'x' }, 'oauth.not_configured', /an issuer or the addresses/],
    [{ clientId: 'x', issuer: 'http://example.com' }, 'oauth.not_configured', /must be an https address/],
    [
      { clientId: 'x', tokenEndpoint: 'https://127.0.0.1/token' },
      'oauth.not_configured',
      /No device authorization endpoint/,
    ],
    [{ clientId: 'x', issuer: 'http://127.0.0.1:9' }, 'oauth.unreachable', /127\.0\.0\.1:9 cannot be reached/],
  ])('answers %j by one line', async (wrong, code, line) => {
    await expect(startDeviceLogin(wrong)).rejects.toMatchObject({ code, message: expect.stringMatching(line) })
  })

  it('says in the words of the server that it does not know the client', async () => {
    await expect(startDeviceLogin({ ...settings(), clientId: 'nobody' })).rejects.toMatchObject({
      code: 'oauth.refused',
      details: { error: 'invalid_client' },
    })
  })
})

describe('startBrowserLogin', () => {
  it('gets tokens by authorization code with PKCE through a port of this machine', async () => {
    const login = await startBrowserLogin(settings())
    const query = new URL(login.url).searchParams
    expect(query.get('code_challenge_method')).toBe('S256')
    expect(query.get('redirect_uri')).toBe(login.redirectUri)
    const waiting = login.wait()
    const page = await server.agreeInBrowser(login.url)
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('You are logged in')])
    expect(await server.accepts((await waiting).accessToken)).toBe(true)
    await expect(fetch(login.redirectUri)).rejects.toThrow()
  })

  it('takes only the redirect with its own state and goes on waiting after any other', async () => {
    const login = await startBrowserLogin(settings())
    const waiting = login.wait()
    for (const query of ['', '?code=stolen', '?code=stolen&state=guessed'])
      expect((await fetch(`${login.redirectUri}${query}`)).status).toBe(400)
    expect((await fetch(new URL('/else', login.redirectUri))).status).toBe(404)
    expect((await fetch(`${new URL(login.redirectUri).origin}//`)).status).toBe(404)
    expect(server.tokenRequests).toEqual([])
    await server.agreeInBrowser(login.url)
    expect((await waiting).refreshToken).not.toBeNull()
  })

  it('says what the server says when the person declined', async () => {
    const login = await startBrowserLogin(settings())
    const waiting = login.wait().catch((error: unknown) => error)
    const state = new URL(login.url).searchParams.get('state')
    const query = new URLSearchParams({
      error: 'access_denied',
      error_description: 'Not today',
      state: state!,
      iss: server.issuer,
    })
    await fetch(`${login.redirectUri}?${query}`)
    expect(await waiting).toMatchObject({
      code: 'oauth.refused',
      message: expect.stringContaining('access_denied: Not today'),
    })
  })

  it('refuses a code that another server sent', async () => {
    const login = await startBrowserLogin(settings())
    const waiting = login.wait().catch((error: unknown) => error)
    const state = new URL(login.url).searchParams.get('state')
    await fetch(
      `${login.redirectUri}?${new URLSearchParams({ code: 'x', state: state!, iss: 'https://evil.example' })}`,
    )
    expect(await waiting).toMatchObject({ code: 'oauth.bad_answer' })
    expect(server.tokenRequests).toEqual([])
  })

  it('stops listening when it is aborted, and names a port that is taken', async () => {
    const controller = new AbortController()
    const login = await startBrowserLogin(settings(), { signal: controller.signal })
    const redirectPort = Number(new URL(login.redirectUri).port)
    await expect(startBrowserLogin({ ...settings(), redirectPort })).rejects.toMatchObject({ code: 'oauth.port_taken' })
    const waiting = login.wait()
    controller.abort()
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' })
    await expect(fetch(login.redirectUri)).rejects.toThrow()
  })
})

describe('renewTokens', () => {
  it('tells a refusal for good from one that passes, and shows no token', async () => {
    const { refreshToken } = await server.login()
    server.failNext(503, 'busy')
    await expect(renewTokens(refreshToken, settings())).rejects.toMatchObject({
      code: 'oauth.bad_answer',
      retryable: true,
    })
    await renewTokens(refreshToken, settings())
    const error = await renewTokens(refreshToken, settings()).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'oauth.refused', details: { error: 'invalid_grant', status: 400 } })
    expect(String(error)).not.toContain(refreshToken)
  })
})
