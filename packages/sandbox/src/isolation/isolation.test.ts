import { chownSync, statSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Logger, silentLogger } from '@hermes/contracts'
import { needs } from '@hermes/testkit/daemons'
import { expect, it, onTestFinished } from 'vitest'
import { Bounds } from './bounds.js'
import { findBubblewrap } from './find-bubblewrap.js'
import { Isolation } from './isolation.js'
import type { IsolationOptions } from './isolation-options.js'
import { createIsolationSupport, type IsolationSupport, isolationHinders, probeIsolation } from './isolation-support.js'
import { seatbeltProfile } from './seatbelt.js'

const willing = (): IsolationSupport => {
  let text: string | null = null
  return { why: () => text, failed: (why) => (text = why) }
}

async function setup(isolation: IsolationOptions, platform: NodeJS.Platform, support = willing()) {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'hermes-plan-')))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  for (const folder of ['home/work', 'keys', 'out/shells/1', 'temp'])
    await mkdir(join(root, folder), { recursive: true })
  await symlink(join(root, 'keys'), join(root, 'home/.ssh'))
  await writeFile(join(root, 'home/.netrc'), '')
  const warnings: string[] = []
  const logger: Logger = { ...silentLogger, warn: (message) => void warnings.push(message) }
  const [cwd, home, outputDir] = [join(root, 'home/work'), join(root, 'home'), join(root, 'out')]
  const bounds = new Bounds({ cwd, home, temp: [join(root, 'temp')], isolation })
  onTestFinished(() => bounds.close())
  const held = new Isolation({ bounds, outputDir, logger, platform, support, path: () => '/usr/bin' })
  const requested = { program: '/bin/bash', args: ['-c', 'true'], env: { NAME: 'value' } }
  const folders = { scratch: join(root, 'out/shells/1'), writable: join(root, 'out/shells/1') }
  onTestFinished(() => held.close(false))
  return {
    root,
    warnings,
    support,
    wrap: () => held.wrap(requested, folders),
    hides: (path: string) => held.hides(path, folders),
  }
}

