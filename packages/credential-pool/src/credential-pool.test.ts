import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JsonObject } from '@hermes/contracts'
import type { ErrorReason } from '@hermes/contracts/model'
import { afterEach, describe, expect, it } from 'vitest'
import { failed, keys, NOW, next, openPoolHome, type PoolHome, selected } from './__fixtures__/pool-home.js'
import { type CredentialPool, POOL_STRATEGIES, type PoolStrategy } from './index.js'

const opened: PoolHome[] = []
const open = async (document?: unknown) => {
  const home = await openPoolHome(document)
  opened.push(home)
  return home
}
afterEach(async () => {
  for (const home of opened.splice(0)) await home[Symbol.asyncDispose]()
})

const three = keys({}, {}, {})
const MINUTE = 60_000
const HOUR = 60 * MINUTE

const entriesOf = async (home: PoolHome) =>
  ((await home.read())['credential_pool'] as JsonObject)['p'] as readonly JsonObject[]
const states = async (pool: CredentialPool) => (await pool.entries()).map(({ state }) => state.type)

describe('a strategy', () => {
  it.each<[PoolStrategy, string[]]>([
    ['fill-first', ['id-0', 'id-0', 'id-0', 'id-0']],
    ['round-robin', ['id-0', 'id-1', 'id-2', 'id-0', 'id-1', 'id-2']],
    ['least-used', ['id-0', 'id-1', 'id-2', 'id-0', 'id-1', 'id-2']],
    ['random', ['id-1', 'id-1', 'id-1', 'id-1']],
  ])('%s gives the keys in its order', async (strategy, expected) => {
    const home = await open(three)
    expect(await selected(home.pool({ strategy, random: () => 0.5 }), expected.length)).toEqual(expected)
  })

  it('goes on in another process where the first one stopped', async () => {
    const home = await open(three)
    for (const strategy of ['round-robin', 'least-used'] as const) {
      await home.write(three)
      const ids = [...(await selected(home.pool({ strategy }), 2)), ...(await selected(home.pool({ strategy }), 2))]
      expect(ids).toEqual(['id-0', 'id-1', 'id-2', 'id-0'])
    }
  })

  it('least-used counts what was used before', async () => {
    const home = await open(keys({ request_count: 2 }, { request_count: 0 }, { request_count: 1 }))
    expect(await selected(home.pool({ strategy: 'least-used' }), 4)).toEqual(['id-1', 'id-1', 'id-2', 'id-0'])
  })

  it('follows priorities, the smallest number first', async () => {
    const home = await open(keys({ priority: 5 }, { priority: 1 }))
    expect(await selected(home.pool(), 1)).toEqual(['id-1'])
  })

  it('fill-first and random write nothing', async () => {
    const home = await open(three)
    const before = await home.text()
    await selected(home.pool(), 2)
    await selected(home.pool({ strategy: 'random' }), 2)
    expect(await home.text()).toBe(before)
    expect(await readdir(home.directory)).toEqual(['auth.json'])
  })
})

