// What fixed a failure in one session is shown beside the same failure in the next.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { startModelServer, temporaryHome } from '@hermes/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { runCli } from '../support/cli.js'

it('shows an earlier fix at the end of a failing result in a later session', async () => {
  const server = await startModelServer()
  const temporary = await temporaryHome()
  onTestFinished(() => Promise.all([server.close(), temporary.remove()]).then(() => undefined))
  const home = join(temporary.path, 'user', '.hermes')
  const cwd = join(temporary.path, 'work')
  await mkdir(cwd)
  const chat = (query: string) =>
    runCli(['chat', '-q', query, '-t', 'terminal,learning', '--yolo', '--base-url', server.baseUrl, '-m', 'm'], {
      home,
      cwd,
    })
  const learnt = { action: 'save', pattern: 'kettle: element burnt out at 3000 W', fix: 'Replace the element.' }
  server.enqueue({ text: '', toolCalls: [{ name: 'learning', args: learnt }] }, { text: 'Kept.' })
  expect(await chat('Keep it.')).toMatchObject({ exitCode: 0, stdout: 'Kept.\n' })
  const command = 'echo "kettle: element burnt out at 2200 W" >&2; exit 3'
  server.enqueue({ text: '', toolCalls: [{ name: 'terminal', args: { command } }] }, { text: 'Seen.' })
  expect(await chat('Boil.')).toMatchObject({ exitCode: 0, stdout: 'Seen.\n' })
  const last = JSON.stringify(server.requests.at(-1)!.body)
  expect(last).toContain('[This looks like an earlier failure. What helped then: Replace the element.]')
})
