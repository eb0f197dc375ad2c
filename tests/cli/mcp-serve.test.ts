// Other programs as clients of `hermes mcp serve`, by the SDK that most of them still run.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { expect, it } from 'vitest'
import { CLI, cliEnv, runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()

it('lists and searches sessions for a client that starts it, and ends with that client', async () => {
  scene.server.enqueue({ text: 'The kettle is red.' })
  await runCli(['-q', 'Which colour has the kettle?', '--base-url', scene.server.baseUrl, '-m', 'm'], scene)
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [CLI, 'mcp', 'serve'],
    env: cliEnv(scene),
    stderr: 'pipe',
  })
  const client = new Client({ name: 'other', version: '1' })
  await client.connect(transport)
  const { pid } = transport
  expect(client.getServerVersion()).toMatchObject({ name: 'hermes' })
  const { structuredContent } = await client.callTool({ name: 'sessions_search', arguments: { query: 'kettle' } })
  expect(JSON.stringify(structuredContent)).toContain('kettle')
  await client.close()
  await expect.poll(() => isAlive(pid!), { timeout: 10_000 }).toBe(false)
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
