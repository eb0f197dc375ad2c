// A process is killed before each change of a file that an update makes: the skill is the one before or the one after, whole.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { SkillLock } from './lock.js'

/** How many of the changes; each in the soak. */
const KILLS = Number(process.env['HERMES_TEST_KILLS'] ?? 2)
const fixture = (name: string) => fileURLToPath(new URL(`../__fixtures__/${name}`, import.meta.url))

async function update(at: number) {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'hermes-skills-kill-')))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  const args = ['--conditions=@hermes/source', '--import', fixture('load-sources.mjs'), fixture('install-twice.mjs')]
  const child = spawn(process.execPath, [...args, root, String(at)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [output, [, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  return { root, changes: Number(output), signal }
}

it('an update that is killed leaves the skill before or the skill after', {
  timeout: 60_000 + KILLS * 10_000,
}, async () => {
  const { changes } = await update(0)
  expect(changes).toBeGreaterThan(5)
  const step = Math.max(1, Math.floor(changes / KILLS))
  for (let at = 1 + ((step / 2) | 0); at <= changes; at += step) {
    const { root, signal } = await update(at)
    expect(signal).toBe('SIGKILL')
    const { skills, problems } = await new SkillLock(join(root, 'home/skills/.hub')).sound()
    expect({ at, problems, names: skills.map(({ name }) => name) }).toEqual({ at, problems: [], names: ['tides'] })
    const [main, note] = await Promise.all(
      ['SKILL.md', 'references/a.md'].map((path) => readFile(join(skills[0]!.folder!, path), 'utf8')),
    )
    const number = note!.trim()
    expect(['Number 1.', 'Number 2.']).toContain(number)
    expect(main).toContain(`\n\n${number}\n`)
    expect(skills[0]!.description).toBe(number)
  }
})
