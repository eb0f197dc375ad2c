import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Extension } from '@hermes/contracts/extension'
import { defineTool, type Tool } from '@hermes/contracts/tool'
import { startModelServer, temporaryHome } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { openRuntime } from '../open-runtime.js'

const note = defineTool({
  name: 'far_note',
  toolset: 'far',
  description: 'Notes something far away.',
  effect: 'read',
  parameters: { type: 'object', properties: {} },
  execute: () => 'noted far away',
}) as Tool

it('has tools that an extension brings while sessions run, in them, in new ones and in their children', async () => {
  await using home = await temporaryHome()
  const server = await startModelServer()
  server.setHandler(({ body }) => {
    const last = body.messages.at(-1)!
    const text = JSON.stringify(last)
    if (last.role === 'tool') return { text: text }
    if (text.includes('Delegate')) return { toolCalls: [{ name: 'delegate_task', args: { goal: 'Note it.' } }] }
    return { toolCalls: [{ name: 'tool_call', args: { name: 'far_note', arguments: {} } }] }
  })
  let tools: readonly Tool[] = []
  let changed: () => void = () => undefined
  const extension: Extension = {
    name: 'far',
    setup: (api) => {
      api.tools.addSource({
        name: 'far',
        list: () => tools,
        onChange: (listener) => {
          changed = listener
          return () => undefined
        },
      })
    },
  }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify({ model: { default: 'm', base_url: server.baseUrl } }))
  const world = { env: {}, cwd: home.path, user: 'u', tempDir: home.path }
  const runtime = await openRuntime({
    home: home.path,
    userHome: home.path,
    extensions: (builtIn) => [...builtIn, extension],
    ...world,
  })
  try {
    const { agent } = await runtime.createAgent({})
    const answer = async (input: string) => (await agent.run(input).result).text
    expect(await answer('Note it.')).toContain('There is no tool')
    tools = [note]
    changed()
    expect(await answer('Note it.')).toContain('noted far away')
    expect(await answer('Delegate it.')).toContain('noted far away')
    expect(await runtime.tools()).toContainEqual(expect.objectContaining({ name: 'far_note', isEnabled: true }))
    expect(new Set(server.requests.slice(0, 4).map(({ body }) => JSON.stringify(body.tools))).size).toBe(1)
    tools = []
    changed()
    expect(await answer('Note it.')).toContain('There is no tool')
  } finally {
    await runtime.close()
    await server.close()
  }
})
