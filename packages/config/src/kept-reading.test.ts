import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { appendPermission, type ConfigProblem, homeLayout, loadConfig, loadPermissions } from './index.js'

let home = ''
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'hermes-config-'))
})
afterEach(() => rm(home, { recursive: true }))

const kept = () => join(homeLayout(home).backups, 'config', 'config.yaml.read')
const write = (text: string) => writeFile(homeLayout(home).config, text)

/** All that a load says, with what its functions say of places there are and places there are not. */
async function whole(env: Readonly<Record<string, string>> = {}) {
  const { own, ...loaded } = await loadConfig({ home, env })
  const paths = [[], ['a'], ['a', 'b'], ['a', 0], ['a', 'b', 'missing'], ['list', 1], ['number']]
  const places = own.map(({ key, value, written, unset, sourceOf, problem }) => ({
    ...{ key, value, written, unset },
    places: paths.map((path): readonly [string | undefined, ConfigProblem] => [sourceOf(path), problem(path, 'x')]),
  }))
  return { ...loaded, places }
}

const TEXTS = {
  'values, numbers and places': [
    'model: openai/gpt',
    'agent:',
    '  max_turns: 0x10',
    'toolsets: [0123, web] # two',
    'mine:',
    '  a: {b: 1_000, c: [1, 2]}',
    '  number: 007',
    '  list:',
    '    - x',
    '    - 010',
  ].join('\n'),
  'merges and aliases': 'base: &base {a: {b: 1}}\nmine:\n  <<: *base\n  list: [1, *base]\n',
  'variables that are not set': `mine:\n  a: \${NOBODY_SET_IT}\nother: {a: "\${IS_SET}"}\n`,
  'a warning, and a key near another one': 'terminal:\n  isolaton: off\nmine: {a: 1}\n',
  'values that JSON has no word for': 'mine: {a: .nan, b: .inf, number: -0.0}\n',
  'names of JavaScript': '__proto__: {a: 1}\nmine: {constructor: {a: 1}}\n',
  'nothing but a comment': '# nothing\n',
  'a value in itself': 'mine: &mine\n  a: *mine\n',
}

describe('a configuration that is read again', () => {
  it.each(Object.entries(TEXTS))('says the same as the first time: %s', async (_, text) => {
    await write(text)
    const first = await whole({ IS_SET: 'yes' })
    expect(await whole({ IS_SET: 'yes' })).toEqual(first)
  })

  it('names a value in itself as a mistake', async () => {
    await write(TEXTS['a value in itself'])
    const [problem] = (await whole()).problems
    expect(problem).toMatchObject({ line: 2, message: expect.stringContaining('A value holds itself by an alias.') })
  })

  it('is read from what is kept, which a change of the file ends', async () => {
    await write('model: one\n')
    await whole()
    expect((await stat(kept())).mode & 0o777).toBe(0o600)
    const text = await readFile(kept(), 'utf8')
    await writeFile(kept(), text.replace('"one"', '"kept"'))
    expect((await whole()).config.model).toEqual({ default: 'kept' })
    await write('model: two\n')
    expect((await whole()).config.model).toEqual({ default: 'two' })
  })

  it('is read from the file where what is kept is damaged or of another form', async () => {
    await write('model: one\n')
    const first = await whole()
    const text = await readFile(kept(), 'utf8')
    for (const damaged of ['', '{', 'null', '[]', text.slice(0, -9), text.replace('"places"', '"spots"')]) {
      await writeFile(kept(), damaged)
      expect(await whole()).toEqual(first)
    }
  })

  it('says all that is wrong once the rules have changed', async () => {
    await write('agent:\n  max_turns: 5\n')
    await whole()
    const text = await readFile(kept(), 'utf8')
    await writeFile(kept(), text.replace('"max_turns":5', '"max_turns":"many"'))
    const { problems } = await whole()
    expect(problems).toMatchObject([
      { line: 2, column: 14, message: expect.stringContaining('agent.max_turns must be') },
    ])
  })

  it('says of permissions what the file says', async () => {
    const { permissions } = homeLayout(home)
    await writeFile(permissions, '# mine\n"bash(git *)": allow\n"bash(rm *)": never\n"write(x)": deny\n')
    const patterns = ['bash(git *)', 'bash(rm *)', 'write(x)', 'missing']
    const all = async () => {
      const { sourceOf, ...rest } = await loadPermissions({ home })
      return { ...rest, places: patterns.map(sourceOf) }
    }
    const first = await all()
    expect(await all()).toEqual(first)
    const file = join(homeLayout(home).backups, 'config', 'permissions.yaml.read')
    await writeFile(file, (await readFile(file, 'utf8')).replace('"deny"', '"ask"'))
    expect((await all()).rules['write(x)']).toBe('ask')
    await appendPermission({ home, pattern: 'write(y)', decision: 'allow' })
    expect((await all()).rules).toMatchObject({ 'write(x)': 'deny', 'write(y)': 'allow' })
  })
})
