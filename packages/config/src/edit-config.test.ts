import { lstat, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { changeConfigList, getConfigValue, homeLayout, loadConfig, setConfigValue, unsetConfigValue } from './index.js'

let home = ''
let file = ''
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'hermes-config-'))
  file = homeLayout(home).config
})
afterEach(() => rm(home, { recursive: true }))

const write = (text: string) => writeFile(file, text)
const read = () => readFile(file, 'utf8')
const set = (key: string, value: string) => setConfigValue({ home, key, value })
const get = async (key: string) => getConfigValue((await loadConfig({ home, env: {} })).config, key)
const fails = (code: string, text: string) => expect.objectContaining({ code, message: expect.stringContaining(text) })

const SAMPLE = `# head

model: # about the model
  # the good one
  default: gpt-5 # cheap
toolsets: # which
  # first
  - hermes-cli # one
  - web # two
agent: {max_turns: 90} # flow
display: # look
  skin: "dark" # quoted
# tail
`

describe('setConfigValue', () => {
  it('changes one value and no other byte', async () => {
    const text = `# head\n\nmodel:\n  # the good one\n  default: gpt-5 # cheap\nagent: {max_turns: 90} # flow\n\ntimezone: "A" # here\n`
    await write(text)
    await set('model.default', 'other')
    await set('agent.max_turns', '7')
    await set('timezone', 'B')
    expect(await read()).toBe(text.replace('gpt-5', 'other').replace('90', '7').replace('A', 'B'))
  })

  it('keeps the comments of list items that stay', async () => {
    await write(SAMPLE)
    await set('toolsets', 'web, hermes-cli, extra')
    expect(await get('toolsets')).toEqual(['web', 'hermes-cli', 'extra'])
    for (const comment of SAMPLE.match(/#.*/g)!) expect(await read()).toContain(comment)
  })

  it.each([
    ['line endings', 'agent:\r\n  max_turns: 5\r\n'],
    ['wide indentation', 'agent:\n    max_turns: 5\n'],
    ['lists that are not indented', 'toolsets:\n- a\nagent:\n  max_turns: 5\n'],
    ['lists that are indented', 'toolsets:\n  - a\nagent:\n  max_turns: 5\n'],
  ])('keeps %s', async (_, text) => {
    await write(text)
    await set('agent.max_turns', '6')
    expect(await read()).toBe(text.replace('5', '6'))
  })

  it('makes a private file in a private folder where there was none', async () => {
    home = join(home, 'new', 'home')
    await set('model', 'gpt-5')
    expect(await readFile(homeLayout(home).config, 'utf8')).toBe('model:\n  default: gpt-5\n')
    expect((await stat(homeLayout(home).config)).mode & 0o777).toBe(0o600)
    expect((await stat(home)).mode & 0o777).toBe(0o700)
    expect(await readdir(home)).toEqual(['config.yaml'])
    home = join(home, '..', '..')
  })

  it('writes through a symbolic link', async () => {
    const real = join(home, 'real.yaml')
    await writeFile(real, 'timezone: A\n')
    await symlink(real, file)
    await set('timezone', 'B')
    expect((await lstat(file)).isSymbolicLink()).toBe(true)
    expect(await readFile(real, 'utf8')).toBe('timezone: B\n')
  })

  it('makes a map of a plain model, and sets the main key of one that is a map', async () => {
    await write('model: gpt-5 # mine\n')
    await set('model.provider', 'openai')
    expect(await get('model')).toEqual({ default: 'gpt-5', provider: 'openai' })
    expect(await read()).toContain('# mine')
    await set('model', 'other')
    expect(await get('model')).toEqual({ default: 'other', provider: 'openai' })
  })

  it('sets the other name of a key where the file uses it', async () => {
    await write('model:\n  model: a # name\n')
    await set('model.default', 'b')
    expect(await read()).toBe('model:\n  model: b # name\n')
  })

  it('changes a list and leaves the items that stay as they are, references too', async () => {
    const ref = '$' + '{KEY}'
    const kept = `  - {provider: a, key: "${ref}"} # first\n`
    await write(`fallback_providers:\n${kept}  - provider: b\n`)
    await changeConfigList({
      home,
      key: 'fallback_providers',
      change: (items) => [...items.slice(0, 1), { provider: 'c' }],
    })
    expect(await read()).toBe(`fallback_providers:\n${kept}  - provider: c\n`)
    await write('')
    await changeConfigList({ home, key: 'fallback_providers', change: (items) => [...items, 'x'] })
    expect(await get('fallback_providers')).toEqual(['x'])
  })

  it.each([
    ['agent.max_turns', '12', 12],
    ['lint.enabled', 'no', false],
    ['compression.threshold', '0.6', 0.6],
    ['budget.day.usd', '2.50', 2.5],
    ['budget.session.tokens', '1_000_000', 1_000_000],
    ['approvals.mode', 'manual', 'ask'],
    ['approvals.mode', 'off', 'off'],
    ['approvals.deny', '["a, b","c"]', ['a, b', 'c']],
    ['approvals.deny', 'a,b', ['a', 'b']],
    ['approvals.deny', '', []],
    ['model.api_key', '0012', '0012'],
    ['model.default', 'true', 'true'],
    ['timezone', '# x: "y"\n- z', '# x: "y"\n- z'],
    ['providers.mine', '{"base_url":"http://a"}', { base_url: 'http://a' }],
    ['providers.mine.key_env', 'MINE', 'MINE'],
    ['moa.presets.compact', 'true', true],
    ['moa.presets.size', '007', '007'],
    ['moa.presets.a.b', '{"c":[1]}', { c: [1] }],
  ])('reads %s = %s as its type', async (key, value, expected) => {
    await set(key, value)
    expect(await get(key)).toEqual(expected)
  })

  it.each([
    ['agent.max_turns', 'many', 'agent.max_turns must be a whole number of at least 1, found the text "many"'],
    ['agent.max_turns', '0', 'at least 1'],
    ['agent', 'x', 'agent must be a map'],
    ['budget.day.usd', '0', 'a number above 0'],
    ['approvals.mode', 'never', 'one of ask, smart, off'],
    ['compression.threshold', '60', 'a number above 0 and at most 1'],
    ['display.busy_input_mode', 'wait', 'one of queue, steer, interrupt, background'],
    ['approvals.deny', '[1', 'a list of texts'],
    ['providers.mine', '{"base_url":[]}', 'providers.mine.base_url must be a text'],
    ['timezone.deep', 'x', 'timezone must be a map'],
  ])('refuses %s = %s and writes nothing', async (key, value, text) => {
    const before = 'timezone: UTC\n'
    await write(before)
    await expect(set(key, value)).rejects.toEqual(fails('config.invalid_value', text))
    expect(await read()).toBe(before)
  })

  it('names the nearest key for one it does not know, unless the file has it', async () => {
    await expect(set('agnet.max_turns', '5')).rejects.toEqual(fails('config.unknown_key', 'agent'))
    await expect(set('OPENAI_API_KEY', 'sk-1')).rejects.toEqual(fails('config.unknown_key', '.env'))
    await expect(set('agent.colour', 'red')).rejects.toEqual(
      fails('config.unknown_key', 'It would have no effect. Keys of agent: max_turns, '),
    )
    await expect(set('agent.max_turn', '5')).rejects.toEqual(fails('config.unknown_key', 'agent.max_turns?'))
    await expect(set('providers.mine.base_ur', 'x')).rejects.toEqual(
      fails('config.unknown_key', 'providers.mine.base_url?'),
    )
    await expect(set('agent..x', '5')).rejects.toEqual(fails('config.unknown_key', 'agent..x'))
    await write('mcp_servers: {}\n')
    await set('mcp_servers.a.command', 'x')
    expect(await get('mcp_servers')).toEqual({ a: { command: 'x' } })
  })

  it('refuses a broken file with file and line, and an edit that leaves wrong values', async () => {
    await write('agent: {\n')
    await expect(set('timezone', 'x')).rejects.toEqual(fails('config.broken', `${file}:`))
    await write(']'.repeat(100_000))
    await expect(set('timezone', 'x')).rejects.toThrow('more than 100 mistakes')
    await write('agent:\n  max_turns: many\n')
    await expect(set('timezone', 'x')).rejects.toEqual(fails('config.broken', `${file}:2:14:`))
    await set('agent.max_turns', '5')
    expect(await get('agent.max_turns')).toBe(5)
  })

  it('reads back what was set, and every comment survives', async () => {
    const value = fc
      .string({ unit: 'grapheme', minLength: 1 })
      .filter((text) => !text.includes('\r') && !text.includes('${'))
    const change = fc.oneof(
      fc.tuple(
        fc.constantFrom('model.default', 'model.base_url', 'terminal.cwd', 'providers.p.model', 'moa.presets.skin'),
        value,
      ),
      fc.tuple(fc.constantFrom('agent.max_turns', 'tool_output.max_lines'), fc.integer({ min: 1 }).map(String)),
      fc.tuple(fc.constantFrom('lint.enabled'), fc.boolean().map(String)),
      fc.tuple(
        fc.constantFrom('approvals.deny', 'command_allowlist'),
        fc.array(value).map((list) => JSON.stringify(list)),
      ),
    )
    const start = fc.constantFrom('', '# only this\n', 'model: m # plain\n', 'agent: # empty\n', SAMPLE)
    await fc.assert(
      fc.asyncProperty(start, fc.array(change, { minLength: 1, maxLength: 3 }), async (text, changes) => {
        await write(text)
        for (const [key, wanted] of changes) {
          await set(key, wanted)
          const found = await get(key)
          const shown = typeof found === 'string' ? found : JSON.stringify(found)
          if (key === 'moa.presets.skin' && typeof found !== 'string') expect(JSON.parse(wanted)).toEqual(found)
          else expect(shown).toBe(wanted)
        }
        const after = await read()
        for (const comment of text.match(/#.*/g) ?? []) expect(after).toContain(comment)
      }),
      { numRuns: Number(process.env['HERMES_TEST_RUNS'] ?? 25) },
    )
  })
})

describe('unsetConfigValue', () => {
  it('takes a key out and leaves the rest', async () => {
    await write(SAMPLE)
    await unsetConfigValue({ home, key: 'display.skin' })
    await unsetConfigValue({ home, key: 'model.default' })
    expect(await get('model.default')).toBeUndefined()
    expect(await read()).toContain('# tail')
    expect(await get('agent.max_turns')).toBe(90)
  })

  it('takes a model out that is a plain text, by either name', async () => {
    for (const key of ['model', 'model.default', 'model.model']) {
      await write('model: gpt-5\n')
      await unsetConfigValue({ home, key })
      expect(await get('model')).toEqual({})
    }
  })

  it('writes nothing for a key that is not there', async () => {
    await unsetConfigValue({ home, key: 'agent.max_turns' })
    expect(await readdir(home)).toEqual([])
  })
})
