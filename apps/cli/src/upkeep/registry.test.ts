import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { findRegistry, isNewer, latestVersion } from './registry.js'

async function machine(files: Readonly<Record<string, string>>) {
  const folder = await mkdtemp(join(tmpdir(), 'hermes-registry-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await mkdir(join(folder, 'node', 'etc'), { recursive: true })
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return (env: Record<string, string> = {}) =>
    findRegistry({ env, userHome: folder, nodePath: join(folder, 'node', 'bin', 'node') })
}

it.each([
  ['nothing is set', {}, {}, 'https://registry.npmjs.org/'],
  ['the person set one', { '.npmrc': '; mine\nregistry = http://a.test/npm\n' }, {}, 'http://a.test/npm/'],
  ['npm as a whole has one', { 'node/etc/npmrc': 'registry=http://g.test/' }, {}, 'http://g.test/'],
  [
    'the environment has one',
    { '.npmrc': 'registry=http://a.test/' },
    { npm_config_registry: 'http://e.test' },
    'http://e.test/',
  ],
  [
    'the scope has its own',
    { '.npmrc': '@hermes:registry=http://s.test/\nregistry=http://a.test/' },
    { npm_config_registry: 'http://e.test' },
    'http://s.test/',
  ],
  ['a variable is named', { '.npmrc': 'registry=http://${WHERE}/' }, { WHERE: 'v.test' }, 'http://v.test/'],
])('asks the registry of npm where %s', async (_, files, env, url) => {
  expect((await (await machine(files))(env)).url).toBe(url)
})

it('says what is no address', async () => {
  const find = await machine({ '.npmrc': 'registry=file:///etc' })
  await expect(find()).rejects.toThrow('npm is set up for the registry "file:///etc", which is no address.')
})

it.each([
  ['1.0.1', '1.0.0', true],
  ['1.0.0', '1.0.0', false],
  ['0.9.9', '1.0.0', false],
  ['1.10.0', '1.9.0', true],
  ['1.0.0', '1.0.0-beta.1', true],
  ['1.0.0-beta.10', '1.0.0-beta.9', true],
  ['1.0.0-beta.1', '1.0.0', false],
])('%s after %s: %s', (one, other, expected) => {
  expect(isNewer(one, other)).toBe(expected)
})

it('names a registry without its login', async () => {
  const find = await machine({ '.npmrc': 'registry=ftp://me:canary-7@a.test/' })
  await expect(find()).rejects.toThrow('"ftp://a.test"')
  const down = () => Promise.reject(new Error('it is down'))
  await expect(latestVersion('http://me:canary-7@a.test/', 'x', down)).rejects.toThrow(
    /^http:\/\/a\.test does not answer/,
  )
})
