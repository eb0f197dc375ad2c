// Which projects a person trusts with what they bring.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type CliResult, runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()
const hermes = (...args: string[]): Promise<CliResult> => runCli(args, { home: scene.home, cwd: scene.cwd })

it('shows what a project brings, keeps an answer for it, and asks anew once it changed', async () => {
  const file = join(scene.cwd, '.claude', 'settings.json')
  await mkdir(join(scene.cwd, '.claude'))
  await writeFile(file, '{}')
  const state = async () => JSON.parse((await hermes('trust', 'list', '--json')).stdout.split('\n')[0]!).state
  expect((await hermes('trust')).stdout).toContain('brings:\n  hooks: .claude/settings.json\n')
  expect(await state()).toBe('unknown')
  expect(await hermes('trust', 'add')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('  hooks: .claude/settings.json\n'),
  })
  expect(await state()).toBe('trusted')
  await writeFile(file, '{"hooks":{}}')
  expect(await state()).toBe('changed')
  expect((await hermes('trust')).stdout).toContain('  changed since the answer: .claude/settings.json\n')
  expect(await hermes('trust', 'remove')).toMatchObject({ exitCode: 0 })
  expect(await state()).toBe('unknown')
  expect(await hermes('trust', 'remove')).toMatchObject({
    exitCode: 1,
    stdout: expect.stringContaining('There is no answer about'),
  })
  expect(await hermes('trust', 'add', 'nowhere')).toMatchObject({
    stderr: expect.stringMatching(/There is no folder .*nowhere\.\n/),
  })
})
