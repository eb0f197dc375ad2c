import { access, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { loadConfig } from '@hermes/config'
import { type JsonObject, silentLogger } from '@hermes/contracts'
import { createFakeClock, type TemporaryHome, temporaryHome } from '@hermes/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { configuredModels } from '../home/settings.js'
import { findCredentials, oauthSettings, openCredentials, poolStrategy } from './credentials.js'
import { chooseModel, type ModelChoiceOptions } from './model-choice.js'

const homes: TemporaryHome[] = []
afterEach(async () => {
  for (const home of homes.splice(0)) await home.remove()
})
const newHome = async () => {
  const home = await temporaryHome()
  homes.push(home)
  return home.path
}

interface Home {
  readonly auth?: JsonObject
  readonly config?: string
  readonly secrets?: Readonly<Record<string, string>>
}

const key = (label: string, more: JsonObject = {}): JsonObject => ({
  id: label,
  label,
  auth_type: 'api_key',
  source: 'manual',
  access_token: `sk-stored-${label}`,
  ...more,
})

/** Chooses a model in a home and opens its keys. */
async function open({ auth, config: yaml, secrets = {} }: Home, requested: ModelChoiceOptions['requested'] = {}) {
  const home = await newHome()
  if (auth) await writeFile(join(home, 'auth.json'), JSON.stringify({ credential_pool: auth }), { mode: 0o600 })
  if (yaml) await writeFile(join(home, 'config.yaml'), yaml)
  const { config } = await loadConfig({ home, env: {} })
  const clock = createFakeClock(Date.UTC(2026, 10, 21))
  const stored = await findCredentials(home, clock)
  const notified: string[] = []
  const credentials = openCredentials(
    {
      home,
      config,
      secrets,
      fetchTo: () => fetch,
      clock,
      logger: silentLogger,
      onSecret: (secret) => notified.push(secret),
    },
    stored,
  )
  const choose = () =>
    chooseModel({
      requested: { model: 'm', ...requested },
      session: null,
      ...configuredModels(config),
      secrets,
      stored: stored.providers,
    })
  return { home, config, stored, notified, choose, source: () => credentials.sourceFor(choose()) }
}

describe('the keys of a choice', () => {
  it('are the plain one where there is no other', async () => {
    const { source, stored, home } = await open({ secrets: { OPENAI_API_KEY: 'sk-env-one' } }, { provider: 'openai' })
    expect(await source()).toBeNull()
    expect(stored).toMatchObject({ providers: {}, problems: [] })
    await expect(access(join(home, 'auth.json.locks'))).rejects.toThrow()
  })

  it('are a pool once auth.json has one for the provider, the variable first', async () => {
    const home = { auth: { openai: [key('a', { priority: 1 })] }, secrets: { OPENAI_API_KEY: 'sk-env-one' } }
    const { source, notified } = await open(home, { provider: 'openai' })
    expect((await (await source())!.select())?.secret).toBe('sk-env-one')
    expect(notified).toEqual(['sk-env-one'])
    expect(await (await open(home, { provider: 'anthropic', baseUrl: 'http://127.0.0.1:9' })).source()).toBeNull()
  })

  it('are a pool of the variables of the provider when several are set', async () => {
    const secrets = { ANTHROPIC_API_KEY: 'sk-env-one', ANTHROPIC_TOKEN: 'sk-env-two' }
    const { source } = await open({ secrets }, { provider: 'anthropic' })
    const pool = (await source())!
    const first = (await pool.select())!
    const verdict = { reason: 'billing', shouldRotateCredential: true } as never
    await pool.report(first, { type: 'failed', verdict })
    expect([first.secret, (await pool.select())?.secret]).toEqual(['sk-env-one', 'sk-env-two'])
  })

  it('are those that auth.json has by now', async () => {
    const { home, source, stored } = await open({ secrets: { OPENAI_API_KEY: 'sk-env-one' } }, { provider: 'openai' })
    expect(await source()).toBeNull()
    await writeFile(join(home, 'auth.json'), JSON.stringify({ credential_pool: { openai: [key('a')] } }), {
      mode: 0o600,
    })
    await stored.look()
    expect(await (await source())!.select()).not.toBeNull()
  })

  it('never hold a variable of another tool as a spare', async () => {
    const secrets = { COPILOT_GITHUB_TOKEN: 'gho_own', GH_TOKEN: 'gho_other', GITHUB_TOKEN: 'ghp_third' }
    expect(await (await open({ secrets }, { provider: 'copilot' })).source()).toBeNull()
  })

  it('of an endpoint of config.yaml are under its own name, and go nowhere else', async () => {
    const config = 'providers: {lab: {base_url: "https://lab.example/v1"}}\n'
    const auth = { 'custom:lab': [key('elsewhere', { base_url: 'https://other.example/v1' }), key('here')] }
    const { source } = await open({ auth, config, secrets: { OPENAI_API_KEY: 'sk-not-for-lab' } }, { provider: 'lab' })
    expect((await (await source())!.select())?.secret).toBe('sk-stored-here')
  })

  it('follow the strategy of config.yaml, under any name of the provider', async () => {
    const config = 'credential_pool_strategies: {openai: round_robin, "custom:lab": least_used}\n'
    const opened = await open({ auth: { openai: [key('a'), key('b')] }, config }, { provider: 'openai' })
    const pool = (await opened.source())!
    expect([await pool.select(), await pool.select()].map((credential) => credential?.id)).toEqual(['a', 'b'])
    expect(poolStrategy(opened.config, 'lab')).toBe('least-used')
    expect(poolStrategy(opened.config, 'zai')).toBe('fill-first')
  })
})

describe('a choice', () => {
  it('needs no variable when auth.json has a key', async () => {
    const { choose } = await open({ auth: { openai: [key('a')] } }, { provider: 'openai' })
    expect(choose()).toMatchObject({ provider: 'openai', apiKey: null, baseUrl: 'https://api.openai.com/v1' })
  })

  it('falls on a provider with a key in auth.json when nothing else is said', async () => {
    expect((await open({ auth: { zai: [key('a')] } })).choose()).toMatchObject({ provider: 'zai' })
  })

  it('goes to the server that the stored key is for', async () => {
    const auth = { 'kimi-coding': [key('a', { base_url: 'https://api.kimi.com/coding' })] }
    expect((await open({ auth }, { provider: 'kimi-coding' })).choose().baseUrl).toBe('https://api.kimi.com/coding')
  })

  it('says that a key is missing when auth.json has none for it', async () => {
    const { choose } = await open({ auth: { zai: [key('a')] } }, { provider: 'openai' })
    expect(choose).toThrow(expect.objectContaining({ code: 'models.no_key' }))
  })
})

it('a malformed auth.json is one problem, and nothing else stops', async () => {
  const home = await newHome()
  await writeFile(join(home, 'auth.json'), '{"credential_pool": [', { mode: 0o600 })
  const stored = await findCredentials(home, createFakeClock())
  expect(stored).toMatchObject({ providers: {}, problems: [expect.stringContaining('auth.json.broken-')] })
})

it('a login takes its client and endpoints from config.yaml', async () => {
  const yaml =
    'providers: {openai: {oauth: {client_id: mine, issuer: "https://login.example", redirect_port: 8085}}, lab: {}}\n'
  const { config } = await open({ config: yaml })
  expect(oauthSettings(config, 'openai')).toMatchObject({
    clientId: 'mine',
    issuer: 'https://login.example',
    redirectPort: 8085,
  })
  expect(oauthSettings(config, 'lab')).toBeNull()
})
