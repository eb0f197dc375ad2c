// What a start says of skills again without reading them, and what has it look anew.
import { access, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '@hermes/contracts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openScene, type Scene, skillText } from './__fixtures__/scene.js'

/** Folders count once they are some seconds old; who takes commands looks at all skills by itself. */
const LATER = { takesCommands: false, clock: { ...systemClock, now: () => systemClock.now() + 10_000 } }

let scene: Scene
beforeEach(async () => {
  scene = await openScene(LATER)
  await scene.put('home/skills/tides/SKILL.md', skillText('tides', 'Tells the tides.'))
  await scene.put('home/skills/broken/SKILL.md', 'no head')
  await scene.put('user/.agents/skills/shared/SKILL.md', skillText('shared', 'Is shared.'))
  scene.trusted.add(join(scene.root, 'user/.agents/skills'))
})
afterEach(() => scene.remove())

/** Another process, with the same trust. */
const trusting = async () => {
  const again = await scene.again()
  again.trusted.add(join(scene.root, 'user/.agents/skills'))
  return again
}
const textOf = async (at: Scene) => {
  const { text, problems } = await at.skills.section({ cwd: at.home.cwd, windowTokens: 4_000 })
  return [text, ...problems].join('\n')
}
const isThere = (file: string) =>
  access(file).then(
    () => true,
    () => false,
  )

it('says the same after a new start without reading the index, which is there for the first use of a skill', async () => {
  const first = await textOf(scene)
  await scene.settled()
  await rm(scene.home.cacheFile)
  const again = await trusting()
  expect(await textOf(again)).toBe(first)
  expect(first).toContain('- tides: Tells the tides.')
  expect(first).toContain('broken is left out')
  expect(await isThere(again.home.cacheFile)).toBe(false)
  expect(await again.call('skill_view', { name: 'tides' })).toContain('Do tides.')
  expect(await isThere(again.home.cacheFile)).toBe(true)
})

describe('looks anew', () => {
  it.each<readonly [why: string, change: () => Promise<unknown>, expected: string]>([
    [
      'a skill says something else',
      () => scene.put('home/skills/tides/SKILL.md', skillText('tides', 'Tells the moon.')),
      '- tides: Tells the moon.',
    ],
    [
      'one came',
      () => scene.put('home/skills/waves/SKILL.md', skillText('waves', 'Counts waves.')),
      '- waves: Counts waves.',
    ],
    [
      'one came into a place that was not there',
      () =>
        scene
          .put('work/.git/x', '')
          .then(() => scene.put('work/.hermes/skills/ours/SKILL.md', skillText('ours', 'Is ours.'))),
      'work/.hermes/skills are left out',
    ],
    [
      'one that was broken is mended',
      () => scene.put('home/skills/broken/SKILL.md', skillText('broken', 'Is whole.')),
      '- broken: Is whole.',
    ],
    [
      'what was kept is damaged',
      async () => {
        const file = join(scene.root, 'home/cache/skills-prompt.json')
        await writeFile(file, (await readFile(file, 'utf8')).replace('Tells the tides', 'Obey the tides'))
      },
      '- tides: Tells the tides.',
    ],
  ])('where %s', async (_, change, expected) => {
    await textOf(scene)
    await scene.settled()
    await change()
    const again = await trusting()
    expect(await textOf(again)).toContain(expected)
    expect((await textOf(again)).split('\n').filter((line) => line.startsWith('- tides'))).toHaveLength(1)
  })

  it('where one was used, which has its place before others then', async () => {
    for (const name of ['ebb', 'flood'])
      await scene.put(`home/skills/${name}/SKILL.md`, skillText(name, 'Goes with the moon. '.repeat(7)))
    // Its folder is as it was when the file is written again.
    await scene.put('home/skills/.usage.json', '{"ebb":{"used":1}}')
    const narrow = { cwd: scene.home.cwd, windowTokens: 2_300 }
    const first = (await scene.skills.section(narrow)).text
    expect(first).toContain('- ebb: Goes')
    expect(first).not.toContain('- tides: Tells')
    await scene.settled()
    await scene.put('home/skills/.usage.json', '{"tides":{"used":3}}')
    expect((await (await trusting()).skills.section(narrow)).text).toContain('- tides: Tells')
  })

  it('where another session saw one that came while this one was told', async () => {
    let isFirst = true
    const isTrusted = async () => {
      if (isFirst) {
        isFirst = false
        await scene.put('home/skills/waves/SKILL.md', skillText('waves', 'Counts waves.'))
        await busy.call('skills_list', {})
      }
      return true
    }
    const busy = await scene.again({ trust: { isTrusted } })
    expect(await textOf(busy)).not.toContain('waves')
    await busy.settled()
    const again = await scene.again({ trust: { isTrusted } })
    expect(await textOf(again)).toContain('- waves: Counts waves.')
  })

  it('where one is gone', async () => {
    await textOf(scene)
    await scene.settled()
    await rm(join(scene.root, 'home/skills/tides'), { recursive: true })
    expect(await textOf(await trusting())).not.toContain('tides')
  })

  it('where a folder is trusted no more, one is switched off, or the window has less room', async () => {
    expect(await textOf(scene)).toContain('- shared (shared): Is shared.')
    await scene.settled()
    const distrusting = await scene.again()
    expect(await textOf(distrusting)).toMatch(/^- shared \(shared\)$/m)
    await distrusting.settled()
    const without = await scene.again({ settings: { ...scene.home.settings, disabled: ['tides'] } })
    expect(await textOf(without)).not.toContain('tides')
    await without.settled()
    const { text } = await (await scene.again()).skills.section({ cwd: scene.home.cwd, windowTokens: 400 })
    expect(text).not.toContain('Tells the tides')
  })

  it('where one that was installed was changed since', async () => {
    await scene.put('source/SKILL.md', skillText('moon', 'Shows the moon.'))
    const shown = await scene.type(`skills install ${join(scene.root, 'source')}`)
    await scene.type(`skills accept ${/accept ([0-9a-f]+)/.exec(shown)![1]!}`)
    const before = await scene.again()
    expect(await textOf(before)).toContain('- moon (installed): Shows the moon.')
    await before.settled()
    const lock = JSON.parse(await readFile(join(scene.root, 'home/skills/.hub/lock.json'), 'utf8'))
    await scene.put(`home/skills/.hub/skills/${lock.skills.moon.folder}/SKILL.md`, skillText('moon', 'Shows the sun.'))
    const after = await textOf(await scene.again())
    expect(after).toContain('Skill moon is not loaded: SKILL.md was changed since it was installed')
    expect(after).not.toContain('- moon')
  })
})
