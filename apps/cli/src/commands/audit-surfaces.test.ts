import { mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { Io } from '../io.js'
import { auditSurfaces } from './audit-surfaces.js'

/** A folder with `files`, the first of which was changed last, and what the command says about it. */
async function setUp(files: Readonly<Record<string, string>>) {
  const cwd = await mkdtemp(join(tmpdir(), 'hermes-surfaces-'))
  onTestFinished(() => rm(cwd, { recursive: true, force: true }))
  for (const [at, [path, text]] of Object.entries(files).entries()) {
    await mkdir(dirname(join(cwd, path)), { recursive: true })
    await writeFile(join(cwd, path), text)
    await utimes(join(cwd, path), 0, 1_700_000_000 - at * 60)
  }
  const printed = { out: '', err: '' }
  const output = (to: 'out' | 'err') => ({
    isTTY: false,
    columns: () => 200,
    write: (text: string) => void (printed[to] += text),
  })
  const io = { cwd, stdout: output('out'), stderr: output('err'), env: {} } as unknown as Io
  const run = async (options: { readonly json?: boolean } = {}) => {
    const exitCode = await auditSurfaces(io, options)
    return { ...printed, exitCode }
  }
  return { cwd, run }
}

it('names what runs or instructs later, newest first, with who takes it up', async () => {
  const { run } = await setUp({
    'AGENTS.md': '',
    'packages/a/.npmrc': '',
    '.github/workflows/ci.yml': '',
    '.git/hooks/pre-push': '',
    'package.json': '{"scripts":{"prepare":"husky"}}',
  })
  const { out, err, exitCode } = await run()
  expect([exitCode, err]).toEqual([0, ''])
  const lines = out.trimEnd().split('\n')
  expect(lines.map((line) => line.split('  ')[1])).toEqual([
    ...['AGENTS.md', 'packages/a/.npmrc', '.github/workflows/ci.yml', '.git/hooks/pre-push', 'package.json'],
  ])
  expect(lines[0]).toBe('2023-11-14 22:13  AGENTS.md  agents: agents take their orders from it')
  expect(lines.at(-1)).toContain('npm: it has install scripts or hooks that run by themselves')
})

it('leaves out what does nothing, samples, and what others brought in', async () => {
  const { cwd, run } = await setUp({
    'README.md': '',
    'src/agents.ts': '',
    'package.json': '{"scripts":{"test":"vitest"}}',
    '.git/hooks/pre-push.sample': '',
    'node_modules/x/package.json': '{"scripts":{"postinstall":"x"}}',
    'node_modules/x/AGENTS.md': '',
  })
  await symlink('gone', join(cwd, 'CLAUDE.md'))
  expect(await run()).toEqual({ out: '', err: 'Nothing in this folder runs or instructs by itself.\n', exitCode: 0 })
})

it('prints a line of JSON for each, and hides nothing of an odd name', async () => {
  const { run } = await setUp({ 'a\u202eb/AGENTS.md': '', '.envrc': 'x' })
  expect((await run()).out).not.toContain('\u202e')
  const { out } = await (await setUp({ '.envrc': 'x', 'skills/x/SKILL.md': '' })).run({ json: true })
  expect(
    out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual([
    { path: '.envrc', by: 'shells', does: 'programs named in it run later', changedAtMs: 1_700_000_000_000 },
    {
      path: 'skills/x/SKILL.md',
      by: 'agents',
      does: 'agents take their orders from it',
      changedAtMs: 1_699_999_940_000,
    },
  ])
})

it('names what a Makefile includes, and what that includes', async () => {
  const { run } = await setUp({
    'build/common.mk': 'include build/rules/*.mk',
    'build/rules/x.mk': '',
    'other.mk': '',
    Makefile: 'include build/common.mk\n-include gone.mk',
  })
  const { out } = await run()
  expect(out.trimEnd().split('\n')).toEqual([
    '2023-11-14 22:13  build/common.mk  make: a Makefile includes it',
    '2023-11-14 22:12  build/rules/x.mk  make: a Makefile includes it',
  ])
})
