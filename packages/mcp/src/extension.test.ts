import { HermesError, silentLogger, systemClock } from '@hermes/contracts'
import type { HookEvent } from '@hermes/contracts/extension'
import { temporaryHome } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { createMcp } from './extension.js'

type Handler = (event: HookEvent) => unknown

it('names a server of one session that does not start, once and to the person of that session', async () => {
  await using home = await temporaryHome()
  const mcp = createMcp({
    configured: { value: undefined },
    reread: async () => ({ value: undefined }),
    folders: { userHome: home.path, workspace: home.path },
    writeServer: async () => undefined,
    cacheDir: `${home.path}/listings`,
    loginDir: `${home.path}/logins`,
    openLoopback: () => Promise.reject(new Error('Nobody logs in.')),
    conceal: () => undefined,
    startProgram: async () => {
      throw new HermesError('it was left.', { code: 'sandbox.not_found' })
    },
    fetchTo: () => fetch,
    version: '0',
    clock: systemClock,
    logger: silentLogger,
  })
  const handlers = new Map<string, Handler>()
  const add = () => ({ dispose: () => undefined })
  const close = mcp.extension.setup({
    hooks: { on: (name: string, handler: Handler) => handlers.set(name, handler) },
    ...{ config: { section: add }, doctor: { check: add }, commands: { add }, tools: { addSource: add } },
  } as never) as () => Promise<void>
  const servers = mcp.forSession('s', { notes: { command: 'notes-server' } })
  const lines: string[] = []
  const call = (point: string, id = 's') =>
    handlers.get(point)!({ session: { id }, notice: (line: string) => lines.push(`${id}: ${line}`) } as never)
  await expect
    .poll(() => {
      for (const id of ['other', 's']) call('before-model-call', id)
      return lines
    })
    .toEqual(['s: The MCP server notes does not start: it was left.'])
  call('after-model-call')
  expect(lines).toHaveLength(1)
  await servers.close()
  await close()
})
