// Other programs as clients of `hermes mcp serve`, by the SDK that most of them still run.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, it } from 'vitest'
import { CLI, cliEnv, runCli } from '../support/cli.js'
import { useScene } from '../support/scene.js'

const scene = useScene()

it('searches sessions and runs the agent for a client that starts it, and ends with it, in mid-question too', async () => {
  scene.server.enqueue({ text: 'The kettle is red.' })
  const auxiliary = { title_generation: { enabled: false }, session_summary: { enabled: false } }
  const model = { default: 'm', base_url: scene.server.baseUrl }
  const config = { model, auxiliary, terminal: { isolation: 'off' } }
  await mkdir(scene.home, { recursive: true })
  await writeFile(join(scene.home, 'config.yaml'), JSON.stringify(config))
  await runCli(['-q', 'Which colour has the kettle?'], scene)
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [CLI, 'mcp', 'serve'],
    env: cliEnv(scene),
    stderr: 'pipe',
  })
  const client = new Client({ name: 'other', version: '1' }, { capabilities: { elicitation: {} } })
  const forms: string[] = []
  const leaves = Promise.withResolvers<void>()
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
    forms.push(params.message)
    if (forms.length < 3) return { action: 'accept', content: { answer: forms.length === 1 ? 'green' : 'once' } }
    leaves.resolve()
    return new Promise<never>(() => undefined)
  })
  await client.connect(transport)
  const { pid } = transport
  expect(client.getServerVersion()).toMatchObject({ name: 'hermes' })
  const { structuredContent } = await client.callTool({ name: 'sessions_search', arguments: { query: 'kettle' } })
  expect(JSON.stringify(structuredContent)).toContain('kettle')
  const question = { toolCalls: [{ name: 'clarify', args: { question: 'Which tea?', choices: ['green', 'black'] } }] }
  const removal = { toolCalls: [{ name: 'terminal', args: { command: 'rm -rf ./old-things' } }] }
  scene.server.enqueue(question, removal, { text: 'Green tea, and room for it.' })
  const run = (prompt: string) => client.callTool({ name: 'run_agent', arguments: { prompt } })
  expect(JSON.stringify((await run('Make tea.')).content)).toContain('Green tea, and room for it.')
  expect(forms).toEqual([expect.stringContaining('Which tea?'), expect.stringContaining('rm -rf ./old-things')])
  scene.server.enqueue(question)
  const left = run('Make more.').catch(() => 'left')
  await leaves.promise
  await client.close()
  expect(await left).toBe('left')
  await expect.poll(() => isAlive(pid!), { timeout: 10_000 }).toBe(false)
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
