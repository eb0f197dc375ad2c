// Slash commands whose effect is a request to the model: what it is asked, and that it may act on it.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startEditor } from '../support/acp.js'
import { useScene } from '../support/scene.js'

const scene = useScene()

it('/init has AGENTS.md written, /review has what is named looked through, each as a message of the session', async () => {
  const editor = await startEditor(['--base-url', scene.server.baseUrl, '-m', 'test', '--yolo'], scene)
  const id = await editor.newSession(scene.cwd)
  scene.server.enqueue(
    { toolCalls: [{ name: 'write_file', args: { path: 'AGENTS.md', content: 'Use tabs.\n' } }] },
    { text: 'Written.' },
    { text: 'Nothing to say.' },
  )
  await editor.prompt(id, '/init')
  expect(JSON.stringify(scene.server.requests[0]!.body.messages.at(-1))).toContain('AGENTS.md')
  expect(await readFile(join(scene.cwd, 'AGENTS.md'), 'utf8')).toBe('Use tabs.\n')
  await editor.prompt(id, '/review main')
  const messages = scene.server.requests.at(-1)!.body.messages.map((message) => JSON.stringify(message))
  expect(messages.at(-1)).toContain('Review main. Change nothing.')
  expect(messages.join()).toContain('Written.')
  await editor.leave()
})
