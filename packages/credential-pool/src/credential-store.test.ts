import type { JsonObject } from '@hermes/contracts'
import { afterEach, describe, expect, it } from 'vitest'
import { failed, keys, NOW, next, openPoolHome, type PoolHome, selected } from './__fixtures__/pool-home.js'
import { type NewCredential, openCredentialStore } from './index.js'

const homes: PoolHome[] = []
afterEach(async () => {
  for (const home of homes.splice(0)) await home[Symbol.asyncDispose]()
})

async function open(document?: JsonObject) {
  const home = await openPoolHome(document)
  homes.push(home)
  const borrowed = { p: [{ source: 'env:P_KEY', secret: 'sk-environment-0123456789' }] }
  const store = openCredentialStore({ path: home.path, clock: home.clock })
  const withEnv = openCredentialStore({ path: home.path, clock: home.clock, borrowed })
  return { home, store, withEnv }
}

const apiKey = (secret: string, more: Partial<NewCredential> = {}) =>
  ({ provider: 'p', type: 'api-key', secret, ...more }) as NewCredential
const login = (name: string, more: Partial<NewCredential> = {}) =>
  ({
    ...{ provider: 'p', type: 'oauth', flow: 'device_code', tokenEndpoint: 'https://login.example/token' },
    ...{ settings: { clientId: 'mine', issuer: 'https://login.example', clientSecret: 'never-stored' } },
    tokens: {
      accessToken: `access-token-of-${name}`,
      refreshToken: `refresh-token-of-${name}`,
      expiresAtMs: NOW + 3_600_000,
    },
    ...more,
  }) as NewCredential

describe('add', () => {
  it('keeps keys after those that are there, with labels of their own, and shows no more than their end', async () => {
    const { home, store } = await open()
    expect(await store.add(apiKey('sk-one-0123456789abcdef'))).toMatchObject({
      label: 'key-1',
      hint: 'cdef',
      priority: 0,
    })
    await store.add(apiKey('sk-short', { label: 'work' }))
    await store.add(apiKey('sk-two-0123456789ghijkl', { priority: 0, baseUrl: 'https://a.example/v1' }))
    expect((await store.list('p')).map(({ label, hint, priority }) => [label, hint, priority])).toEqual([
      ['key-1', 'cdef', 0],
      ['key-2', 'ijkl', 0],
      ['work', '', 1],
    ])
    expect(JSON.stringify(await store.list('p'))).not.toContain('sk-')
    expect(await store.providers()).toEqual(['p'])
    expect((await next(home.pool({ baseUrl: 'https://b.example' }))).secret).toBe('sk-one-0123456789abcdef')
  })

  it('writes entries in the shape that existing homes have', async () => {
    const { home, store } = await open()
    await store.add(apiKey('sk-one-0123456789abcdef', { label: 'work' }))
    await store.add(login('a'))
    expect(await home.read()).toEqual({
      version: 1,
      credential_pool: {
        p: [
          {
            ...{ id: expect.stringMatching(/^[0-9a-f]{6}$/), label: 'work', auth_type: 'api_key', priority: 0 },
            ...{ source: 'manual', access_token: 'sk-one-0123456789abcdef', last_status: 'ok', request_count: 0 },
          },
          expect.objectContaining({
            ...{ label: 'login-1', auth_type: 'oauth', priority: 1, source: 'manual:device_code' },
            ...{
              access_token: 'access-token-of-a',
              refresh_token: 'refresh-token-of-a',
              expires_at_ms: NOW + 3_600_000,
            },
            ...{ client_id: 'mine', token_endpoint: 'https://login.example/token', issuer: 'https://login.example' },
          }),
        ],
      },
    })
    expect(await home.text()).not.toContain('never-stored')
  })

  it('puts a login in the place of the one with its label, and never in the place of a key', async () => {
    const { home, store } = await open(keys({ label: 'work' }))
    const first = await store.add(login('a', { label: 'mine' }))
    const second = await store.add(login('b', { label: 'mine' }))
    expect([second.id, (await store.list('p')).length]).toEqual([first.id, 2])
    expect(await home.text()).not.toContain('of-a')
    await expect(store.add(login('c', { label: 'work' }))).rejects.toMatchObject({ code: 'credentials.duplicate' })
  })

  it.each([
    ['sk-environment-0123456789', 'credentials.duplicate'],
    ['secret-of-number-0', 'credentials.duplicate'],
    ['', 'credentials.bad_key'],
    ['sk with spaces', 'credentials.bad_key'],
    ['sk-ümlaut', 'credentials.bad_key'],
    ['sk-line\n', 'credentials.bad_key'],
  ])('refuses %j and leaves the file as it is', async (secret, code) => {
    const { home, withEnv } = await open(keys({}))
    const before = await home.text()
    await expect(withEnv.add(apiKey(secret))).rejects.toMatchObject({ code })
    expect(await home.text()).toBe(before)
  })

  it('loses nothing when many are added at once', async () => {
    const { home, store } = await open()
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 ? store : openCredentialStore({ path: home.path })).add(apiKey(`sk-number-${index}-0123456789`)),
      ),
    )
    expect(new Set((await store.list('p')).map(({ label }) => label)).size).toBe(20)
  })
})

