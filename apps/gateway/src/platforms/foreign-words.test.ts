// What other people said, and what commands of the conversation that read it can reach then: real stores, tools and isolation.
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Chat } from '@hermes/platform'
import { openRuntime } from '@hermes/runtime'
import { probeIsolation } from '@hermes/sandbox/isolation'
import { startModelServer } from '@hermes/testkit'
import { needs } from '@hermes/testkit/daemons'
import { expect, it, onTestFinished } from 'vitest'
import { mirror } from './mirror.js'

/** A home with a server beside it on this machine, and what a command of a conversation gets from that server. */
async function open(network: 'ask' | 'on') {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'hermes-foreign-words-')))
  onTestFinished(() => rm(root, { recursive: true, force: true, maxRetries: 3 }))
  const [home, userHome, cwd] = [join(root, 'user/.hermes'), join(root, 'user'), join(root, 'user/work')]
  for (const folder of [home, cwd]) await mkdir(folder, { recursive: true })
  const model = await startModelServer()
  onTestFinished(() => model.close())
  const config = {
    model: { default: 'm', base_url: model.baseUrl },
    checkpoints: { enabled: false },
    auxiliary: { session_summary: { enabled: false }, title_generation: { enabled: false } },
    memory: { flush_min_turns: 0 },
    terminal: { isolation: 'on', isolation_network: network },
  }
  await writeFile(join(home, 'config.yaml'), JSON.stringify(config))
  const server = createServer((socket) => socket.end('reached')).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const env = { HOME: userHome, PATH: process.env['PATH'] ?? '' }
  const runtime = await openRuntime({ home, userHome, env, cwd, user: 'ada', tempDir: join(root, 'tmp') })
  onTestFinished(() => runtime.close())
  await runtime.trust.answer(cwd, true)
  const storage = await runtime.storage()
  // In a file: what the words of a command say of the network is judged elsewhere.
  await writeFile(
    join(cwd, 'ask.cjs'),
    `const s = require('net').connect(${port}, '127.0.0.1')
    s.on('data', (data) => console.log(String(data))).on('error', ({ code }) => console.log(code))`,
  )

  return async (person: string | null | undefined) => {
    const { agent, close } = await runtime.createAgent({})
    const run = async (text: string) => {
      const running = agent.run(text)
      const ended: string[] = []
      for await (const event of running) if (event.type === 'tool-end') ended.push(JSON.stringify(event.content))
      expect(await running.result).toMatchObject({ status: 'completed' })
      return ended.join()
    }
    model.enqueue({ text: 'Hello.' })
    await run('Hello.')
    const chat = { chat: { id: '1' }, sessionId: agent.sessionId, person: null } as unknown as Chat
    const body = { text: 'The tests are in tests/.', from: 'the conversation “Tests”', sessionId: 'other', person }
    if (person !== undefined)
      await mirror(
        { key: 'k', platform: 'telegram', target: '1', body: body as never },
        { ...storage, chats: { list: async () => [chat] } },
      )
    model.enqueue({ toolCalls: [{ name: 'terminal', args: { command: 'node ask.cjs' } }] })
    model.enqueue({ text: 'Done.' })
    const text = await run('Go on.')
    await close()
    if (person !== undefined) expect(JSON.stringify(model.requests.at(-1)?.body)).toContain(body.text)
    return text
  }
}

needs(await probeIsolation())('isolated commands of a conversation', () => {
  it('run without network once it heard what somebody else said, and with it when that was the owner', async () => {
    const shown = await open('ask')
    expect(await shown(undefined)).toContain('reached')
    expect(await shown(null)).toContain('reached')
    const text = await shown('guest')
    expect(text).not.toContain('reached')
    expect(text).toContain('ECONNREFUSED')
  })

  it('keep the network where terminal.isolation_network is on, whatever was heard', async () => {
    const shown = await open('on')
    expect(await shown('guest')).toContain('reached')
  })
})
