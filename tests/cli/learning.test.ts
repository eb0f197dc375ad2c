// What fixed a failure in one session is shown beside the same failure in the next.
import { expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()

it('shows an earlier fix at the end of a failing result in a later session', async () => {
  const { server } = scene
  const chat = (query: string) =>
    runCli(['chat', '-q', query, '-t', 'terminal,learning', '--yolo', '--base-url', server.baseUrl, '-m', 'm'], scene)
  const learnt = { action: 'save', pattern: 'kettle: element burnt out at 3000 W', fix: 'Replace the element.' }
  server.enqueue({ text: '', toolCalls: [{ name: 'learning', args: learnt }] }, { text: 'Kept.' })
  expect(await chat('Keep it.')).toMatchObject({ exitCode: 0, stdout: 'Kept.\n' })
  const command = 'echo "kettle: element burnt out at 2200 W" >&2; exit 3'
  server.enqueue({ text: '', toolCalls: [{ name: 'terminal', args: { command } }] }, { text: 'Seen.' })
  expect(await chat('Boil.')).toMatchObject({ exitCode: 0, stdout: 'Seen.\n' })
  const last = JSON.stringify(server.requests.at(-1)!.body)
  expect(last).toContain('[This looks like an earlier failure. What helped then: Replace the element.]')
})
