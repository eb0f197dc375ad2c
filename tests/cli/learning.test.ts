// What helped against a failure in one session is kept by itself, shown beside the same failure in the next, and in the person's hands.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CapturedRequest, ModelStep } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()
const KETTLE = '[ "$1" = --gently ] && exit 0; echo "kettle: element overheated at $RANDOM W" >&2; exit 3\n'

/** Boils, looks for what helps when that fails, and takes a hint where there is one. */
function cook({ body }: CapturedRequest): ModelStep {
  const { messages } = body as { messages: readonly { role: string; content: unknown }[] }
  const last = messages.at(-1)!
  const result = String(last.content)
  const run = (command: string) => ({ text: '', toolCalls: [{ name: 'terminal', args: { command } }] })
  if (last.role !== 'tool') return run('sh kettle.sh')
  if (result.includes('"$1"')) return run('sh kettle.sh --gently')
  if (result.includes('overheated')) return run(/this worked: `([^`]+)`/.exec(result)?.[1] ?? 'cat kettle.sh')
  return { text: 'Tea.' }
}

it('a run that got over a failure spares the next session the search, and the person sees, changes and removes what was learnt', async () => {
  const { server, cwd } = scene
  await writeFile(join(cwd, 'kettle.sh'), KETTLE)
  const boil = async () => {
    const before = server.requests.length
    server.setHandler(cook)
    const answer = await runCli(['chat', '-q', 'Boil.', '--yolo', '--base-url', server.baseUrl, '-m', 'm'], scene)
    expect(answer).toMatchObject({ exitCode: 0, stdout: 'Tea.\n' })
    return server.requests.length - before
  }
  const hermes = async (...args: string[]) => (await runCli(['learning', ...args], scene)).stdout
  const first = await boil()
  expect(await boil()).toBe(first - 1)
  const [kept] = (await hermes('list', '--json')).split('\n')
  const { id, fix, tags } = JSON.parse(kept!)
  expect(fix).toBe('Instead of `sh kettle.sh` this worked: `sh kettle.sh --gently`.')
  expect(tags).toContain('seen')
  expect(await hermes('edit', id, 'Boil it gently.')).toBe(`#${id} now says: Boil it gently.\n`)
  expect(await hermes('remove', id)).toBe(`Forgotten: #${id}\n`)
})
