// What one session found out by a detour spares the next one that detour, if its model follows hints.
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startModelServer, temporaryHome } from '@hermes/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { openRuntime } from '../open-runtime.js'

/** Needs a profile, and says which there are only to those who read it. */
const PROGRAM = `#!/bin/sh
# profiles: dawn
[ "$2" = --profile=dawn ] && { printf "engine is %s\\n" running; exit 0; }
echo "deploy: the engine needs a profile and none was chosen" >&2
exit 77
`

/** What the model does next, by the newest of what it sees. The first row that matches counts. */
const RULES: readonly (readonly [seen: RegExp, command: string | null])[] = [
  [/engine is running/, null],
  [/What helped then: Instead of `[^`]*` this worked: `([^`]+)`/, '$1'],
  [/profiles: (\w+)/, './deploy start --profile=$1'],
  [/needs a profile/, 'cat deploy'],
  [/Start the engine/, './deploy start'],
]

function nextStep(seen: string) {
  for (const [pattern, command] of RULES) {
    const match = pattern.exec(seen)
    if (match === null) continue
    if (command === null) break
    return { toolCalls: [{ name: 'terminal', args: { command: command.replace('$1', match[1] ?? '') } }] }
  }
  return { text: 'Done.' }
}

it('a model that follows hints needs a call less in the next session', async () => {
  const home = await temporaryHome()
  const server = await startModelServer()
  server.setHandler(({ body }) => nextStep(JSON.stringify(body.messages.at(-1)!.content)))
  const auxiliary = { session_summary: { enabled: false }, title_generation: { enabled: false } }
  const config = { model: { default: 'm', base_url: server.baseUrl }, auxiliary, terminal: { isolation: 'off' } }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify(config))
  await writeFile(join(home.path, 'deploy'), PROGRAM)
  await chmod(join(home.path, 'deploy'), 0o755)
  const world = { env: { PATH: process.env['PATH'] ?? '' }, cwd: home.path, user: 'u', tempDir: home.path }
  const runtime = await openRuntime({ home: home.path, userHome: home.path, ...world, yolo: true })
  onTestFinished(async () => {
    await runtime.close()
    await server.close()
    await home.remove()
  })
  /** The commands of a session of its own. */
  const session = async () => {
    const { agent } = await runtime.createAgent({})
    expect(await agent.run('Start the engine.').result).toMatchObject({ status: 'completed' })
    return agent
      .entries()
      .flatMap((entry) => (entry.type === 'message' && entry.message.role === 'assistant' ? entry.message.content : []))
      .flatMap((part) => (part.type === 'tool-call' ? [part.args?.['command']] : []))
  }
  const worked = './deploy start --profile=dawn'
  expect(await session()).toEqual(['./deploy start', 'cat deploy', worked])
  expect(await session()).toEqual(['./deploy start', worked])
})
