import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { getConfigValue, homeLayout, loadConfig } from './index.js'
import { fieldAt, type SCHEMA } from './schema.js'
import { POLICY_KEYS } from './strictest.js'

let home = ''
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'hermes-bounds-'))
})
afterEach(() => rm(home, { recursive: true }))

async function load(text: string) {
  await writeFile(homeLayout(home).config, text)
  return loadConfig({ home, env: {} })
}

/** The values of all keys that bound the agent and are not the default. */
function bounds(config: Parameters<typeof getConfigValue>[0], defaults: Parameters<typeof getConfigValue>[0]) {
  const keys = Object.keys(POLICY_KEYS).map((key) => [key, getConfigValue(config, key)] as const)
  return Object.fromEntries(
    keys.filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(getConfigValue(defaults, key))),
  )
}

const MISTAKES = [
  ['a wrong value', 'agent: {max_turns: 0}\n'],
  ['no YAML', 'model: [a\n'],
  ['a quote that stays open', 'timezone: "UTC\n'],
  ['a tab', 'agent:\n\tmax_turns: 5\n'],
] as const

const STRICT = `approvals: {mode: ask, deny: ["git push *"]}
command_allowlist: [ls]
terminal: {isolation: on, isolation_network: false, isolation_write: [/a], docker_volumes: [/v:/v]}
security: {allow_private_urls: false, allowed_ranges: [10.1.0.0/16], website_blocklist: {enabled: true, domains: [a.example]}}
agent: {disabled_toolsets: [web]}
gateway: {api_server: {key: sesame}}
budget: {day: {usd: 1}}
`
const LOOSE = `approvals: {mode: off, deny: ["rm *"]}
command_allowlist: [ls, cat]
terminal: {isolation: off, isolation_network: true, isolation_write: [/a, /b], docker_volumes: [/v:/v, /w:/w]}
security: {allow_private_urls: true, allowed_ranges: [10.1.0.0/16, 10.2.0.0/16], website_blocklist: {domains: [b.example]}}
agent: {disabled_toolsets: [image_gen]}
budget: {day: {usd: 5}}
`
const BOTH = {
  'approvals.mode': 'ask',
  command_allowlist: ['ls'],
  'terminal.isolation': 'on',
  'terminal.isolation_network': 'off',
  'terminal.isolation_write': ['/a'],
  'terminal.docker_volumes': ['/v:/v'],
  'security.allow_private_urls': false,
  'security.allowed_ranges': ['10.1.0.0/16'],
  'security.website_blocklist.enabled': true,
  'gateway.api_server.key': 'sesame',
  'budget.day.usd': 1,
}