describe('a rest', () => {
  it.each<[ErrorReason, number]>([
    ['rate-limit', HOUR],
    ['billing', HOUR],
    ['auth', 5 * MINUTE],
  ])('after %s lasts %i ms, and the next key is used', async (reason, cooldownMs) => {
    const home = await open(three)
    const pool = home.pool()
    await pool.report(await next(pool), failed(reason))
    expect(await selected(pool, 1)).toEqual(['id-1'])
    await home.clock.advance(cooldownMs - 1)
    expect(await selected(home.pool(), 1)).toEqual(['id-1'])
    await home.clock.advance(1)
    expect(await selected(pool, 1)).toEqual(['id-0'])
  })

  it.each([
    ['the wait that was classified', { retryAfterMs: 90_000 }, 90_000],
    ['a header', { headers: { 'retry-after': '120' } }, 120_000],
    ['the words of the provider', { message: 'Your limit resets in 3 hr 20 min.' }, 12_000_000],
    ['the latest of what it says', { retryAfterMs: 1_000, message: `resets_at: ${NOW / 1_000 + 600}` }, 600_000],
  ])('ends when %s says so', async (_, more, cooldownMs) => {
    const home = await open(three)
    const pool = home.pool()
    await pool.report(await next(pool), failed('rate-limit', more))
    expect((await pool.entries())[0]?.state).toEqual({
      type: 'cooling',
      untilMs: NOW + cooldownMs,
      reason: 'rate_limit',
    })
  })

  it('of a key that is refused heeds no header: no limit ends there', async () => {
    const home = await open(three)
    const pool = home.pool()
    await pool.report(await next(pool), failed('auth', { headers: { 'retry-after': '7200' } }))
    expect((await pool.entries())[0]?.state).toMatchObject({ untilMs: NOW + 5 * MINUTE })
  })

  it('is a minute for the only key, unless money ran out', async () => {
    for (const [reason, cooldownMs] of [
      ['rate-limit', MINUTE],
      ['auth', MINUTE],
      ['billing', HOUR],
    ] as const) {
      const home = await open(keys({}))
      const pool = home.pool()
      await pool.report(await next(pool), failed(reason))
      expect(await pool.select()).toBeNull()
      expect(await pool.usableAtMs()).toBe(NOW + cooldownMs)
    }
  })

  it('is never cut short by a later report', async () => {
    const home = await open(three)
    const pool = home.pool()
    const credential = await next(pool)
    await pool.report(credential, failed('rate-limit', { retryAfterMs: 2 * HOUR }))
    await pool.report(credential, failed('rate-limit', { retryAfterMs: 1_000 }))
    await pool.report(credential, { type: 'accepted' })
    expect((await pool.entries())[0]?.state).toMatchObject({ untilMs: NOW + 2 * HOUR })
  })

  it('is forgotten once the key worked again', async () => {
    const home = await open(three)
    const pool = home.pool()
    const credential = await next(pool)
    await pool.report(credential, failed('rate-limit', { message: 'too many' }))
    await home.clock.advance(HOUR)
    await pool.report(credential, { type: 'accepted' })
    expect((await entriesOf(home))[0]).toMatchObject({
      last_status: 'ok',
      last_error_code: null,
      last_error_reset_at: null,
    })
  })

  it('is not caused by failures that another key would not cure', async () => {
    const home = await open(three)
    const pool = home.pool()
    const before = await home.text()
    for (const reason of ['overloaded', 'server-error', 'timeout', 'context-overflow', 'connection'] as const)
      await pool.report(await next(pool), failed(reason, { shouldRotateCredential: false }))
    expect(await home.text()).toBe(before)
  })

  it('keeps the words of the provider without the key in them', async () => {
    const home = await open(three)
    const pool = home.pool()
    const credential = await next(pool)
    await pool.report(credential, failed('billing', { message: `Key ${credential.secret}\n has no credit` }))
    expect((await pool.entries())[0]?.lastError).toBe('Key [REDACTED] has no credit')
  })
})

describe('a dead key', () => {
  it('is not used again until it is another one', async () => {
    const home = await open(keys({}))
    const pool = home.pool()
    await pool.report(await next(pool), failed('auth-permanent', { shouldRotateCredential: false }))
    await home.clock.advance(1_000 * HOUR)
    expect([await pool.select(), await pool.usableAtMs()]).toEqual([null, null])
    expect(await states(pool)).toEqual(['dead'])
  })

  it('stays dead when an older call reports a rest', async () => {
    const home = await open(three)
    const pool = home.pool()
    const credential = await next(pool)
    await pool.report(credential, failed('auth-permanent'))
    await pool.report(credential, failed('rate-limit'))
    expect((await states(pool))[0]).toBe('dead')
  })

  it('comes back when its variable holds another value', async () => {
    const home = await open()
    const borrowed = (secret: string) => ({ borrowed: [{ source: 'env:P_KEY', secret }] })
    const pool = home.pool(borrowed('first-secret-value'))
    await pool.report(await next(pool), failed('auth-permanent'))
    expect(await home.pool(borrowed('first-secret-value')).select()).toBeNull()
    expect((await home.pool(borrowed('second-secret-value')).select())?.secret).toBe('second-secret-value')
  })
})

