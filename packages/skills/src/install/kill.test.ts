// A process is killed before each change of a file that an install or an update makes, or finds the disk full: the skill is the one before or the one
// after, whole.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { SkillLock } from './lock.js'

/** How many of the changes; each in the soak. */
const KILLS = Number(process.env['HERMES_TEST_KILLS'] ?? 1)
const timeout = 60_000 + KILLS * 10_000
const fixture = (name: string) => fileURLToPath(new URL(`../__fixtures__/${name}`, import.meta.url))

async function installTwice(...options: readonly string[]) {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'hermes-skills-kill-')))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  const args = [
    '--conditions=@hermes/source',
    '--import',
    fixture('../../../testkit/src/__fixtures__/load-sources.mjs'),
    fixture('install-twice.mjs'),
  ]
  const child = spawn(process.execPath, [...args, root, ...options], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [output, [, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  return { root, output, signal }
}

const counted = new Map<string, number>()

/** Which of the changes are tried, evenly over all of them. */
async function triedChanges(round: string): Promise<readonly number[]> {
  const changes = counted.get(round) ?? (JSON.parse((await installTwice('0', round)).output).changes as number)
  counted.set(round, changes)
  expect(changes).toBeGreaterThan(10)
  const step = Math.max(1, Math.floor(changes / KILLS))
  return Array.from({ length: changes }, (_, index) => index + 1).filter((at) => (at + ((step / 2) | 0)) % step === 0)
}

describe.each([
  ['an install', '1', ['Number 1.']],
  ['an update', '2', ['Number 1.', 'Number 2.']],
])('%s', (_, round, possible) => {
  it('that is killed leaves the skill before or the skill after', { timeout }, async () => {
    for (const at of await triedChanges(round)) {
      const { root, signal } = await installTwice(String(at), round)
      expect(signal).toBe('SIGKILL')
      const { skills, problems } = await new SkillLock(join(root, 'home/skills/.hub')).sound()
      expect({ at, problems, found: skills.length <= 1 }).toEqual({ at, problems: [], found: true })
      if (round === '2') expect(skills).toHaveLength(1)
      for (const { folder, description } of skills) {
        expect(possible).toContain(description)
        const paths = ['SKILL.md', 'references/a.md'].map((path) => join(folder!, path))
        const [main, note] = await Promise.all(paths.map((path) => readFile(path, 'utf8')))
        expect([main, note]).toEqual([expect.stringContaining(`\n\n${description}\n`), `${description}\n`])
      }
    }
  })

  it('that finds the disk full says so in one line, leaves the skill before, and is done when there is room', {
    timeout,
  }, async () => {
    const failed: string[] = []
    for (const at of await triedChanges(round)) {
      const { output } = await installTwice(String(at), round, 'full')
      const { failures, ...result } = JSON.parse(output) as Readonly<Record<string, unknown>> & { failures: Failure[] }
      expect({ at, ...result }).toMatchObject({ at, after: ['Number 2.'], problems: [] })
      for (const { code, line, before, problems, installed } of failures) {
        failed.push(code)
        const expected = possible.slice(0, -1)
        expect({ at, before, problems, installed }).toEqual({
          at,
          before: expected,
          problems: [],
          installed: expected.length,
        })
        expect({ at, line }).toMatchObject({
          at,
          line: expect.stringMatching(/^[^\n]*the disk is full; free some space[^\n]*\.$/),
        })
      }
    }
    expect(failed.length).toBeGreaterThan(0)
  })
})

interface Failure {
  readonly code: string
  readonly line: string
  readonly before: readonly string[]
  readonly problems: readonly string[]
  /** Folders of installed skills that are there. */
  readonly installed: number
}
