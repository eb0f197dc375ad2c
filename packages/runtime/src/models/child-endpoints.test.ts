import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ModelServer, startModelServer, temporaryHome } from '@hermes/testkit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openRuntime } from '../open-runtime.js'

let server: ModelServer
let other: ModelServer
beforeEach(async () => {
  ;[server, other] = await Promise.all([startModelServer(), startModelServer()])
})
afterEach(() => Promise.all([server.close(), other.close()]))

it.each([
  { delegation: {}, asks: 'server', model: 'm' },
  { delegation: { model: 'small' }, asks: 'server', model: 'small' },
  { delegation: { base_url: 'OTHER' }, asks: 'other', model: 'm' },
  { delegation: { provider: 'lab' }, asks: 'other', model: 'lab-model' },
])('a child takes from its parent what delegation does not name: $delegation', async ({ delegation, asks, model }) => {
  await using home = await temporaryHome()
  // Where config.yaml sends sessions has nothing to do with the flags of this one.
  const config = {
    model: { default: 'claude-sonnet-4-5', provider: 'anthropic' },
    providers: { lab: { base_url: other.baseUrl, model: 'lab-model' } },
    delegation: JSON.parse(JSON.stringify(delegation).replace('OTHER', other.baseUrl)) as object,
    auxiliary: { title_generation: { enabled: false }, session_summary: { enabled: false } },
  }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify(config))
  const children: { at: string; model: unknown }[] = []
  for (const [at, one] of Object.entries({ server, other }))
    one.setHandler(({ body }) => {
      const text = JSON.stringify(body.messages)
      if (!text.includes('Hand it on.')) {
        children.push({ at, model: body.model })
        return { text: 'child done' }
      }
      if (text.includes('child done')) return { text: 'all done' }
      return { toolCalls: [{ name: 'delegate_task', args: { goal: 'Do it.' } }] }
    })
  const world = { env: {}, cwd: home.path, user: 'u', tempDir: home.path }
  const runtime = await openRuntime({ home: home.path, userHome: home.path, ...world })
  try {
    const { agent } = await runtime.createAgent({ baseUrl: server.baseUrl, model: 'm', toolsets: ['all'] })
    expect(await agent.run('Hand it on.').result).toMatchObject({ status: 'completed', text: 'all done' })
    expect(children).toEqual([{ at: asks, model }])
  } finally {
    await runtime.close()
  }
})

it('ends a task that takes longer than delegation.child_timeout_seconds, and the parent goes on', async () => {
  await using home = await temporaryHome()
  const config = {
    delegation: { child_timeout_seconds: 1 },
    auxiliary: { title_generation: { enabled: false }, session_summary: { enabled: false } },
  }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify(config))
  let notified = ''
  server.setHandler(({ body }) => {
    const text = JSON.stringify(body.messages)
    if (!text.includes('Hand it on.')) return { fault: 'stall', text: 'half' }
    if (!text.includes('call_'))
      return { toolCalls: [{ id: 'call_1', name: 'delegate_task', args: { goal: 'Do it.' } }] }
    notified = text
    return { text: 'went on' }
  })
  const world = { env: {}, cwd: home.path, user: 'u', tempDir: home.path }
  const runtime = await openRuntime({ home: home.path, userHome: home.path, ...world })
  try {
    const { agent } = await runtime.createAgent({ baseUrl: server.baseUrl, model: 'm', toolsets: ['all'] })
    expect(await agent.run('Hand it on.').result).toMatchObject({ status: 'completed', text: 'went on' })
    expect(notified).toContain('The time for this run, 1 second, is over.')
  } finally {
    await runtime.close()
  }
})
