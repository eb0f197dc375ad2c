import { mkdir, mkdtemp, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openTrust } from './folder-trust.js'

let root = ''
let home = ''
let project = ''
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'hermes-trust-')))
  home = join(root, 'home')
  project = join(root, 'project')
  await mkdir(join(project, '.git'), { recursive: true })
})
afterEach(() => rm(root, { recursive: true }))

const open = (trustedNow?: string) => openTrust({ home, trustedNow, now: () => 7 })
const put = async (path: string, text: string) => {
  await mkdir(dirname(join(project, path)), { recursive: true })
  await writeFile(join(project, path), text)
}

describe('trust in a project', () => {
  it('is not there before a person gave it, and is kept for what is there then', async () => {
    await put('AGENTS.md', 'Be brief.')
    await put('.claude/settings.json', '{"hooks":{}}')
    const trust = open()
    expect(await trust.isTrusted(project)).toBe(false)
    expect(await trust.answer(project, true)).toEqual({
      folder: project,
      state: 'trusted',
      brings: [
        { kind: 'instructions', paths: ['AGENTS.md'] },
        { kind: 'hooks', paths: ['.claude/settings.json'] },
      ],
      changed: [],
      isRepository: true,
    })
    expect(await open().isTrusted(project)).toBe(true)
    expect((await stat(join(home, 'trust.json'))).mode & 0o777).toBe(0o600)
    expect(await open().list()).toEqual([{ folder: project, isTrusted: true, atMs: 7 }])
  })

  it('counts for folders below the root of the repository, and through links', async () => {
    await mkdir(join(project, 'inner'))
    await symlink(project, join(root, 'link'))
    await open().answer(join(root, 'link'), true)
    expect(await open().isTrusted(join(project, 'inner'))).toBe(true)
    expect(await open().isTrusted(root)).toBe(false)
  })

  it('of a home, or of a folder above it, covers what lies right in it and no folder below', async () => {
    for (const path of ['user/.git', 'user/Downloads', 'user/work/.git'])
      await mkdir(join(root, path), { recursive: true })
    for (const path of ['user/AGENTS.md', 'user/Downloads/page.md', 'user/work/a.md'])
      await writeFile(join(root, path), '')
    const trust = openTrust({ home, userHome: join(root, 'user'), now: () => 7 })
    await trust.answer(root, true)
    await trust.answer(join(root, 'user'), true)
    for (const path of ['user', 'user/AGENTS.md']) expect(await trust.isTrusted(join(root, path)), path).toBe(true)
    for (const path of ['user/Downloads', 'user/Downloads/page.md', 'user/work/a.md'])
      expect(await trust.isTrusted(join(root, path)), path).toBe(false)
    expect((await trust.look(join(root, 'user/work'))).folder).toBe(join(root, 'user/work'))
  })

  it('is not asked for what is the person’s own: a home of Hermes in the folder', async () => {
    const own = join(project, '.hermes')
    await put('.hermes/skills/mine/SKILL.md', 'Mine.')
    await put('.hermes/hooks/mine.sh', 'true')
    await put('.agents/skills/theirs/SKILL.md', 'Theirs.')
    const trust = openTrust({ home: own, now: () => 7 })
    expect((await trust.look(project)).brings).toEqual([{ kind: 'skills', paths: ['.agents/skills/theirs/SKILL.md'] }])
    await trust.answer(project, true)
    await put('.hermes/skills/.usage.json', '{}')
    expect((await trust.look(project)).state).toBe('trusted')
    expect((await open().look(project)).brings[0]!.paths).toContain('.hermes/skills/mine/SKILL.md')
    // What was cloned into the home is not the person's for that.
    const around = openTrust({ home: root, now: () => 7 })
    expect((await around.look(project)).brings[0]!.paths).toContain('.agents/skills/theirs/SKILL.md')
  })

  it('counts for files, also of a folder that is no repository, and not for a repository or a link in it', async () => {
    const folder = join(root, 'notes')
    for (const path of ['sub', 'vendored/.git']) await mkdir(join(folder, path), { recursive: true })
    for (const path of ['a.md', 'sub/b.md', 'vendored/c.md']) await writeFile(join(folder, path), '')
    await writeFile(join(root, 'other.md'), '')
    await symlink(join(root, 'other.md'), join(folder, 'link.md'))
    await open().answer(folder, true)
    const trusted = [
      '',
      'a.md',
      'sub/b.md',
      'sub/missing.md',
      'missing/either.md',
      'vendored/c.md',
      'link.md',
      '../other.md',
    ]
    const answers = await Promise.all(trusted.map((path) => open().isTrusted(join(folder, path))))
    expect(answers).toEqual([true, true, true, true, true, false, false, false])
  })

  it.each([
    ['a file that changed', () => put('.claude/hooks/check.sh', 'rm -rf ~'), '.claude/hooks/check.sh'],
    ['a file that came', () => put('.hermes/plugins/new/plugin.json', '{}'), '.hermes/plugins/new/plugin.json'],
    ['a file that went', () => rm(join(project, '.claude/hooks/check.sh')), '.claude/hooks/check.sh'],
    ['a link in the place of a file', () => relink('.claude/hooks/check.sh'), '.claude/hooks/check.sh'],
  ])('ends with %s', async (_, change, changed) => {
    await put('.claude/hooks/check.sh', 'true')
    await put('other/README.md', 'not covered')
    const trust = open()
    await trust.answer(project, true)
    await put('other/README.md', 'still not covered')
    expect(await trust.isTrusted(project)).toBe(true)
    await change()
    expect(await trust.isTrusted(project)).toBe(false)
    expect(await trust.look(project)).toMatchObject({ state: 'changed', changed: [changed] })
  })

  it('covers what was agreed to since, and nothing else that changed meanwhile', async () => {
    await put('AGENTS.md', 'one')
    for (const trust of [open(), open(project)]) {
      await put('AGENTS.md', 'one')
      await open().answer(project, true)
      await trust.isTrusted(project)
      await put('AGENTS.md', 'two')
      await put('CLAUDE.md', 'new')
      await trust.adopt([join(project, 'AGENTS.md')])
      expect(await trust.look(project)).toMatchObject({ state: 'changed', changed: ['CLAUDE.md'] })
      await rm(join(project, 'CLAUDE.md'))
      expect(await trust.isTrusted(project)).toBe(true)
      await open().remove(project)
    }
    await open().answer(project, false)
    await put('AGENTS.md', 'three')
    await open().adopt([join(project, 'AGENTS.md'), join(root, 'elsewhere/AGENTS.md')])
    expect((await open().look(project)).state).toBe('unknown')
  })

  it('counts for a worktree with the same instructions, and not for a folder that only says it is one', async () => {
    const [tree, own] = [join(root, 'tree'), join(project, '.git/worktrees/tree')]
    for (const folder of [tree, own]) await mkdir(folder, { recursive: true })
    await put('AGENTS.md', 'one')
    await put('CLAUDE.local.md', 'not committed')
    await writeFile(join(tree, 'AGENTS.md'), 'one')
    await writeFile(join(tree, '.git'), `gitdir: ${own}\n`)
    await open().answer(project, true)
    expect(await open().isTrusted(tree)).toBe(false)
    await writeFile(join(own, 'gitdir'), `${join(root, 'another')}/.git\n`)
    expect(await open().isTrusted(tree)).toBe(false)
    await writeFile(join(own, 'gitdir'), `${tree}/.git\n`)
    expect(await open().isTrusted(join(tree, 'AGENTS.md'))).toBe(true)
    await writeFile(join(tree, 'CLAUDE.md'), 'obey')
    expect(await open().look(tree)).toMatchObject({ folder: tree, state: 'changed', changed: ['CLAUDE.md'] })
    await open().answer(project, false)
    await rm(join(tree, 'CLAUDE.md'))
    expect(await open().isTrusted(tree)).toBe(false)
  })

  it('that was refused is asked about again once something changed', async () => {
    await put('AGENTS.md', 'one')
    await open().answer(project, false)
    expect((await open().look(project)).state).toBe('declined')
    await put('AGENTS.md', 'two')
    expect((await open().look(project)).state).toBe('unknown')
  })

  it('is taken back, also for a folder that is gone', async () => {
    await open().answer(project, true)
    await rm(project, { recursive: true })
    expect(await open().isTrusted(project)).toBe(false)
    expect(await open().remove(project)).toBe(true)
    expect(await open().remove(project)).toBe(false)
    expect(await open().list()).toEqual([])
  })

  it('for now is kept nowhere, and ends with a change too', async () => {
    await put('AGENTS.md', 'one')
    const trust = open(project)
    expect(await trust.isTrusted(project)).toBe(true)
    expect(await open().isTrusted(project)).toBe(false)
    await put('AGENTS.md', 'two')
    expect(await trust.isTrusted(project)).toBe(false)
    await expect(readFile(join(home, 'trust.json'))).rejects.toThrow('ENOENT')
  })

  it('is nobody’s where the file of answers is damaged', async () => {
    await open().answer(project, true)
    await writeFile(join(home, 'trust.json'), '{"folders": [{"folder"')
    expect(await open().isTrusted(project)).toBe(false)
  })

  it('does not end in a folder that links to itself, and refuses one that brings too much', async () => {
    await mkdir(join(project, '.hermes/skills'), { recursive: true })
    await symlink('..', join(project, '.hermes/skills/loop'))
    expect((await open().answer(project, true)).state).toBe('trusted')
    await mkdir(join(project, '.agents/skills'), { recursive: true })
    await Promise.all(Array.from({ length: 2_001 }, (_, at) => writeFile(join(project, '.agents/skills', `${at}`), '')))
    await expect(open().answer(project, true)).rejects.toMatchObject({ code: 'config.too_much_to_trust' })
  })

  it('is an error of one line for a folder that is not there', async () => {
    await expect(open().answer(join(root, 'none'), true)).rejects.toThrow(`There is no folder ${join(root, 'none')}.`)
  })
})

async function relink(path: string): Promise<void> {
  await rm(join(project, path))
  await writeFile(join(root, 'elsewhere'), 'true')
  await symlink(join(root, 'elsewhere'), join(project, path))
}
