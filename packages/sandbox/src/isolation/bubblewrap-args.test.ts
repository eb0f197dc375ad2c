import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { bubblewrapArgs } from './bubblewrap-args.js'
import type { Place } from './plan.js'

function setUp() {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'hermes-args-')))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  mkdirSync(join(home, 'work'))
  const args = (places: readonly Place[]) =>
    bubblewrapArgs(places, { home, network: true, env: {}, namespaces: { user: 4, pid: 5 }, descriptorOf: () => null })
  return { home, args }
}

it('mounts nothing for hidden files and folders of the home, however many they are', () => {
  const { home, args } = setUp()
  const folders = Array.from({ length: 80 }, (_, index) => join(home, `.tool-${index}`))
  for (const folder of folders) mkdirSync(folder)
  writeFileSync(join(home, '.netrc'), 'password')
  const work: Place = { type: 'write', path: join(home, 'work') }
  const hidden = folders.map((path): Place => ({ type: 'hide', path, isDirectory: true }))
  const found = args([work, ...hidden, { type: 'hide', path: join(home, '.netrc'), isDirectory: false }])
  expect(found.filter((word) => word.startsWith(home))).toEqual([home, work.path, work.path, home])
})

it('mounts over what is hidden where the folder around it is seen as it is', () => {
  const { home, args } = setUp()
  const [work, key] = [join(home, 'work'), join(home, 'work/.env')]
  writeFileSync(key, 'KEY=1')
  const text = args([
    { type: 'write', path: work },
    { type: 'hide', path: key, isDirectory: false },
  ]).join(' ')
  expect(text).toContain(`--ro-bind /dev/null ${key}`)
  expect(text.indexOf(key)).toBeGreaterThan(text.indexOf(`--bind ${work} ${work}`))
})
