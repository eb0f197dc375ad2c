import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startModelServer, temporaryHome } from '@hermes/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { openRuntime } from '../index.js'

it('hears the user while a command runs, which goes on in the background', async () => {
  const [server, temporary] = [await startModelServer(), await temporaryHome()]
  const path = (...names: readonly string[]) => join(temporary.path, ...names)
  for (const folder of ['home/.hermes', 'work']) await mkdir(path(folder), { recursive: true })
  await writeFile(path('home/.hermes/config.yaml'), 'approvals: {mode: "off"}\nterminal: {isolation: "off"}\n')
  const runtime = await openRuntime({
    home: path('home/.hermes'),
    userHome: path('home'),
    env: { PATH: '/usr/bin:/bin' },
    cwd: path('work'),
    user: 'ada',
    tempDir: temporary.path,
  })
  onTestFinished(async () => {
    await runtime.close()
    await server.close()
    await temporary.remove()
  })
  const command = 'echo begun; sleep 600'
  server.enqueue({ toolCalls: [{ name: 'terminal', args: { command } }] }, { text: 'I hear you.' })
  const { agent } = await runtime.createAgent({ baseUrl: server.baseUrl, model: 'm' })
  const run = agent.run('Work.')
  let steered: Promise<string> | null = null
  for await (const event of run) if (event.type === 'tool-progress') steered ??= agent.steer('Are you there?')
  expect(await run.result).toMatchObject({ status: 'completed', text: 'I hear you.' })
  expect(await steered).toBe('delivered')
  const prompt = JSON.stringify(server.requests.at(-1)!.body)
  expect(prompt).toMatch(/begun.*goes on in the background: session_id proc_/)
  expect(prompt).toContain('Are you there?')
})
