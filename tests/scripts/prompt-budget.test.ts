import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Extension } from '@hermes/contracts/extension'
import { openRuntime } from '@hermes/runtime'
import { startModelServer, temporaryHome } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { promptBudget, weigh } from '../../bench/prompt-budget.mjs'

/** What a session of the terminal sends first, with everything built in and a source of tools that has a long description. */
async function firstRequest(): Promise<string> {
  await using home = await temporaryHome()
  const server = await startModelServer()
  const cwd = join(home.path, 'work')
  await mkdir(cwd)
  const config = { model: { default: 'm', base_url: server.baseUrl }, moa: { presets: { default: { models: ['m'] } } } }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify(config))
  const world = { env: { PATH: process.env['PATH']! }, cwd, user: 'u', tempDir: home.path }
  const large: Extension = {
    name: 'large',
    setup: (api) => void api.tools.addSource({ name: 'mcp-large', description: 'x'.repeat(5_000), list: () => [] }),
  }
  const extensions = (builtIn: readonly Extension[]) => [...builtIn, large]
  const runtime = await openRuntime({ home: home.path, userHome: home.path, extensions, ...world })
  try {
    const { agent } = await runtime.createAgent({})
    await agent.run('Hello.').result
    return JSON.stringify(server.requests[0]!.body)
  } finally {
    await runtime.close()
    await server.close()
  }
}

it('keeps the prompt within its budget, row by row, and every tool is in a row', async () => {
  const { rows, totalKb, strangers } = weigh(await firstRequest())
  expect(strangers).toEqual([])
  for (const { name, kB, limitKb, parts } of rows) {
    expect(parts, name).not.toEqual([])
    expect(kB, name).toBeLessThanOrEqual(limitKb)
  }
  expect(totalKb).toBeLessThanOrEqual(promptBudget().totalKb)
})
