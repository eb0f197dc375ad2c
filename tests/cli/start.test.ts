import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()

/** Notes every file that a process loads. */
const NOTE_LOADS = `
import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
registerHooks({
  load: (url, context, next) => {
    appendFileSync(process.env.LOADED, url + '\\n')
    return next(url, context)
  },
})`

it('loads no zod, neither on the way to a first request nor to check or change the configuration', async () => {
  scene.server.setHandler(() => ({ text: 'Hello.' }))
  const loaded = join(scene.folder, 'loaded')
  const preload = `--import=data:text/javascript,${encodeURIComponent(NOTE_LOADS)}`
  const env = { NODE_OPTIONS: preload, LOADED: loaded }
  for (const args of [
    ['chat', '-q', 'Hi.', '--base-url', scene.server.baseUrl, '-m', 'test'],
    ['config', 'set', 'agent.max_turns', '7'],
    ['config', 'check'],
  ]) {
    await writeFile(loaded, '')
    expect(await runCli(args, { ...scene, env })).toMatchObject({ exitCode: 0 })
    const files = (await readFile(loaded, 'utf8')).split('\n').filter((url) => url.startsWith('file:'))
    expect(files.length).toBeGreaterThan(3)
    for (const url of files)
      expect(await readFile(fileURLToPath(url), 'utf8'), url).not.toMatch(/_zod\.def|\bZodType\b/)
  }
})

it('reads YAML in the head of a skill that is written, and in a file that the model writes', async () => {
  const file = join(scene.home, 'skills/tides/SKILL.md')
  expect(await runCli(['skills', 'create', 'tides', 'Tells', 'the', 'tides'], scene)).toMatchObject({
    exitCode: 0,
    stdout: `Made ${file}. Write into it what to do: hermes skills edit tides\n`,
  })
  await mkdir(join(scene.home, 'skills/moon'), { recursive: true })
  await writeFile(
    join(scene.home, 'skills/moon/SKILL.md'),
    '---\nname: moon\ndescription: >-\n  Tells: the\n  moon.\n---\nLook up.',
  )
  expect((await runCli(['skills', 'list', 'moon'], scene)).stdout).toContain('Tells: the moon.')
  scene.server.enqueue(
    { toolCalls: [{ name: 'write_file', args: { path: 'a.yaml', content: 'a: [1' } }] },
    { text: 'Done.' },
  )
  await runCli(['chat', '-q', 'Write it.', '--yolo', '--base-url', scene.server.baseUrl, '-m', 'test'], scene)
  expect(JSON.stringify(scene.server.requests.at(-1)!.body)).toMatch(/Flow sequence [^"]*line 1/)
})
