import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startModelServer, temporaryHome } from '@hermes/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { batch, promptsIn } from './batch.js'
import type { Io } from './io.js'

/** What a stop leaves of a line that is being written. */
const HALF = '{"prompt":"Three?","status":"compl'

async function stage() {
  const [server, temporary] = [await startModelServer(), await temporaryHome()]
  onTestFinished(async () => {
    await server.close()
    await temporary.remove()
  })
  const folder = temporary.path
  const home = join(folder, '.hermes')
  await mkdir(home)
  await writeFile(join(home, 'config.yaml'), 'auxiliary: {title_generation: {enabled: false}}\n')
  let shown = ''
  const output = { isTTY: false, colors: false, columns: () => 80, write: (text: string) => void (shown += text) }
  const world = { cwd: folder, userHome: folder, tempDir: folder, user: 'ada', nodePath: process.execPath }
  const env = { HERMES_HOME: home, PATH: '/usr/bin:/bin' }
  const io = { ...world, env, stdin: {}, stdout: output, stderr: output, onInterrupt: () => () => undefined }
  const run = () => batch(io as unknown as Io, 'questions.txt', { baseUrl: server.baseUrl, model: 'm' })
  const file = join(folder, 'questions.txt')
  const answers = async () =>
    (await readFile(`${file}.answers.jsonl`, 'utf8'))
      .trimEnd()
      .split('\n')
      .filter((line) => line !== HALF)
      .map((line) => JSON.parse(line) as object)
  return { server, file, run, answers, shown: () => shown }
}

it('asks each question in a session of its own, and the next time only what has no answer yet', async () => {
  const { server, file, run, answers, shown } = await stage()
  await writeFile(file, 'One?\n\n{"prompt": "Two\\nlines?", "id": 2}\nThree?\nOne?\n')
  let isDown = true
  server.setHandler(({ body }) => {
    const text = JSON.stringify(body.messages)
    return isDown && text.includes('Three?')
      ? { fault: 'status', status: 400 }
      : { text: `Answer ${body.messages.length}.` }
  })
  expect(await run()).toBe(1)
  const first = await answers()
  expect(first).toMatchObject([
    { prompt: 'One?', status: 'completed', text: 'Answer 2.' },
    { prompt: 'Two\nlines?', status: 'completed', text: 'Answer 2.' },
    { prompt: 'Three?', status: 'failed', error: expect.any(String) },
  ])
  expect(shown()).toContain('[2/3] completed: Two lines?')
  isDown = false
  await appendFile(`${file}.answers.jsonl`, HALF)
  const { length } = server.requests
  expect(await run()).toBe(0)
  expect(server.requests.length).toBe(length + 1)
  expect((await answers()).slice(3)).toMatchObject([{ prompt: 'Three?', status: 'completed' }])
  expect(shown()).toContain('2 of 3 have their answer already.')
  expect(server.violations).toEqual([])
})

it('says which line it cannot read', () => {
  expect(() => promptsIn('One?\n{"question": "Two?"}')).toThrow('line 2 is no JSON object with a "prompt"')
})
