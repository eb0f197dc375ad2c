import { execFileSync } from 'node:child_process'
import { chown, link, mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { missingPrograms, needs } from '@hermes/testkit/daemons'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Bounds } from './bounds.js'
import { ForeignSockets } from './foreign-sockets.js'
import type { Workspaces } from './isolation-options.js'
import { planPlaces } from './plan.js'

/** A home with keys, a repository `other` with a linked working tree, and a folder `work`. */
async function scene() {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'hermes-bounds-')))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  const at = (...parts: string[]) => join(root, ...parts)
  for (const folder of ['home/.ssh', 'home/work/sub', 'home/other/.git/worktrees/mine', 'temp', 'out/shells/1', 'var'])
    await mkdir(at(folder), { recursive: true })
  await repository(at('home/other/.git'))
  const bounds = (cwd: string, options: Partial<ConstructorParameters<typeof Bounds>[0]['isolation']> = {}) => {
    const made = new Bounds({ cwd: at(cwd), home: at('home'), temp: [at('temp')], isolation: options })
    onTestFinished(() => made.close())
    return made
  }
  const roots = (made: Bounds) => {
    made.check()
    return made.roots.map(({ path }) => path.replace(root, ''))
  }
  return { root, at, bounds, roots, writable: (cwd: string) => roots(bounds(cwd)) }
}

async function repository(folder: string, config = '') {
  for (const name of ['objects', 'refs']) await mkdir(join(folder, name), { recursive: true })
  await writeFile(join(folder, 'HEAD'), 'ref: refs/heads/main\n')
  await writeFile(join(folder, 'config'), `[core]\n\tbare = false\n${config}`)
}

const HOSTILE: readonly (readonly [title: string, prepare: (at: (path: string) => string) => Promise<unknown>])[] = [
  ['a folder of keys', (at) => writeFile(at('home/work/.git'), `gitdir: ${at('home/.ssh')}\n`)],
  ['a folder of the system', (at) => writeFile(at('home/work/.git'), `gitdir: ${at('var')}\n`)],
  [
    'the working tree of somebody else',
    (at) => writeFile(at('home/work/.git'), 'gitdir: ../other/.git/worktrees/mine\n'),
  ],
  [
    'a worktree of another repository that names another tree',
    async (at) => {
      await writeFile(at('home/other/.git/worktrees/mine/gitdir'), `${at('home/other-tree/.git')}\n`)
      await writeFile(at('home/work/.git'), `gitdir: ${at('home/other/.git/worktrees/mine')}\n`)
    },
  ],
  [
    'a prepared worktree in the home directory',
    async (at) => {
      await mkdir(at('home/worktrees/x'), { recursive: true })
      await repository(at('home'))
      await writeFile(at('home/worktrees/x/gitdir'), `${at('home/work/.git')}\n`)
      await writeFile(at('home/work/.git'), `gitdir: ${at('home/worktrees/x')}\n`)
    },
  ],
  [
    'a prepared worktree among the keys',
    async (at) => {
      await mkdir(at('home/.ssh/worktrees/x'), { recursive: true })
      await repository(at('home/.ssh'))
      await writeFile(at('home/.ssh/worktrees/x/gitdir'), `${at('home/work/.git')}\n`)
      await writeFile(at('home/work/.git'), `gitdir: ${at('home/.ssh/worktrees/x')}\n`)
    },
  ],
  [
    'a worktree by a link that looks like one',
    async (at) => {
      await mkdir(at('home/work/worktrees'), { recursive: true })
      await symlink(at('home/other/.git'), at('home/work/worktrees/x'))
      await writeFile(at('home/work/.git'), `gitdir: ${at('home/work/worktrees/x')}\n`)
    },
  ],
  [
    'a module that names another tree',
    async (at) => {
      await repository(at('home/other/.git/modules/m'), `\tworktree = ${at('home/other')}\n`)
      await writeFile(at('home/work/.git'), `gitdir: ${at('home/other/.git/modules/m')}\n`)
    },
  ],
  [
    'a worktree that names another name of the same file',
    async (at) => {
      await writeFile(at('home/work/.git'), `gitdir: ${at('home/other/.git/worktrees/mine')}\n`)
      await mkdir(at('home/twin'))
      await link(at('home/work/.git'), at('home/twin/.git'))
      await writeFile(at('home/other/.git/worktrees/mine/gitdir'), `${at('home/twin/.git')}\n`)
    },
  ],
  ['a link in place of the file', (at) => symlink(at('home/other/.git'), at('home/work/.git'))],
  ['a pipe nobody writes to', async (at) => void execFileSync('mkfifo', [at('home/work/.git')])],
  ['more than a line', (at) => writeFile(at('home/work/.git'), `gitdir: ${'x/'.repeat(1_000_000)}`)],
]

it.each(HOSTILE)('leaves the tree alone writable when its .git leads to %s', async (_title, prepare) => {
  const { at, writable } = await scene()
  await prepare((path) => at(path))
  expect(writable('home/work/sub')).toEqual(['/home/work', '/temp'])
})

