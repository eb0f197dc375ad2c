import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startModelServer, temporaryHome } from '@hermes/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { openRuntime } from '../open-runtime.js'

async function open(platforms: object) {
  const [home, server] = [await temporaryHome(), await startModelServer()]
  const config = {
    model: { default: 'm', base_url: server.baseUrl },
    people: { owner: { telegram: ['7'] } },
    platforms,
  }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify(config))
  const world = { env: {}, cwd: home.path, user: 'u', tempDir: home.path }
  const runtime = await openRuntime({ home: home.path, userHome: home.path, ...world })
  onTestFinished(async () => {
    await runtime.close()
    await server.close()
    await home.remove()
  })
  return { runtime, server }
}

const call = (args: object, name = 'send_message') => ({
  toolCalls: [{ name: 'tool_call', args: { name, arguments: args } }],
})

const PLATFORMS = ['cli', 'oneshot', 'acp', 'gateway']

it('send_message and sessions_send are found by sessions everywhere where a platform has an account', async () => {
  const { runtime, server } = await open({ telegram: { token: '1:x' } })
  for (const platform of PLATFORMS) {
    server.enqueue(
      call({ action: 'list' }),
      call({ target: 'telegram:7', message: 'Hi.' }),
      call({ session: 'x', message: 'Hi.' }, 'sessions_send'),
      { text: 'Done.' },
    )
    const { agent } = await runtime.createAgent({ platform, user: 'owner' })
    await agent.run('Tell me on Telegram.').result
    const results = server.requests
      .at(-1)!
      .body.messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : []))
    expect(results[0], platform).toBe('telegram:7  this person')
    // Nobody is there to ask.
    expect(results[1], platform).toMatch(/Not permitted \(send\): /)
    expect(results[2], platform).toMatch(/There is no other session "x" of this person/)
  }
})

it('send_message is not there without an account', async () => {
  const { runtime, server } = await open({})
  server.enqueue(call({ action: 'list' }), { text: 'Done.' })
  const { agent } = await runtime.createAgent({})
  await agent.run('Tell me on Telegram.').result
  expect(JSON.stringify(server.requests.at(-1)!.body.messages.at(-1))).not.toContain('written to yet')
})
