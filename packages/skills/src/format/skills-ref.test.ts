// Whatever comes with Hermes or is written by it passes the reference validator of the format.
import { globSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openScene } from '../__fixtures__/scene.js'
import { brokenRules } from '../__fixtures__/skills-ref.js'

const bundled = globSync('bundled/*/*/SKILL.md', { cwd: join(import.meta.dirname, '../..') })

it('every skill that comes with Hermes passes', () => {
  expect(bundled.length).toBeGreaterThanOrEqual(30)
  const broken = bundled.flatMap((file) => {
    const rules = brokenRules(readFileSync(join(import.meta.dirname, '../..', file), 'utf8'), basename(dirname(file)))
    return rules.length === 0 ? [] : [`${file}: ${rules.join(', ')}`]
  })
  expect(broken).toEqual([])
})

it('what an agent and a person write passes', async () => {
  const scene = await openScene()
  onTestFinished(() => scene.remove())
  const written = async (name: string) => readFile(join(scene.home.directory, name, 'SKILL.md'), 'utf8')
  const description = `Tells: the "tides", ${'x'.repeat(900)}`
  await scene.call('skill_manage', { action: 'create', name: 'tides', description, content: 'Look at the moon.' })
  expect(brokenRules(await written('tides'), 'tides')).toEqual([])
  await scene.type('skills create moon What the moon does: #1', {})
  expect(brokenRules(await written('moon'), 'moon')).toEqual([])
  // A head that was written for another agent is not written again as it is.
  const loose = '---\nname: dew\ndescription: Dew.\nversion: 2\nplatforms: [linux]\n---\n\nOld words.\n'
  await scene.put('home/skills/dew/SKILL.md', loose)
  expect(brokenRules(loose, 'dew')).toEqual(['only known fields'])
  const patch = { action: 'patch', name: 'dew', old_string: 'Old', new_string: 'New' }
  expect(await scene.call('skill_manage', patch)).toContain(
    'The skill cannot be written: its head has no key "version"',
  )
  expect(await written('dew')).toBe(loose)
})

describe('the rules', () => {
  const head = (lines: string) => `---\n${lines}\n---\n\nx\n`

  it.each([
    ['its head is closed', '---\nname: a'],
    ['it begins with a head', 'name: a'],
    ['its head is a mapping', head('- a')],
    ['name is in lower case', head('name: Tides\ndescription: x')],
    ['name is that of its folder', head('name: moon\ndescription: x')],
    ['name has no two hyphens in a row', head('name: ti--des\ndescription: x')],
    ['name neither begins nor ends with a hyphen', head('name: tides-\ndescription: x')],
    ['name has letters, digits and hyphens', head('name: ti_des\ndescription: x')],
    ['description is there, a text', head('name: tides')],
    ['description has at most 1024 characters', head(`name: tides\ndescription: ${'x'.repeat(1025)}`)],
    ['only known fields', head('name: tides\ndescription: x\ntools: y')],
  ])('see that not %s', (rule, text) => expect(brokenRules(text, 'tides')).toContain(rule))
})