describe.skipIf(process.getuid?.() !== 0)('with files of two owners', () => {
  const OTHER = 4_242

  it.each([
    ['the tree', 'home/work'],
    ['the folder that git keeps for it', 'home/other/.git/worktrees/mine'],
  ])('a worktree that names this tree counts only while somebody else owns neither: %s', async (_, owned) => {
    const { at, writable } = await scene()
    await writeFile(at('home/work/.git'), `gitdir: ${at('home/other/.git/worktrees/mine')}\n`)
    await writeFile(at('home/other/.git/worktrees/mine/gitdir'), `${at('home/work/.git')}\n`)
    expect(writable('home/work/sub')).toEqual(['/home/work', '/home/other/.git', '/temp'])
    await chown(at(owned), OTHER, OTHER)
    expect(writable('home/work/sub')).not.toContain('/home/other/.git')
  })

  it('a repository around the workspace that somebody else made there makes no tree of it', async () => {
    const { at, writable } = await scene()
    await repository(at('home/work/.git'))
    expect(writable('home/work/sub')).toEqual(['/home/work', '/temp'])
    await chown(at('home/work/.git'), OTHER, OTHER)
    expect(writable('home/work/sub')).toEqual(['/home/work/sub', '/temp'])
  })
})

it('lets a workspace prepare no worktree that reaches the folder around it', async () => {
  const { at, writable } = await scene()
  await mkdir(at('home/src/worktrees/x'), { recursive: true })
  await repository(at('home/src'))
  await writeFile(at('home/src/worktrees/x/gitdir'), `${at('home/src/worktrees/x/.git')}\n`)
  await writeFile(at('home/src/worktrees/x/.git'), `gitdir: ${at('home/src/worktrees/x')}\n`)
  expect(writable('home/src/worktrees/x')).toEqual(['/home/src/worktrees/x', '/temp'])
})

it('makes neither the root of the file system nor the home directory a tree', async () => {
  const { at, bounds, roots } = await scene()
  await repository(at('home/.git'))
  expect(roots(bounds('home/work'))).toEqual(['/home/work', '/home/.git', '/temp'])
})

it('shows the repository of a home directory to who works in that, and hides it from others', async () => {
  const { root, at, bounds } = await scene()
  await repository(at('home/.git'))
  await mkdir(at('home/.github'))
  await mkdir(at('home/.unknown'))
  await mkdir(at('elsewhere'))
  const places = (cwd: string) =>
    planPlaces({
      ...{ bounds: bounds(cwd), outputDir: at('out'), writable: at('out/shells/1'), cache: at('cache'), path: '' },
      ...{ sockets: new ForeignSockets(), namespace: null },
    }).flatMap(({ type, path }) =>
      path.startsWith(at('home', '.ssh').slice(0, -3)) ? [`${type} ${path.replace(root, '')}`] : [],
    )
  const hidden = ['hide /home/.ssh', 'hide /home/.unknown']
  expect([...places('home')].sort()).toEqual([...hidden, 'write /home/.git'])
  expect([...places('elsewhere')].sort()).toEqual(['hide /home/.git', ...hidden])
})

needs(missingPrograms('git'))('with git', () => {
  it('lets its folders be written for linked working trees and for submodules', async () => {
    const { at, writable } = await scene()
    const git = (cwd: string, ...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'protocol.file.allow=always', ...args], {
        cwd,
        stdio: 'pipe',
        // Parts of git are scripts that need more than what the tests need.
        env: { PATH: `${process.env['PATH']}:/usr/bin:/bin`, HOME: at('home') },
      })
    for (const name of ['main', 'part']) {
      await mkdir(at('home', name))
      git(at('home', name), 'init', '--quiet')
      git(at('home', name), 'commit', '--quiet', '--allow-empty', '-m', 'first')
    }
    git(at('home/main'), 'worktree', 'add', '--quiet', at('home/linked'))
    git(at('home/main'), 'submodule', '--quiet', 'add', at('home/part'), 'libs/part')
    expect(writable('home/linked')).toEqual(['/home/linked', '/home/main/.git', '/temp'])
    expect(writable('home/main/libs/part')).toEqual([
      '/home/main/libs/part',
      '/home/main/.git/modules/libs/part',
      '/temp',
    ])
    git(at('home/main/libs/part'), 'worktree', 'add', '--quiet', at('home/deep'))
    expect(writable('home/deep')).toEqual(['/home/deep', '/home/main/.git/modules/libs/part', '/temp'])
    await rename(at('home/linked'), at('home/moved'))
    expect(writable('home/moved')).toEqual(['/home/moved', '/temp'])
  })
})

