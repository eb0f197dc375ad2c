import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type CapturedRequest, startModelServer, temporaryHome } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { openRuntime } from './open-runtime.js'

const toolNames = ({ body }: CapturedRequest) =>
  ((body.tools ?? []) as { function: { name: string } }[]).map((tool) => tool.function.name)

it('gives a child no tool that the session of its parent has not, also when it is gone on with under more toolsets', async () => {
  await using home = await temporaryHome()
  const server = await startModelServer()
  server.setHandler(({ body }) => {
    const last = body.messages.at(-1)!
    if (!JSON.stringify(last).includes('Hand it on.')) return { text: 'Done.' }
    return { toolCalls: [{ name: 'delegate_task', args: { goal: 'Look.', toolsets: ['all'] } }] }
  })
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify({ model: { default: 'm', base_url: server.baseUrl } }))
  const world = { env: {}, cwd: home.path, user: 'u', tempDir: home.path, surface: 'test' }
  const runtime = await openRuntime({ home: home.path, userHome: home.path, ...world })
  try {
    const { agent, close } = await runtime.createAgent({ toolsets: ['todo', 'delegation'] })
    await agent.run('Hello.').result
    await close()
    const session = (await (await runtime.storage()).getSession(agent.sessionId))!
    const again = await runtime.createAgent({ session })
    expect(await again.agent.run('Hand it on.').result).toMatchObject({ status: 'completed' })
    expect(server.requests.map(toolNames)).toEqual([
      ['delegate_task', 'todo_read', 'todo_write'],
      ['delegate_task', 'todo_read', 'todo_write'],
      ['todo_read', 'todo_write'],
      ['delegate_task', 'todo_read', 'todo_write'],
    ])
  } finally {
    await runtime.close()
    await server.close()
  }
})
