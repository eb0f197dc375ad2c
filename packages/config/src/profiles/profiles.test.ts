import { mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryHome } from '@hermes/testkit'
import { unzipSync, zipSync } from 'fflate'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { chooseProfile, rootOfHome, takeProfileFlag } from './choose.js'
import {
  createProfile,
  deleteProfile,
  describeProfile,
  exportProfile,
  importProfile,
  listProfiles,
  renameProfile,
  stickToProfile,
} from './index.js'

let root: string
let remove: () => Promise<void>
beforeEach(async () => {
  const temporary = await temporaryHome()
  root = temporary.path
  remove = () => temporary.remove()
})
afterEach(() => remove())

const write = async (path: string, text: string) => {
  await mkdir(join(root, path, '..'), { recursive: true })
  await writeFile(join(root, path), text)
}
const chosen = async (env: Record<string, string>, flag?: string) =>
  (await chooseProfile({ env: { HERMES_HOME: root, ...env }, userHome: '/nowhere', flag })).name

describe('the profile of a program', () => {
  it('is what the flag names, else the variable, else what was chosen, else the home itself', async () => {
    for (const name of ['work', 'play', 'third']) await createProfile(root, name)
    expect(await chosen({})).toBe('default')
    await stickToProfile(root, 'work')
    expect(await chosen({})).toBe('work')
    expect(await chosen({ HERMES_PROFILE: 'play' })).toBe('play')
    expect(await chosen({ HERMES_PROFILE: 'play' }, 'third')).toBe('third')
    expect(await chosen({}, 'default')).toBe('default')
    await stickToProfile(root, 'default')
    expect(await chosen({})).toBe('default')
  })

  it('is the one that HERMES_HOME is the home of, whatever was chosen; its siblings are those of the same root', async () => {
    for (const name of ['work', 'play']) await createProfile(root, name)
    await stickToProfile(root, 'play')
    const home = join(root, 'profiles', 'work')
    expect(await chosen({ HERMES_HOME: home })).toBe('work')
    expect(await chosen({ HERMES_HOME: home }, 'play')).toBe('play')
    expect(rootOfHome(home)).toBe(root)
  })

  it('that does not exist is an error that says which there are, or how the chosen one is changed', async () => {
    await createProfile(root, 'work')
    await expect(chosen({}, 'wrok')).rejects.toThrow('There is no profile "wrok". Did you mean work?')
    await expect(chosen({}, '../work')).rejects.toMatchObject({ code: 'config.bad_profile' })
    await stickToProfile(root, 'work')
    await rm(join(root, 'profiles', 'work'), { recursive: true })
    await expect(chosen({})).rejects.toThrow('hermes -p default profile use NAME')
    expect(await chosen({}, 'default')).toBe('default')
  })

  it.each([
    [['-p', 'work', 'chat'], ['chat'], 'work'],
    [['chat', '--profile=work', '-c'], ['chat', '-c'], 'work'],
    [['-p', 'a', '-p', 'b'], [], 'b'],
    [['chat', '-q', '-p'], ['chat', '-q', '-p'], undefined],
    [['chat', '--', '-p', 'x'], ['chat', '--', '-p', 'x'], undefined],
    [['sessions'], ['sessions'], undefined],
  ])('is taken from the line %j', (line, rest, flag) => {
    expect(takeProfileFlag(line)).toEqual({ argv: rest, ...(flag === undefined ? {} : { flag }) })
  })

  it('needs a name behind its flag', () => {
    for (const line of [['-p'], ['-p', '--json'], ['--profile=']])
      expect(() => takeProfileFlag(line)).toThrow('-p takes the name of a profile')
  })
})

describe('profiles', () => {
  it('are cloned with settings and knowledge, never with sessions, logins or answers', async () => {
    for (const path of ['config.yaml', '.env', 'SOUL.md', 'memories/USER.md', 'skills/a/SKILL.md'])
      await write(path, path)
    for (const path of ['auth.json', 'state.db', 'trust.json', 'logs/agent.log']) await write(path, path)
    await createProfile(root, 'work', { cloneFrom: 'default', description: 'Clients' })
    const there = (path: string) => readFile(join(root, 'profiles/work', path), 'utf8').catch(() => null)
    for (const path of ['config.yaml', '.env', 'SOUL.md', 'memories/USER.md', 'skills/a/SKILL.md'])
      expect(await there(path)).toBe(path)
    for (const path of ['auth.json', 'state.db', 'trust.json', 'logs/agent.log']) expect(await there(path)).toBeNull()
    expect((await listProfiles(root)).map(({ name, description }) => [name, description])).toEqual([
      ['default', null],
      ['work', 'Clients'],
    ])
    expect((await stat(join(root, 'profiles/work'))).mode & 0o077).toBe(0)
  })

  it('are neither deleted nor renamed from under a gateway that works in them', async () => {
    const { home } = await createProfile(root, 'work')
    const tells = (updatedAtMs: number) =>
      write(`profiles/work/gateway/${process.pid}.json`, JSON.stringify({ pid: process.pid, updatedAtMs }))
    await tells(Date.now())
    const why = { code: 'config.gateway_runs', message: expect.stringContaining(`${home} (process ${process.pid})`) }
    await expect(deleteProfile(root, 'work')).rejects.toMatchObject(why)
    await expect(renameProfile(root, 'work', 'other')).rejects.toMatchObject(why)
    await tells(Date.now() - 600_000)
    await deleteProfile(root, 'work')
    expect((await listProfiles(root)).map(({ name }) => name)).toEqual(['default'])
  })

  it('are described, renamed and deleted; the chosen one stays chosen under its new name', async () => {
    await createProfile(root, 'work')
    await stickToProfile(root, 'work')
    await write('profiles/work/profile.yaml', '# mine\nicon: x\n')
    await describeProfile(root, 'work', 'For clients')
    expect(await readFile(join(root, 'profiles/work/profile.yaml'), 'utf8')).toBe(
      '# mine\nicon: x\ndescription: For clients\n',
    )
    await renameProfile(root, 'work', 'clients')
    expect(await chosen({})).toBe('clients')
    await deleteProfile(root, 'clients')
    expect(await chosen({})).toBe('default')
    expect(await listProfiles(root)).toHaveLength(1)
  })

  it('have names of their own, and the first of them stays', async () => {
    await createProfile(root, 'work')
    await expect(createProfile(root, 'work')).rejects.toMatchObject({ code: 'config.profile_exists' })
    await expect(createProfile(root, 'default')).rejects.toMatchObject({ code: 'config.profile_exists' })
    for (const name of ['', 'Work', 'a b', '..', 'a/b', '-x', 'x'.repeat(65)])
      await expect(createProfile(root, name)).rejects.toMatchObject({ code: 'config.bad_profile' })
    await expect(deleteProfile(root, 'default')).rejects.toMatchObject({ code: 'config.bad_profile' })
    await expect(createProfile(root, 'b', { cloneFrom: 'none' })).rejects.toMatchObject({
      code: 'config.unknown_profile',
    })
    expect(await listProfiles(root)).toHaveLength(2)
  })
})

