import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const repository = join(import.meta.dirname, '../..')
const SCRIPTS = ['boundaries', 'generate', 'golden', 'packed', 'record-demo', 'release'].map(
  (name) => `scripts/${name}.mjs`,
)

describe.each([...SCRIPTS, 'bench/run.mjs'])('node %s', (script) => {
  const run = (option: string) =>
    spawnSync(process.execPath, [join(repository, script), option], { encoding: 'utf8', cwd: repository })

  it('tells with --help how it is called, and does nothing else', () => {
    const { status, stdout, stderr } = run('--help')
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(new RegExp(`^node ${script}.*: `))
    expect(stdout).toContain('Exit codes: ')
  })

  it('says so in one line, and how it is called, when it does not know an option', () => {
    const { status, stdout, stderr } = run('--bogus')
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(new RegExp(`^Unknown option '--bogus'[^\\n]*\\n\\nnode ${script}`))
  })
})
