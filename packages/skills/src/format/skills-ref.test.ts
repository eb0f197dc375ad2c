// Whatever comes with Hermes or is written by it passes the reference validator of the format.
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { validate } from 'skills-ref'
import { expect, it, onTestFinished } from 'vitest'
import { openScene } from '../__fixtures__/scene.js'

const root = join(import.meta.dirname, '../..')
const bundled = globSync('bundled/*/*/SKILL.md', { cwd: root }).map(dirname)

it('every skill that comes with Hermes passes', async () => {
  expect(bundled.length).toBeGreaterThanOrEqual(30)
  const broken = await Promise.all(bundled.map(async (folder) => [folder, await validate(join(root, folder))] as const))
  expect(broken.filter(([, problems]) => problems.length > 0)).toEqual([])
})

it('what an agent and a person write passes', async () => {
  const scene = await openScene()
  onTestFinished(() => scene.remove())
  const problemsOf = (name: string) => validate(join(scene.home.directory, name))
  const description = `Tells: the "tides", ${'x'.repeat(900)}`
  await scene.call('skill_manage', { action: 'create', name: 'tides', description, content: 'Look at the moon.' })
  expect(await problemsOf('tides')).toEqual([])
  await scene.type('skills create moon What the moon does: #1', {})
  expect(await problemsOf('moon')).toEqual([])
  // A head that was written for another agent is not written again as it is.
  const loose = '---\nname: dew\ndescription: Dew.\nversion: 2\nplatforms: [linux]\n---\n\nOld words.\n'
  const file = await scene.put('home/skills/dew/SKILL.md', loose)
  expect(await problemsOf('dew')).toEqual([expect.stringContaining('platforms, version')])
  const patch = { action: 'patch', name: 'dew', old_string: 'Old', new_string: 'New' }
  expect(await scene.call('skill_manage', patch)).toContain(
    'The skill cannot be written: its head has no key "version"',
  )
  expect(await readFile(file, 'utf8')).toBe(loose)
})
