// Packs as people make and install them: the list comes over HTTP, its skills from folders.
import { generateKeyPairSync, sign } from 'node:crypto'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { openScene, type Scene, skillText } from '../__fixtures__/scene.js'

const { privateKey, publicKey } = generateKeyPairSync('ed25519')
const pem = (key: typeof privateKey) => key.export({ type: 'pkcs8', format: 'pem' }) as string
const KEY = `ed25519:${publicKey.export({ format: 'jwk' }).x}`

let server: Server
let page: string | null
let site: string
/** Who signs, and who installs. */
let author: Scene
let scene: Scene

beforeAll(async () => {
  server = createServer((_, response) => {
    response.writeHead(page === null ? 404 : 200).end(page ?? '')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  site = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sea.json`
})
afterAll(() => new Promise((resolve) => server.close(resolve)))
beforeEach(async () => {
  page = null
  author = await openScene()
  scene = await reader({ sea: { from: site, key: KEY } })
  await author.put('work/key.pem', pem(privateKey))
})
afterEach(() => Promise.all([author.remove(), scene.remove()]))

const reader = async (packs: Scene['home']['settings']['packs']) => {
  const { home, remove } = await openScene()
  const opened = await openScene({ settings: { ...home.settings, packs } })
  await remove()
  return opened
}

const idIn = (text: string) => /hermes skills accept (\w+)/.exec(text)![1]!
const names = async () =>
  (await readdir(join(scene.home.directory, '.hub/skills')).catch(() => [])).map((one) => one.split('@')[0])
const waiting = () => readdir(join(scene.home.directory, '.hub/quarantine')).catch(() => [])

/** Puts a skill of the author in place, as it is installed there. */
async function write(name: string, body = `Do ${name}.`): Promise<void> {
  await author.put(`work/${name}/SKILL.md`, skillText(name, `Does ${name}.`, body))
  await author.type(`skills accept ${idIn(await author.type(`skills install ${join(author.home.cwd, name)}`))}`)
}

const publish = async (version: string, ...skills: readonly string[]) => {
  page = await author.type(`skills packs create sea ${version} key.pem ${skills.join(' ')}`.trim())
}

const installPack = async () => {
  const shown = await scene.type('skills install pack:sea')
  return scene.type(`skills accept ${idIn(shown)}`)
}

it('a pack is signed, shown whole, installed by one yes, listed, brought to its next version and taken away', async () => {
  await write('dew')
  await write('tides')
  await publish('1.9')
  expect(await scene.type('skills packs')).toBe(`sea | not installed |  | ${site}`)
  const shown = await scene.type('skills install pack:sea')
  expect(shown).toMatch(
    new RegExp(
      `^the pack sea 1\\.9: 2 skills\\nsigned by ${KEY}\\ndew: Does dew\\.\\nfrom [^]*\\ntides: Does tides\\.\\n[^]*It does nothing yet\\.`,
    ),
  )
  expect(await names()).toEqual([])
  expect(await scene.type(`skills accept ${idIn(shown)}`)).toBe(
    'Installed the pack sea 1.9. New sessions know its skills.',
  )
  expect(await waiting()).toEqual([])
  expect(await scene.type('skills packs')).toBe(`sea | 1.9 | dew, tides | ${site}`)
  expect(await scene.call('skill_view', { name: 'tides' })).toContain('Do tides.')
  expect(await scene.type('skills audit')).toContain('ok tides of the pack sea 1.9 from ')
  expect(await scene.type('skills update tides')).toBe('The pack sea is installed as it is there.')

  await write('dew', 'Do it at dawn.')
  await write('fog')
  await publish('1.10', 'dew', 'fog')
  const next = await scene.type('skills update')
  expect(next).toContain('the pack sea 1.10, of which 1.9 is installed: 2 skills')
  expect(next).toContain('no longer in it, these go: tides')
  expect(next).toContain('since the installed one: SKILL.md is another one')
  await scene.type(`skills accept ${idIn(next)}`)
  expect((await names()).sort()).toEqual(['dew', 'fog'])
  expect(await scene.call('skill_view', { name: 'dew' })).toContain('Do it at dawn.')
  expect(await scene.type('skills uninstall pack:sea')).toBe('Took the pack sea away: dew, fog.')
  expect(await names()).toEqual([])
  await expect(scene.type('skills uninstall pack:sea')).rejects.toThrow('No pack sea is installed.')
})

it('what is in a pack already is not asked about again, and a no leaves nothing', async () => {
  await write('dew')
  await publish('1')
  await installPack()
  await write('fog')
  await publish('2')
  const shown = await scene.type('skills install pack:sea')
  expect(shown).toContain('as they are installed: 1\nfog: Does fog.')
  await scene.type(`skills discard ${idIn(shown)}`)
  expect([await waiting(), await names()]).toEqual([[], ['dew']])
  await installPack()
  expect(await scene.type('skills packs')).toContain('sea | 2 | dew, fog')
})

const another = generateKeyPairSync('ed25519').privateKey
const signed = (list: object, { key = privateKey, type = 'application/vnd.hermes.skill-pack+json' } = {}) => {
  const body = Buffer.from(JSON.stringify(list))
  const sig = sign(null, Buffer.concat([Buffer.from(`DSSEv1 ${type.length} ${type} ${body.length} `), body]), key)
  return JSON.stringify({
    ...{ payloadType: 'application/vnd.hermes.skill-pack+json', payload: body.toString('base64') },
    signatures: [{ sig: sig.toString('base64') }],
  })
}
const DEW = { name: 'dew', from: '/nowhere', files: { 'SKILL.md': 'a'.repeat(64) } }

it.each([
  [
    'is signed by somebody else',
    () => signed({ name: 'sea', version: '1', skills: [DEW] }, { key: another }),
    'not signed by the key',
  ],
  [
    'was signed as something else',
    () => signed({ name: 'sea', version: '1', skills: [DEW] }, { type: 'x' }),
    'not signed by the key',
  ],
  [
    'is signed by nobody',
    () => signed({ name: 'sea', version: '1', skills: [DEW] }).replace(/"sig":"[^"]*"/, '"sig":""'),
    'not signed by the key',
  ],
  [
    'comes by half',
    () => signed({ name: 'sea', version: '1', skills: [DEW] }).slice(0, 90),
    'no signed list of skills',
  ],
  ['is another one', () => signed({ name: 'lake', version: '1', skills: [DEW] }), 'its list is of lake'],
  [
    'has a name that climbs',
    () => signed({ name: 'sea', version: '1', skills: [{ ...DEW, name: '../x' }] }),
    'names no skills',
  ],
  ['has one twice', () => signed({ name: 'sea', version: '1', skills: [DEW, DEW] }), 'names no skills'],
  ['is gone', () => null, 'cannot be read: '],
])('a list that %s is not taken', async (_, list, why) => {
  page = list()
  await expect(scene.type('skills install pack:sea')).rejects.toThrow(why)
  expect(await waiting()).toEqual([])
})

it('a pack with one skill that is not what was signed, or that nobody may install, is not taken at all', async () => {
  await write('dew')
  await write('tides')
  await publish('1')
  await author.put('work/tides/SKILL.md', skillText('tides', 'Does tides.', 'Do something else.'))
  await expect(scene.type('skills install pack:sea')).rejects.toThrow('tides is not what its list signs')
  await rename(join(author.home.cwd, 'tides'), join(author.home.cwd, 'gone'))
  await expect(scene.type('skills install pack:sea')).rejects.toThrow('tides is no folder')
  expect(await waiting()).toEqual([])
})

it('an older version, or another one of the same number, does not take the place of what is installed', async () => {
  await write('dew')
  await publish('1.2')
  const old = page
  await publish('1.3')
  await installPack()
  page = old
  await expect(scene.type('skills install pack:sea')).rejects.toThrow('version 1.2 is older than 1.3')
  await write('fog')
  await publish('1.3')
  await expect(scene.type('skills install pack:sea')).rejects.toThrow('its list of 1.3 is another one')
  expect(await names()).toEqual(['dew'])
})

it('a skill of that name from elsewhere stays, and says why the pack cannot come', async () => {
  await scene.put('work/dew/SKILL.md', skillText('dew', 'Mine.'))
  await scene.type(`skills accept ${idIn(await scene.type('skills install dew'))}`)
  await write('dew')
  await publish('1')
  await expect(scene.type('skills install pack:sea')).rejects.toThrow('There is an installed skill dew already')
})

it('says what to do about a pack that is not known, and what a list needs', async () => {
  await expect(scene.type('skills install pack:lake')).rejects.toThrow(
    'hermes config set skills.packs.lake.from ADDRESS',
  )
  await expect(author.type('skills packs create sea')).rejects.toThrow('Use: hermes skills packs')
  await expect(author.type('skills packs create sea 1 none.pem')).rejects.toThrow('openssl genpkey')
  await expect(author.type('skills packs create sea one key.pem')).rejects.toThrow('a version numbers with dots')
  await expect(author.type('skills packs create sea 1 key.pem dew')).rejects.toThrow('no skill dew is installed here')
  await write('dew')
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  await author.put('work/rsa.pem', pem(rsa))
  await expect(author.type('skills packs create sea 1 rsa.pem')).rejects.toThrow('its key is no Ed25519 one')
  await scene.remove()
  await mkdir(scene.root, { recursive: true })
  const odd = await scene.again({ settings: { ...scene.home.settings, packs: { sea: { from: site, key: 'x' } } } })
  await publish('1')
  await expect(odd.type('skills install pack:sea')).rejects.toThrow(
    'skills.packs.sea.key in config.yaml is no ed25519:KEY',
  )
  await rm(odd.root, { recursive: true, force: true })
})