describe('a borrowed key', () => {
  const borrowed = [
    { source: 'env:P_KEY', secret: 'sk-from-the-environment-1' },
    { source: 'config:lab', secret: 'sk-from-the-config-2' },
  ]

  it('is used before the file knows it, and never written to it', async () => {
    for (const strategy of POOL_STRATEGIES) {
      const home = await open(keys({ priority: 7 }))
      const pool = home.pool({ borrowed, strategy })
      for (let round = 0; round < 6; round++) {
        const credential = await pool.select()
        if (credential) await pool.report(credential, failed('rate-limit'))
      }
      expect(await states(pool)).toEqual(['cooling', 'cooling', 'cooling'])
      expect(await home.text()).not.toMatch(/sk-from/)
      expect((await entriesOf(home)).find(({ source }) => source === 'env:P_KEY')).toMatchObject({
        label: 'P_KEY',
        auth_type: 'api_key',
        secret_source: 'env',
        secret_fingerprint: expect.stringMatching(/^sha256:[0-9a-f]{16}$/),
        last_status: 'exhausted',
      })
    }
  })

  it('keeps its rest in another process', async () => {
    const home = await open()
    const pool = home.pool({ borrowed })
    await pool.report(await next(pool), failed('billing'))
    expect((await home.pool({ borrowed }).select())?.secret).toBe(borrowed[1]!.secret)
  })

  it('is not handed out where it is not set, and its record stays', async () => {
    const home = await open()
    const pool = home.pool({ borrowed })
    await pool.report(await next(pool), failed('billing'))
    const elsewhere = home.pool()
    expect(await elsewhere.select()).toBeNull()
    expect(await elsewhere.usableAtMs()).toBeNull()
    expect(await states(elsewhere)).toEqual(['absent'])
  })

  it('counts once when two variables hold it', async () => {
    const home = await open()
    const twins = [borrowed[0]!, { source: 'env:OTHER', secret: borrowed[0]!.secret }]
    expect(await home.pool({ borrowed: twins }).entries()).toHaveLength(1)
  })

  it('that an older program wrote out in full is taken out of the file by the next write', async () => {
    const home = await open(keys({ source: 'env:P_KEY', access_token: borrowed[0]!.secret }))
    const pool = home.pool({ borrowed })
    await pool.report(await next(pool), failed('billing'))
    expect(await home.text()).not.toMatch(/sk-from/)
  })
})