it('draws the bounds of a command on macOS as a profile, links followed, what is inside after what is around it', async () => {
  const { root, wrap } = await setup({ network: false }, 'darwin')
  const { program, args } = await wrap()
  expect([program, args[0], ...args.slice(2)]).toEqual(['/usr/bin/sandbox-exec', '-p', '/bin/bash', '-c', 'true'])
  // Sockets of other programs of this machine are denied as well.
  const isOfOthers = (line: string) => /^\(deny [^"]* \(subpath "/.test(line) && !line.includes(root)
  const profile = args[1]!.split('\n').filter((line) => !isOfOthers(line))
  expect(
    profile
      .join('\n')
      .replaceAll(root, '')
      .replaceAll(/(?<=hermes-code)-\d+/g, ''),
  ).toBe(`(version 1)
(allow default)
(deny file-write*)
(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (regex #"^/dev/(fd/|ttys)"))
(allow file-read* file-write* (subpath "/home/work"))
(allow file-read* file-write* (subpath "/temp"))
(deny file-read* file-write* (subpath "/keys"))
(deny network-outbound (subpath "/keys"))
(allow file-read* (subpath "/out"))
(deny file-write* (subpath "/out"))
(deny file-read* file-write* (subpath "/home/.netrc"))
(deny network-outbound (subpath "/home/.netrc"))
(deny file-read* file-write* (subpath "/temp/hermes-code"))
(deny network-outbound (subpath "/temp/hermes-code"))
(deny file-read* file-write* (subpath "/out/shells"))
(deny network-outbound (subpath "/out/shells"))
(deny file-read* file-write* (subpath "/out/pipes"))
(deny network-outbound (subpath "/out/pipes"))
(deny file-read* file-write* (subpath "/out/processes"))
(deny network-outbound (subpath "/out/processes"))
(allow file-read* file-write* (subpath "/out/cache"))
(allow file-read* file-write* (subpath "/out/shells/1"))
(allow file-read-metadata (literal "/out/shells"))
(deny network-outbound (literal "/private/var/run/docker.sock") (regex #"^/private/tmp/com\\.apple\\.launchd\\."))
(deny appleevent-send)
(deny signal)
(allow signal (target same-sandbox))
(deny network*)
(allow network* (local ip "localhost:*") (remote ip "localhost:*"))`)
})

it('quotes what a path holds', () => {
  expect(seatbeltProfile([{ type: 'write', path: '/a "b"\\c' }], { network: true })).toContain('"/a \\"b\\"\\\\c"')
})

it('lets programs look where a path leads that passes through hidden folders', () => {
  const hide = { type: 'hide', path: '/Users/ada/.local', isDirectory: true } as const
  const profile = seatbeltProfile([hide, { type: 'read', path: '/Users/ada/.local/share/fnm' }], { network: true })
  expect(profile).toContain(`(deny file-write* (subpath "/Users/ada/.local/share/fnm"))
(allow file-read-metadata (literal "/Users/ada/.local/share") (literal "/Users/ada/.local"))
`)
})

it('lets the whole tree of git be written, but not one that is around the home directory', async () => {
  const { root } = await setup({}, 'darwin')
  await mkdir(join(root, 'home/.git'))
  await mkdir(join(root, 'home/work/repo/.git'), { recursive: true })
  await mkdir(join(root, 'home/work/repo/deep'))
  const writable = (cwd: string) => {
    const bounds = new Bounds({ cwd: join(root, cwd), home: join(root, 'home'), temp: [], isolation: {} })
    onTestFinished(() => bounds.close())
    return bounds.roots.map(({ path }) => path.replace(root, ''))
  }
  expect(writable('home/work/repo/deep')).toEqual(['/home/work/repo'])
  expect(writable('home/work')).toEqual(['/home/work', '/home/.git'])
})

it('names no folder of another shell, which may go away while a command is started', async () => {
  const { root, wrap } = await setup({}, 'darwin')
  await mkdir(join(root, 'out/shells/2'))
  const [, profile = ''] = (await wrap()).args
  expect(profile).toContain(`(deny file-read* file-write* (subpath "${root}/out/shells"))`)
  expect(profile).toContain(`(allow file-read* file-write* (subpath "${root}/out/shells/1"))`)
  expect(profile).not.toContain('shells/2')
})

it('looks at the home anew for a command, not for each question what the last one could see', async () => {
  const { root, wrap, hides } = await setup({}, 'darwin')
  const later = join(root, 'home/.later')
  expect(hides(join(root, 'keys/id'))).toBe(true)
  await writeFile(later, '')
  expect(hides(later)).toBe(false)
  await wrap()
  expect(hides(later)).toBe(true)
})

it('hides the logins of npm, but not what registries it uses', async () => {
  const { root, wrap } = await setup({}, 'darwin')
  const lines = [
    'registry=https://npm.example.com/',
    '@team:registry=https://team.example.com/',
    '//npm.example.com/:_authToken=secret-1',
    '//npm.example.com/:_password=secret-2',
    `//team.example.com/:_authToken=\${TEAM_TOKEN}`,
    'proxy=http://ada:secret-3@proxy.example.com',
    'fund=false',
  ]
  await writeFile(join(root, 'home/.npmrc'), lines.join('\n'))
  const { env, args } = await wrap()
  const path = env['npm_config_userconfig']!
  expect(await readFile(path, 'utf8')).toBe([0, 1, 4, 6].map((at) => lines[at]).join('\n'))
  expect(args[1]).toContain(`(deny file-read* file-write* (subpath "${root}/home/.npmrc"))`)
  expect(args[1]).toContain('(deny file-write* (subpath "/out"))'.replace('/out', join(root, 'out')))
})

it('runs nothing where it is required and cannot be had, else everything', async () => {
  const none = createIsolationSupport({ platform: 'aix' })
  const required = await setup({}, 'aix', none)
  await expect(required.wrap()).rejects.toMatchObject({
    code: 'environment.no_isolation',
    message: 'Commands cannot be isolated on this machine: there is no way to on aix.',
  })
  const optional = await setup({ required: false }, 'aix', none)
  expect(await optional.wrap()).toMatchObject({ program: '/bin/bash', args: ['-c', 'true'], env: { NAME: 'value' } })
  expect(optional.warnings).toEqual([])
})

it('says when root would lose the rights it works with', async () => {
  const { root } = await setup({}, 'darwin')
  const { uid } = statSync(root)
  expect(isolationHinders(root, uid === 0 ? 1000 : uid)).toBeNull()
  expect(isolationHinders('/proc/self/nothing', 0)).toBeNull()
  expect(isolationHinders('/', 0)).toBeNull()
  if (uid === 0) chownSync(root, 1234, 1234)
  expect(isolationHinders(root, 0)).toBe('you are root, and the working directory belongs to somebody else')
})

it('looks at the machine once, and believes what is said later', async () => {
  const support = createIsolationSupport({ platform: 'linux' })
  const why = support.why()
  expect(support.why()).toBe(why)
  support.failed('it broke')
  const { wrap } = await setup({ required: false }, 'linux', support)
  expect(await wrap()).toMatchObject({ program: '/bin/bash', args: ['-c', 'true'] })
})

needs(await probeIsolation())('on Linux', () => {
  it('starts bubblewrap and nothing else before the program, with no variable of it in sight of bubblewrap', async () => {
    const { wrap } = await setup({}, 'linux', createIsolationSupport({ platform: 'linux' }))
    const { program, args, env, isConfined, release } = await wrap()
    release()
    expect([program, ...args]).toEqual([findBubblewrap(), '--args', '6', '--', '/bin/bash', '-c', 'true'])
    expect([isConfined, env]).toEqual([true, { PATH: '/usr/local/bin:/usr/bin:/bin' }])
  })
})
