// Approvals over HTTP, on a real home: the first answer counts, nobody sees those of another person, and nothing is taken unless it is allowed.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSessionHost } from '@hermes/host'
import { openRuntime } from '@hermes/runtime'
import { startModelServer, temporaryHome } from '@hermes/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { ApprovalRoutes } from './approval-routes.js'

it('lists what waits, takes one answer where answers are taken, and shows nobody what another person is asked', async () => {
  const [server, temporary] = [await startModelServer(), await temporaryHome()]
  const home = join(temporary.path, '.hermes')
  await mkdir(home)
  const config = {
    auxiliary: { title_generation: { enabled: false }, session_summary: { enabled: false } },
    terminal: { isolation: 'off' },
    memory: { flush_min_turns: 0 },
  }
  await writeFile(join(home, 'config.yaml'), JSON.stringify(config))
  const [cwd, env] = [temporary.path, { PATH: process.env['PATH'] ?? '/usr/bin:/bin' }]
  const runtime = await openRuntime({ home, userHome: cwd, env, cwd, user: 'ada', tempDir: cwd })
  const host = createSessionHost({ runtime })
  onTestFinished(async () => {
    await host.close()
    await runtime.close()
    await server.close()
    await temporary.remove()
  })
  server.enqueue({ toolCalls: [{ name: 'terminal', args: { command: 'rm -rf build' } }] }, { text: 'Done.' })
  const request = {
    baseUrl: server.baseUrl,
    model: 'm',
    platform: 'gateway',
    user: 'bob',
    permissions: 'park',
  } as const
  const session = host.open(request)
  expect((await session.send('clean up').result).status).toBe('parked')

  const routes = (isOpen: boolean) => new ApprovalRoutes({ runtime, host, isOpen })
  const ids = async (person: string | null) =>
    ((await routes(true).list(person)) as { readonly data: readonly { readonly id: string }[] }).data.map(
      ({ id }) => id,
    )
  const [id = ''] = await ids('bob')
  expect([await ids(null), await ids('eve')]).toEqual([[id], []])
  const body = '{"choice":"once"}'
  await expect(routes(false).answer({ id, person: 'bob', body })).rejects.toMatchObject({ status: 403 })
  await expect(routes(true).answer({ id, person: 'eve', body })).rejects.toMatchObject({ status: 404 })
  for (const wrong of ['', '{"choice":"always"}', '[]'])
    await expect(routes(true).answer({ id, person: 'bob', body: wrong })).rejects.toMatchObject({ status: 400 })
  expect(await routes(true).answer({ id, person: 'bob', body })).toMatchObject({ id, choice: 'once' })
  await expect(routes(true).answer({ id, person: 'bob', body })).rejects.toMatchObject({ status: 404 })
  expect((await session.send({ resume: true }).result).text).toBe('Done.')
})