describe('a mistake in config.yaml', () => {
  // A key stands once in a file: a mistake beside `agent` would be one in it.
  const beside = (mistake: string, text: string) => `${mistake}${text.replace(/^agent:.*\n/m, '')}`

  it.each(MISTAKES)(
    'loosens no bound, whether the file or the last good copy is the stricter one: %s',
    async (_, mistake) => {
      for (const [good, broken] of [
        [STRICT, LOOSE],
        [LOOSE, STRICT],
      ] as const) {
        await rm(homeLayout(home).backups, { recursive: true, force: true })
        await load(good)
        const { config, source, asksAlways } = await load(beside(mistake, broken))
        expect([source, asksAlways]).toEqual(['last-good', false])
        expect(Object.fromEntries(Object.keys(BOTH).map((key) => [key, getConfigValue(config, key)]))).toEqual(BOTH)
        expect(config.approvals.deny.toSorted()).toEqual(['git push *', 'rm *'])
        expect(config.security.website_blocklist.domains.toSorted()).toEqual(['a.example', 'b.example'])
      }
    },
  )

  it.each(MISTAKES)('keeps what the file forbids where no good copy is: %s', async (_, mistake) => {
    const defaults = (await loadConfig({ home, env: {} })).config
    const { config } = await load(beside(mistake, STRICT))
    const { 'agent.disabled_toolsets': _absent, ...strict } = bounds((await load(STRICT)).config, defaults)
    // What loosens counts only where the whole file can be read.
    expect({ ...strict, ...bounds(config, defaults) }).toEqual(strict)
    expect(config.approvals.deny).toEqual(['git push *'])
    expect(config.terminal.isolation).toBe('on')
    expect(config.security.website_blocklist).toEqual({ enabled: true, domains: ['a.example'] })
  })

  it.each([
    ['of the file', 'approvals: {mode: off\n'],
    ['of the section', 'approvals: [ask]\n'],
    ['of the key', 'approvals: {mode: sometimes}\n'],
    ['of an entry', 'approvals: {deny: [a, {b: c}]}\n'],
    ['of a map around the key', 'security: {website_blocklist: yes please}\n'],
  ])('makes every action ask where neither the file nor a copy says the bound: a mistake %s', async (_, text) => {
    const { asksAlways, problems } = await load(text)
    expect(asksAlways).toBe(true)
    expect(problems[0]!.message).toMatch(/config\.yaml:\d:\d+: .* Until it is fixed, every action asks\.$/)
    await rm(homeLayout(home).config)
    await load('timezone: UTC\n')
    expect(await load(text)).toMatchObject({ asksAlways: false, source: 'last-good' })
  })

  it('elsewhere asks for nothing more, and the rest of the file counts', async () => {
    const { asksAlways, config, problems } = await load('timezone: [a]\nterminal: {backend: docker}\n')
    expect([asksAlways, config.terminal.backend, problems.length]).toEqual([false, 'docker', 1])
  })

  it('is one line that names file, line, and at which keys the file counts before the copy', async () => {
    await load('timezone: UTC\n')
    const { problems } = await load('approvals:\n  deny: ["rm *"]\nagent: {max_turns: 0}\nlint: {timeout: 0}\n')
    expect(problems.map(({ message }) => message.replace(home, ''))).toEqual([
      '/config.yaml:3:20: agent.max_turns must be a whole number of at least 1, found 0. The last good values are used, and those of the file where they are stricter (approvals.deny); nothing was overwritten.',
      expect.stringMatching(/:4:17: lint\.timeout must be .*, found 0\.$/),
    ])
  })
})

describe('at every start', () => {
  it('a line names sections that exist nowhere, and keys near a known one where they would close or show something', async () => {
    const text = `agents: {max_turns: 5}
nonsense: {a: 1}
mcp_servers: {}
display: {skin: mono, busy_input_mod: steer}
approvals: {deny: [], dney: ["rm *"], cron_mode: deny}
security: {allow_private_url: false, tirith_enabled: true, website_blocklist: {domain: [a]}}
terminal: {isolaton: on, home_mode: auto}
`
    const { problems, config } = await load(text)
    expect(problems.map(({ message }) => message.replace(/^.*config\.yaml:/, ''))).toEqual([
      '1:1: agents is not a known key. Did you mean agent?',
      '2:1: nonsense is not a known key; it has no effect.',
      '4:23: display.busy_input_mod is not a known key. Did you mean display.busy_input_mode?',
      '5:23: approvals.dney is not a known key. Did you mean approvals.deny?',
      '6:12: security.allow_private_url is not a known key. Did you mean security.allow_private_urls?',
      '6:80: security.website_blocklist.domain is not a known key. Did you mean security.website_blocklist.domains?',
      '7:12: terminal.isolaton is not a known key. Did you mean terminal.isolation?',
    ])
    expect(config).toMatchObject({ nonsense: { a: 1 }, approvals: { mode: 'ask' } })
  })
})

describe('the table of keys that bound the agent', () => {
  const inside = (section: string) =>
    Object.keys((fieldAt(section.split('.')) as typeof SCHEMA).fields).map((key) => `${section}.${key}`)

  it('names keys that exist, and all that approve, isolate, or bound what is reached', () => {
    for (const key of Object.keys(POLICY_KEYS)) expect(fieldAt(key.split('.')), key).not.toBeNull()
    const bounding = [
      ...inside('approvals').filter((key) => !/\.(?:timeout|smart_policy)$/.test(key)),
      ...inside('security').filter((key) => fieldAt(key.split('.'))?.type !== 'section'),
      ...inside('security.website_blocklist'),
      ...inside('terminal').filter((key) => /isolation|network/.test(key)),
    ]
    expect(bounding.filter((key) => !Object.hasOwn(POLICY_KEYS, key))).toEqual([])
  })
})
