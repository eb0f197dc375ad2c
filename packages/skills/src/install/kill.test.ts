// A process that installs and updates is killed at any moment: the skill is the one before or the one after, whole.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { SkillLock } from './lock.js'

const KILLS = Number(process.env['HERMES_TEST_KILLS'] ?? 2)
const fixture = (name: string) => fileURLToPath(new URL(`../__fixtures__/${name}`, import.meta.url))

it(`survives ${KILLS} kills in the middle of installs and updates`, { timeout: 60_000 + KILLS * 10_000 }, async () => {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'hermes-skills-kill-')))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  let last = 0
  for (let kill = 0; kill < KILLS; kill++) {
    const args = ['--conditions=@hermes/source', '--import', fixture('load-sources.mjs'), fixture('install-loop.mjs')]
    const child = spawn(process.execPath, [...args, root, String(last + 1)], { stdio: ['ignore', 'pipe', 'inherit'] })
    // Between two writes of the loop, wherever it is by then.
    for (let seen = 0; seen <= kill % 4; ) seen += ((await once(child.stdout, 'data')) as [Buffer])[0].length
    child.kill('SIGKILL')
    await once(child, 'exit')
    const lock = new SkillLock(join(root, 'home/skills/.hub'))
    const { skills, problems } = await lock.sound()
    expect(problems).toEqual([])
    if (skills.length === 0) continue
    const texts = await Promise.all(
      ['SKILL.md', 'references/a.md', 'references/b.md', 'references/c.md'].map((path) =>
        readFile(join(skills[0]!.folder!, path), 'utf8'),
      ),
    )
    const numbers = new Set(texts.map((text) => /Number (\d+)\.\n$/.exec(text)?.[1]))
    expect(numbers.size).toBe(1)
    expect(skills[0]!.description).toBe(`Number ${[...numbers][0]}.`)
    expect(Number([...numbers][0])).toBeGreaterThanOrEqual(last)
    last = Number([...numbers][0])
  }
  expect(last).toBeGreaterThan(0)
})
