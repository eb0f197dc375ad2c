import { silentLogger } from '@hermes/contracts'
import { expect, it } from 'vitest'
import { createApp } from './app.js'
import { ExtensionRoutes } from './extension-routes.js'

it('needs the key for a route that has it, however its address is written', async () => {
  const answering = (method: string, path: string, scope: 'api' | 'open') => ({
    owner: 'part',
    item: { method, path, scope, handle: (_: Request, values: object) => Response.json({ scope, ...values }) },
  })
  const list = () => [answering('GET', '/tasks/ping', 'open'), answering('GET', '/tasks/:id', 'api')]
  const app = createApp({
    access: { type: 'key', key: 'k'.repeat(32) },
    extensions: new ExtensionRoutes({ extensions: { list } } as never),
    corsOrigins: [],
    models: [],
    startedAt: 0,
    version: '0',
    logger: silentLogger,
  } as unknown as Parameters<typeof createApp>[0])
  const bindings = { incoming: { socket: {} }, outgoing: { once: () => undefined } }
  const get = async (path: string) => (await app.request(`http://localhost${path}`, {}, bindings as never)).status
  expect(await get('/extensions/part/tasks/ping')).toBe(200)
  expect(await get('/extensions/part/tasks/1')).toBe(401)
  expect(await get('/extensions/part/tasks/%70ing')).toBe(401)
})