it('keeps in place what leads to something hidden in a folder that configuration names', async () => {
  const { at, bounds } = await scene()
  await mkdir(at('home/.config/sub/hid'), { recursive: true })
  const made = bounds('home/work', { writable: [at('home/.config')], hidden: [at('home/.config/sub/hid')] })
  const sockets = new ForeignSockets()
  const places = planPlaces({
    ...{ bounds: made, outputDir: at('out'), writable: at('out/shells/1'), cache: at('cache'), path: '', sockets },
    namespace: null,
  })
  const ofConfig = places.flatMap(({ type, path }) => (path.includes('.config') ? [`${type} ${path}`] : []))
  expect(ofConfig).toEqual([
    `write ${at('home/.config')}`,
    `pin ${at('home/.config/sub')}`,
    `hide ${at('home/.config/sub/hid')}`,
  ])
})

it('looks at nothing again once it is made', async () => {
  const { at, bounds, roots } = await scene()
  const made = bounds('home/work')
  const before = roots(made)
  await writeFile(at('home/work/.git'), `gitdir: ${at('home/other/.git/worktrees/mine')}\n`)
  await writeFile(at('home/other/.git/worktrees/mine/gitdir'), `${at('home/work/.git')}\n`)
  expect(roots(made)).toEqual(before)
})

it('draws no bounds any more when a folder has been moved, replaced, or leads elsewhere', async () => {
  for (const change of ['move', 'replace', 'link'] as const) {
    const { at, bounds, roots } = await scene()
    const made = bounds('home/work')
    await rename(at('home/work'), at('home/work-moved'))
    if (change === 'replace') await mkdir(at('home/work'))
    if (change === 'link') await symlink(at('home'), at('home/work'))
    expect(() => roots(made)).toThrow(
      `${at('home/work')} was moved or replaced since this environment was opened, so commands do not run: put it back, or start again there.`,
    )
  }
})

it('takes a workspace for what it was when another environment of the program asks for it later', async () => {
  const { at, bounds, roots } = await scene()
  const workspaces: Workspaces = new Map()
  bounds('home/work/sub', { workspaces })
  await rename(at('home/work'), at('home/work-moved'))
  await mkdir(at('home/work'))
  await symlink(at('home'), at('home/work/sub'))
  expect(() => roots(bounds('home/work/sub', { workspaces }))).toThrow('was moved or replaced')
})

it('says where a workspace that is a link leads now, in an environment that is open and in one that is opened later', async () => {
  const { at, bounds, roots } = await scene()
  const workspaces: Workspaces = new Map()
  for (const folder of ['one', 'two']) await mkdir(at('home', folder))
  await symlink('one', at('home/current'))
  const before = bounds('home/current', { workspaces })
  expect(roots(before)).toContain('/home/one')
  await rm(at('home/current'))
  await symlink('two', at('home/current'))
  for (const made of [before, bounds('home/current', { workspaces })])
    expect(() => roots(made)).toThrow(
      `${at('home/current')} leads to ${at('home/two')} now, and led to ${at('home/one')} when it was opened first, so commands do not run there: turn it back, or start Hermes again to work in ${at('home/two')}.`,
    )
  expect(roots(bounds('home/two', { workspaces }))).toContain('/home/two')
})

it('follows no link of the workspace to a folder that configuration names', async () => {
  const { at, bounds } = await scene()
  await symlink(at('home/.ssh'), at('home/work/out'))
  await symlink(at('home/work'), at('home/alias'))
  await symlink(at('home/other'), at('home/notes'))
  for (const named of ['home/work/out', 'home/alias/out']) {
    expect(bounds('home/work', { writable: [at(named)] }).named).toEqual([])
    expect(bounds('home/work', { readable: [at(named)] }).readable).toEqual([])
  }
  const made = bounds('home/work', { writable: [at('home/notes'), at('home/later')] })
  expect(made.named).toEqual([at('home/other')])
  await mkdir(at('home/later'))
  expect(made.named).toEqual([at('home/other'), at('home/later')])
})

it('hides after everything else, keeps hidden what was, and keeps in place what leads there', async () => {
  const { root, at, bounds } = await scene()
  await mkdir(at('home/.cargo'))
  await writeFile(at('home/.cargo/credentials.toml'), '')
  const made = bounds('home')
  // Sockets of other programs of this machine are hidden as well.
  const places = () =>
    planPlaces({
      bounds: made,
      outputDir: at('out'),
      writable: at('out/shells/1'),
      cache: at('cache'),
      path: '',
      sockets: new ForeignSockets(),
      namespace: null,
    })
      .filter(({ path }) => path.startsWith(root))
      .map(({ type, path }) => `${type} ${path.replace(root, '')}`)
  expect(places()).toEqual([
    'write /home',
    'write /temp',
    'read /out',
    'pin /home/.cargo',
    'hide /home/.ssh',
    'hide /out/shells',
    'hide /home/.cargo/credentials.toml',
    'write /out/shells/1',
  ])
  await rename(at('home/.ssh'), at('keys'))
  await symlink(at('keys'), at('home/.ssh'))
  expect(places()).toContain('hide /keys')
  await rm(at('home/.ssh'))
  expect(places()).toContain('hide /keys')
})
