// Images and documents that a person hands over with a question, as a user would.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='

beforeEach(async () => {
  const { home, cwd, server } = scene
  const model = { provider: 'custom', default: 'm', base_url: server.baseUrl }
  await mkdir(home, { recursive: true })
  await writeFile(
    join(home, 'config.yaml'),
    JSON.stringify({ model, model_overrides: { m: { supports_vision: true } } }),
  )
  await writeFile(join(cwd, 'dot.png'), Buffer.from(PNG, 'base64'))
  await writeFile(join(cwd, 'notes.txt'), 'no image')
  server.setHandler(() => ({ text: 'Seen.' }))
})

const ask = (...args: string[]) => runCli(['chat', ...args], scene)
const question = () =>
  scene.server.requests
    .map(({ body }) => body.messages.at(-1)!.content as { type: string; image_url?: { url: string } }[])
    .find((content) => Array.isArray(content) && content.some(({ type }) => type === 'image_url'))

describe('an image', () => {
  it('goes with a question by --image, several in their order', async () => {
    const { exitCode } = await ask('--image', 'dot.png', '--image', './dot.png', '-q', 'What is it?')
    expect(exitCode).toBe(0)
    expect(question()!.map(({ type }) => type)).toEqual(['text', 'image_url', 'image_url'])
    expect(question()![1]!.image_url!.url).toBe(`data:image/png;base64,${PNG}`)
  })

  it('goes with a message that points at it', async () => {
    expect((await ask('-q', 'What is @file:dot.png?')).exitCode).toBe(0)
    expect(question()!.map(({ type }) => type)).toEqual(['text', 'image_url'])
    expect(JSON.stringify(question())).toContain('<attached from=\\"@file:dot.png\\">')
  })

  it.each([
    [['--image', 'gone.png', '-q', 'x'], '--image gone.png: there is no such file.'],
    [['--image', 'notes.txt', '-q', 'x'], '--image notes.txt: it is no PNG, JPEG, GIF or WebP image.'],
    [['--image', '.', '-q', 'x'], '--image .: it is no file.'],
    [['--image', 'dot.png', '-c'], '--image goes with a question'],
  ])('%j is refused in one line', async (args, line) => {
    const { exitCode, stderr, stdout } = await ask(...args)
    expect(exitCode).toBe(2)
    expect(`${stderr}${stdout}`).toContain(line)
    expect(scene.server.requests).toEqual([])
  })
})