describe('an archive of a profile', () => {
  const secrets = Array.from({ length: 20 }, (_, at) => `canary-${at}-${(at * 7919 + 11).toString(36)}Zq8v`)

  it('holds none of twenty secrets, and the rest comes back in another home', async () => {
    const [a, b, c, d, e, f, ...others] = secrets
    await write('profiles/work/.env', others.map((secret, at) => `NAME_${at}=${secret}`).join('\n'))
    await write(
      'profiles/work/auth.json',
      JSON.stringify({ pool: { x: [{ access_token: a, label: 'Ada Lovelace' }] } }),
    )
    await write(
      'profiles/work/config.yaml',
      `# kept\nmodel: m\nproviders:\n  own:\n    api_key: ${b}\n    key: \${OWN_KEY}\n    extra_headers: { x-team: ${c} }\n  two: { client_secret: ${d} }\nstorage:\n  url: postgres://me:${e}@host/db\nfallback_providers:\n  - { provider: x, api_key: ${f} }\n`,
    )
    await write('profiles/work/memories/MEMORY.md', 'Ada Lovelace likes tea.')
    await write('profiles/work/memories/USER.md', `The key is ${others[3]}.`)
    await write('profiles/work/skills/deploy/SKILL.md', 'Deploy.')
    await write('profiles/work/sessions.log', a!)
    await symlink('/etc/passwd', join(root, 'profiles/work/skills/link'))
    const { bytes, files, removedKeys, withheld } = await exportProfile(root, 'work')
    const archived = Object.values(unzipSync(bytes)).map((file) => Buffer.from(file).toString())
    expect(secrets.filter((secret) => archived.some((text) => text.includes(secret)))).toEqual([])
    expect({ files, withheld }).toEqual({ files: 3, withheld: ['memories/USER.md'] })
    expect(removedKeys).toEqual([
      'providers.own.api_key',
      'providers.own.extra_headers.x-team',
      'providers.two.client_secret',
      'storage.url',
      'fallback_providers.api_key',
    ])
    expect(await importProfile(root, 'copy', bytes)).toBe(3)
    const copied = await readFile(join(root, 'profiles/copy/config.yaml'), 'utf8')
    expect(copied).toContain('# kept')
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference as config.yaml holds it
    expect(copied).toContain('key: ${OWN_KEY}')
    expect(secrets.filter((secret) => copied.includes(secret))).toEqual([])
    expect(await readFile(join(root, 'profiles/copy/memories/MEMORY.md'), 'utf8')).toBe('Ada Lovelace likes tea.')
  })

  it.each([
    ['a path out of the home', { '../../evil': new Uint8Array([1]) }],
    ['an absolute path', { '/etc/evil': new Uint8Array([1]) }],
    ['keys', { '.env': new Uint8Array([1]) }],
    ['logins', { 'auth.json': new Uint8Array([1]) }],
    ['a way around', { 'skills/../auth.json': new Uint8Array([1]) }],
    ['nothing', {}],
  ])('with %s is refused, and nothing is left', async (_, entries) => {
    await expect(importProfile(root, 'evil', zipSync(entries))).rejects.toMatchObject({ code: 'config.bad_archive' })
    expect(await listProfiles(root)).toHaveLength(1)
  })

  it('that is damaged, or no archive, is refused', async () => {
    const bytes = zipSync({ 'SOUL.md': new Uint8Array(50_000).fill(7) })
    for (const bad of [bytes.slice(0, bytes.length / 2), Buffer.from('hello'), new Uint8Array()])
      await expect(importProfile(root, 'bad', bad)).rejects.toMatchObject({ code: 'config.bad_archive' })
  })
})