describe('the file', () => {
  const existing = () => readFile(join(import.meta.dirname, '__fixtures__/existing-auth.json'), 'utf8')

  it('of an existing home is understood as it is', async () => {
    const home = await open(await existing())
    const env = [{ source: 'env:OPENROUTER_API_KEY', secret: 'sk-or-env-0123456789' }]
    const router = home.pool({ provider: 'openrouter', borrowed: env })
    expect((await router.entries()).map(({ label, hint, state }) => [label, hint, state.type])).toEqual([
      ['OPENROUTER_API_KEY', '6789', 'ready'],
      ['work', 'cdef', 'cooling'],
      ['spare', 'cdef', 'cooling'],
    ])
    await home.clock.advance(5 * MINUTE + 250)
    expect((await home.pool({ provider: 'openrouter' }).select())?.id).toBe('0a0b0c')
    const logins = await home.pool({ provider: 'anthropic' }).entries()
    expect(logins.map(({ label, type, state, expiresAtMs }) => [label, type, state.type, expiresAtMs])).toEqual([
      ['login', 'oauth', 'ready', NOW + 30 * MINUTE],
      ['gone', 'oauth', 'dead', null],
    ])
    const lab = home.pool({
      provider: 'custom:lab',
      borrowed: [{ source: 'config:lab', secret: 'lab-key-0123456789' }],
    })
    expect((await next(lab)).id).toBe('abcabc')
  })

  it('keeps everything that is not known, in its order, whatever is written', async () => {
    const home = await open(await existing())
    const before = await home.read()
    const pool = home.pool({ provider: 'openrouter', strategy: 'round-robin' })
    await home.clock.advance(2 * HOUR)
    const credential = await next(pool)
    await pool.report(credential, failed('rate-limit'))
    const after = await home.read()
    expect(Object.keys(after)).toEqual(Object.keys(before))
    expect({ ...after, credential_pool: null }).toEqual({ ...before, credential_pool: null })
    const [was, is] = [before, after].map((document) => document['credential_pool'] as Record<string, JsonObject[]>)
    expect({ ...is, openrouter: null }).toEqual({ ...was, openrouter: null })
    expect(is!['openrouter']![1]).toMatchObject({ colour: 'green', last_status: 'exhausted' })
    expect(is!['openrouter']![2]).toEqual(was!['openrouter']![2])
  })

  it('and its locks are for its owner alone', async () => {
    const home = await open()
    const pool = home.pool({ borrowed: [{ source: 'env:P_KEY', secret: 'sk-from-the-environment' }] })
    await pool.report(await next(pool), failed('billing'))
    expect((await stat(home.path)).mode & 0o777).toBe(0o600)
    expect((await stat(`${home.path}.locks`)).mode & 0o777).toBe(0o700)
    expect((await readdir(home.directory)).toSorted()).toEqual(['auth.json', 'auth.json.locks'])
  })

  it('that others can read is reported, and closed by the next write', async () => {
    const home = await open(three)
    await chmod(home.path, 0o644)
    const pool = home.pool()
    await pool.report(await next(pool), failed('billing'))
    expect(home.problems).toEqual([`Others can read ${home.path}. Run: chmod 600 ${home.path}`])
    expect((await stat(home.path)).mode & 0o777).toBe(0o600)
  })

  it.each([
    ['{"credential_pool": {"p": [{"id": "x", "access_token": "sk-hidden-0123456789"', 'it is not valid JSON'],
    ['[1, 2]', 'it is not a JSON object'],
    ['{"credential_pool": []}', 'its credential_pool is not an object'],
    ['{"credential_pool": {"p": {"access_token": "sk-hidden-0123456789"}}}', 'its credential_pool."p" is not a list'],
  ])(
    'that is malformed (%s) is kept aside under another name, reported once, and nothing of it is lost',
    async (text, why) => {
      const home = await open(text)
      await chmod(home.path, 0o644)
      const borrowed = [{ source: 'env:P_KEY', secret: 'sk-from-the-environment' }]
      const pool = home.pool({ borrowed })
      await pool.report(await next(pool), failed('rate-limit'))
      expect(await states(home.pool({ borrowed }))).toEqual(['cooling'])
      const aside = (await readdir(home.directory)).filter((name) => name.includes('broken'))
      expect(aside).toEqual(['auth.json.broken-2026-11-21-090000'])
      expect(await readFile(join(home.directory, aside[0]!), 'utf8')).toBe(text)
      expect((await stat(join(home.directory, aside[0]!))).mode & 0o777).toBe(0o600)
      expect(home.problems).toEqual([expect.stringContaining(`could not be used: ${why}. It is kept as `)])
      expect(home.problems[0]).not.toContain('sk-hidden')
    },
  )

  it('that is empty is like none', async () => {
    const home = await open('\n')
    expect(await home.pool().entries()).toEqual([])
    expect(await readdir(home.directory)).toEqual(['auth.json'])
  })

  it('that is malformed a second time takes no place of the first', async () => {
    const home = await open('one')
    await home.pool().entries()
    await home.write('two')
    await home.pool().entries()
    const texts = (await readdir(home.directory))
      .filter((name) => name.includes('broken'))
      .map((name) => readFile(join(home.directory, name), 'utf8'))
    expect((await Promise.all(texts)).toSorted()).toEqual(['one', 'two'])
  })

  it('that cannot be written leaves the pool working in this process', async () => {
    const home = await open(three)
    // Not even the superuser can make a lock in a file.
    await writeFile(`${home.path}.locks`, '')
    const pool = home.pool({ strategy: 'round-robin' })
    await pool.report(await next(pool), failed('rate-limit'))
    expect(await selected(pool, 1)).toEqual(['id-1'])
    await pool.report(await next(pool), failed('billing'))
    expect(await states(pool)).toEqual(['cooling', 'cooling', 'ready'])
  })
})

describe('a key for one server', () => {
  it('never goes to another', async () => {
    const home = await open(keys({ base_url: 'https://one.example/v1' }, { base_url: 'https://two.example/v1' }, {}))
    expect(await selected(home.pool({ baseUrl: 'https://two.example/other' }), 1)).toEqual(['id-1'])
    expect(await selected(home.pool({ baseUrl: 'https://two.example.evil.dev/v1' }), 1)).toEqual(['id-2'])
  })
})

it('tells of each secret before it hands it out', async () => {
  const home = await open(three)
  const secrets: string[] = []
  const pool = home.pool({ onSecret: (secret) => secrets.push(secret) })
  await next(pool)
  expect(secrets).toEqual(['secret-of-number-0'])
})

it('gives nothing to a call that is aborted', async () => {
  const home = await open(three)
  await expect(home.pool().select({ signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' })
})
