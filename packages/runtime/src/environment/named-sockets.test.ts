// A database of the person listens on a socket; whether commands reach it is for terminal.isolation_write to say.
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { probeIsolation } from '@hermes/sandbox/isolation'
import { startModelServer } from '@hermes/testkit'
import { needs } from '@hermes/testkit/daemons'
import { expect, it, onTestFinished } from 'vitest'
import { openRuntime } from '../open-runtime.js'

/** As PostgreSQL calls it: in a folder of its own, among what is hidden in the home directory, and where all programs keep theirs. */
const PLACES = ['user/pg/.s.PGSQL.5432', 'user/.pg/.s.PGSQL.5432', 'tmp/.s.PGSQL.5432'] as const

/** A home with a server on each place; what a client says that a command of the agent starts, and what is said beside it. */
async function open(isolationWrite: readonly string[]) {
  const root = await realpath(await mkdtemp('/tmp/hermes-db-'))
  onTestFinished(() => rm(root, { recursive: true, force: true, maxRetries: 3 }))
  const at = (path: string) => join(root, path)
  for (const folder of ['user/.hermes', 'user/work', 'user/pg', 'user/.pg', 'tmp'])
    await mkdir(at(folder), { recursive: true })
  for (const place of PLACES) {
    const server = createServer((socket) => socket.end('rows')).listen(at(place))
    onTestFinished(() => void server.close())
    await new Promise((resolve) => server.once('listening', resolve))
  }
  const client = `require('net').connect(process.argv[2])
    .on('data', (data) => console.log(String(data)))
    .on('error', ({ message }) => { console.log('Error: ' + message); process.exitCode = 1 })`
  await writeFile(at('user/work/client.cjs'), client)
  const model = await startModelServer()
  onTestFinished(() => model.close())
  const config = {
    model: { default: 'm', base_url: model.baseUrl },
    checkpoints: { enabled: false },
    auxiliary: { session_summary: { enabled: false }, title_generation: { enabled: false } },
    memory: { flush_min_turns: 0 },
    terminal: {
      isolation: 'on',
      isolation_write: isolationWrite.map((place) => place.replace(/^user/, '~').replace(/^tmp/, at('tmp'))),
    },
  }
  await writeFile(at('user/.hermes/config.yaml'), JSON.stringify(config))
  const runtime = await openRuntime({
    ...{ home: at('user/.hermes'), userHome: at('user'), cwd: at('user/work'), user: 'ada', tempDir: at('tmp') },
    env: { HOME: at('user'), PATH: process.env['PATH'] ?? '' },
  })
  onTestFinished(() => runtime.close())
  await runtime.trust.answer(at('user/work'), true)
  const { agent, close } = await runtime.createAgent({})
  onTestFinished(() => close())
  return async (place: string) => {
    model.enqueue({ toolCalls: [{ name: 'terminal', args: { command: `node client.cjs ${at(place)}` } }] })
    model.enqueue({ text: 'Done.' })
    const running = agent.run('Ask the database.')
    let text = ''
    for await (const event of running) if (event.type === 'tool-end') text += JSON.stringify(event.content)
    return text
  }
}

needs(await probeIsolation())('isolated commands', () => {
  it('reach the sockets that terminal.isolation_write names, wherever they are', async () => {
    const ask = await open(PLACES)
    for (const place of PLACES) expect(await ask(place), place).toContain('rows')
  })

  it('reach no other one, and a failure says which setting opens it', async () => {
    const ask = await open([])
    for (const place of PLACES) {
      const text = await ask(place)
      expect([place, text.includes('rows')]).toEqual([place, false])
      expect(text).toContain('run it again with outside=true')
      // One that is hidden with its folder is not there for the client.
      if (!place.includes('/.pg/')) expect(text).toContain('(terminal.isolation_write with its path opens it for good)')
    }
  })
})
