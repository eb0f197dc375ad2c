import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { cliEnv, runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()

it('searches many files without ripgrep, and stops a pattern that does not end', async () => {
  await mkdir(join(scene.cwd, 'many'))
  const texts = Array.from({ length: 900 }, (_, at) => (at === 700 ? 'the needle\n' : 'hay\n'))
  await Promise.all(texts.map((text, at) => writeFile(join(scene.cwd, 'many', `${at}.txt`), text)))
  await writeFile(join(scene.cwd, 'trap.txt'), `${'a'.repeat(40)}!\n`)
  // As a shell answers where there is no such program.
  const programs = join(scene.cwd, 'programs')
  await mkdir(programs)
  await writeFile(join(programs, 'rg'), '#!/bin/sh\nexit 127\n', { mode: 0o755 })
  scene.server.enqueue(
    { toolCalls: [{ name: 'search_files', args: { pattern: 'the needle', path: 'many' } }] },
    { toolCalls: [{ name: 'search_files', args: { pattern: '^(a+)+$', path: 'trap.txt' } }] },
    { text: 'Found.' },
  )
  const env = { PATH: `${programs}:${cliEnv(scene)['PATH']}` }
  const args = ['chat', '-q', 'Find it.', '--base-url', scene.server.baseUrl, '-m', 'test']
  expect(await runCli(args, { ...scene, env })).toMatchObject({ exitCode: 0, stdout: 'Found.\n' })
  const answers = scene.server.requests.at(-1)!.body.messages.filter(({ role }) => role === 'tool')
  expect(answers.map(({ content }) => content)).toEqual([
    expect.stringContaining('700.txt\n  1: the needle\n[1-1 of 1 matches'),
    expect.stringContaining('it backtracks without end'),
  ])
})

it('finds what was piped in beside a question, and shows it with the session', async () => {
  scene.server.enqueue({ text: 'A list of birds.' })
  const args = ['chat', '-q', 'What is this about', '--base-url', scene.server.baseUrl, '-m', 'test']
  expect(await runCli(args, { ...scene, input: 'kingfisher\nnightjar\n' })).toMatchObject({ exitCode: 0 })
  const found = await runCli(['sessions', 'search', 'nightjar'], scene)
  expect(found.stdout).toContain('nightjar')
  // The question stands apart from it.
  expect((await runCli(['sessions', 'search', '"this about"'], scene)).stdout).toContain('about')
  const id = JSON.parse((await runCli(['sessions', 'list', '--json'], scene)).stdout).id
  expect((await runCli(['sessions', 'show', id], scene)).stdout).toContain('kingfisher')
  const notified = scene.server.requests[0]!.body.messages.at(-1)!
  expect(JSON.stringify(notified)).toMatch(/What is this about.*Standard input:.*kingfisher/)
})
