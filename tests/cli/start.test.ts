import { readFile, writeFile } from 'node:fs/promises'
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