describe('remove', () => {
  it('gives a label that was removed to no later one by itself, so that a choice of it does not pass on', async () => {
    const { store } = await open()
    for (const secret of ['one', 'two']) await store.add(apiKey(secret))
    await store.remove('p', 'key-2')
    expect((await store.add(apiKey('three'))).label).toBe('key-3')
    expect((await store.add(apiKey('four', { label: 'key-2' }))).label).toBe('key-2')
  })

  it.each(['id-1', 'key-1', '2'])('takes id, label or place: %s', async (name) => {
    const { store } = await open(keys({}, {}, {}))
    expect(await store.remove('p', name)).toMatchObject({ id: 'id-1' })
    expect((await store.list('p')).map(({ id }) => id)).toEqual(['id-0', 'id-2'])
  })

  it('names what is there when it finds nothing, and where a borrowed key comes from', async () => {
    const { store, withEnv } = await open(keys({}))
    await expect(store.remove('p', '7')).rejects.toThrow('p has no credential "7". There are: key-0.')
    await expect(store.remove('q', 'x')).rejects.toThrow('q has no credential "x". It has none.')
    await expect(withEnv.remove('p', 'P_KEY')).rejects.toThrow(/the variable P_KEY \(environment or \.env\)/)
  })

  it('forgets the record of a variable that is gone', async () => {
    const { home, store } = await open()
    const pool = home.pool({ borrowed: [{ source: 'env:P_KEY', secret: 'sk-environment-0123456789' }] })
    await pool.report(await next(pool), failed('billing'))
    await store.remove('p', 'P_KEY')
    expect(await store.providers()).toEqual([])
  })
})

describe('reset', () => {
  it('ends rests and deaths, of one or of all, and says of which', async () => {
    const { home, store } = await open(keys({}, {}, {}))
    const pool = home.pool()
    await pool.report(await next(pool), failed('billing'))
    await pool.report(await next(pool), failed('auth-permanent'))
    expect((await store.reset('p', 'key-1')).map(({ id }) => id)).toEqual(['id-1'])
    expect(await selected(pool, 1)).toEqual(['id-1'])
    expect((await store.reset('p')).map(({ id }) => id)).toEqual(['id-0'])
    expect(await selected(pool, 1)).toEqual(['id-0'])
    expect(await store.reset('p')).toEqual([])
  })
})

describe('prioritize', () => {
  it('moves one to a place and keeps the order of the others', async () => {
    const { home, store } = await open(keys({}, {}, {}))
    const labels = async (name: string, place: number) =>
      (await store.prioritize('p', name, place)).map(({ label }) => label)
    expect(await labels('key-2', 0)).toEqual(['key-2', 'key-0', 'key-1'])
    expect((await next(home.pool())).id).toBe('id-2')
    expect(await labels('1', 99)).toEqual(['key-0', 'key-1', 'key-2'])
    expect((await store.list('p')).map(({ priority }) => priority)).toEqual([0, 1, 2])
  })

  it('puts a key in front of one of the environment, of which only a fingerprint is written', async () => {
    const { home, withEnv } = await open(keys({ priority: 5 }))
    const order = await withEnv.prioritize('p', 'P_KEY', 1)
    expect(order.map(({ label }) => label)).toEqual(['key-0', 'P_KEY'])
    expect(await home.text()).not.toContain('sk-environment')
    expect((await withEnv.list('p')).map(({ label }) => label)).toEqual(['key-0', 'P_KEY'])
  })

  it('refuses a name that is not there and changes nothing', async () => {
    const { home, store } = await open(keys({}))
    const before = await home.text()
    await expect(store.prioritize('p', 'nope', 0)).rejects.toMatchObject({ code: 'credentials.unknown' })
    expect(await home.text()).toBe(before)
  })
})

it('says which account counts once the choice of a folder is taken back: that of a project around it', async () => {
  const { store } = await open()
  for (const label of ['outer', 'inner']) await store.add(apiKey(`sk-of-${label}`, { label }))
  await store.useInProject('p', 'outer', '/projects')
  await store.useInProject('p', 'inner', '/projects/one')
  expect((await store.useInProject('p', null, '/projects/one'))?.label).toBe('outer')
  expect(await store.useInProject('p', null, '/projects')).toBeNull()
})
