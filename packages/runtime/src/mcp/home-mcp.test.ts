import { rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { silentLogger } from '@hermes/contracts'
import type { HookEvent } from '@hermes/contracts/extension'
import { createFakeClock, temporaryHome } from '@hermes/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { openHomeMcp } from './home-mcp.js'

it('reads config.yaml again where it is another file, and keeps its servers where it is gone', async () => {
  const [home, clock] = [await temporaryHome(), createFakeClock()]
  const own = { home: home.path, userHome: home.path, cwd: home.path, env: {}, own: [], brought: {} }
  const ports = { fetchTo: () => fetch, conceal: () => undefined, clock, logger: silentLogger }
  const { extension } = openHomeMcp({ ...own, ...ports } as unknown as Parameters<typeof openHomeMcp>[0])
  const names = new Set<string>()
  const handlers = new Map<string, (event: HookEvent) => unknown>()
  const add = () => ({ dispose: () => undefined })
  const close = extension.setup({
    hooks: { on: (name: string, handler: (event: HookEvent) => unknown) => handlers.set(name, handler) },
    tools: {
      addSource: ({ description }: { readonly description: string }) => {
        names.add(description)
        return { dispose: () => names.delete(description) }
      },
    },
    ...{ config: { section: add }, commands: { add }, doctor: { check: add } },
  } as never) as () => Promise<void>
  onTestFinished(async () => {
    await close()
    await home.remove()
  })
  const file = join(home.path, 'config.yaml')
  const write = (name: string) => writeFile(file, `mcp_servers: { ${name}: { url: 'http://127.0.0.1:9/mcp' } }\n`)
  const known = async () => {
    await clock.advance(60_000)
    await handlers.get('run-start')!({ session: { entries: [] } } as unknown as HookEvent)
    return [...names].map((line) => line.split(' ').at(-1))
  }
  await write('tea')
  expect(await known()).toEqual(['tea'])
  // To a time that can be set again exactly.
  const { atime, mtime } = await stat(file)
  await utimes(file, atime, mtime)
  expect(await known()).toEqual(['tea'])
  // Other words of the same length at the same time: they would be seen by reading alone.
  const before = await stat(file)
  await write('pot')
  await utimes(file, before.atime, before.mtime)
  expect(await known()).toEqual(['tea'])
  await write('kettle')
  expect(await known()).toEqual(['kettle'])
  await rm(file)
  expect(await known()).toEqual(['kettle'])
})
