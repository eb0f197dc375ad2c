// Servers of the newest revision of the protocol, made with the SDK of its authors, with Hermes as their client.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { silentLogger, systemClock } from '@hermes/contracts'
import type { RunningProgram } from '@hermes/contracts/environment'
import type { ToolContext } from '@hermes/contracts/tool'
import { createOriginFetch } from '@hermes/safety'
import { temporaryHome } from '@hermes/testkit'
import { expect, it, vi } from 'vitest'
import { startProgram } from './__fixtures__/start-program.js'
import { answersFor } from './answers/answers.js'
import { RunningCalls } from './answers/running-calls.js'
import { ListingFiles } from './servers/listing.js'
import { McpServer } from './servers/server.js'
import { readServers } from './settings/read-servers.js'
import { toolsOf } from './tools/server-tools.js'

const SERVER = fileURLToPath(new URL('./__fixtures__/newest-server.mjs', import.meta.url))

/** The entry of a server that runs until the test ends, and what it writes about calls. */
async function serve(wire: 'stdio' | 'http', file: string) {
  await writeFile(file, '')
  if (wire === 'stdio')
    return { entry: { command: process.execPath, args: [SERVER, 'stdio', file] }, end: () => undefined }
  const child = spawn(process.execPath, [SERVER, 'http', file], { stdio: ['ignore', 'pipe', 'inherit'] })
  const port = await new Promise<string>((resolve) => child.stdout.once('data', (line) => resolve(String(line).trim())))
  return { entry: { url: `http://127.0.0.1:${port}/mcp` }, end: () => void child.kill() }
}

const context = (more: Partial<ToolContext> = {}) =>
  ({
    sessionId: 'one',
    signal: new AbortController().signal,
    permit: async () => ({ consume: () => undefined }),
    progress: () => undefined,
    ask: async () => ({ type: 'answered', text: 'Ada' }),
    ...more,
  }) as unknown as ToolContext

it.each(['stdio', 'http'] as const)('a server of 2026-07-28 is found out and used over %s', async (wire) => {
  await using home = await temporaryHome()
  const file = join(home.path, 'calls')
  const { entry, end } = await serve(wire, file)
  const [settings] = readServers({ newest: entry }).servers
  const calls = new RunningCalls()
  const ports = { clock: systemClock, logger: silentLogger }
  const server = new McpServer({
    ...{ settings: settings!, version: '0', ...ports },
    listings: new ListingFiles(home.path),
    startProgram: async ({ address }) => startProgram(address.type === 'stdio' ? address.argv : []),
    fetchTo: (baseUrl) => createOriginFetch({ baseUrl }),
    answers: answersFor(settings!, { ...ports, calls, sample: null }),
  })
  const names = () => toolsOf(server, calls).map(({ name }) => name.replace('mcp__newest__', ''))
  const call = (name: string, args: object = {}, more: Partial<ToolContext> = {}) =>
    toolsOf(server, calls)
      .find((tool) => tool.name === `mcp__newest__${name}`)!
      .execute(args, context(more))
  try {
    await server.connect()
    expect(server.listing).toMatchObject({ kind: 'modern', version: 'newest 1' })
    expect(names()).toEqual(['echo', 'fail', 'ask', 'slow', 'grow'])
    expect(JSON.stringify(await call('echo', { text: 'hello' }))).toContain('You said hello')
    expect(await call('fail')).toMatchObject({ isError: true, text: expect.stringContaining('The kettle is broken.') })
    expect(JSON.stringify(await call('ask'))).toContain('accept Ada')
    const gone = new AbortController()
    const slow = call('slow', {}, { signal: gone.signal })
    await expect.poll(() => readFile(file, 'utf8')).toBe('begun\n')
    gone.abort(new DOMException('Stopped.', 'AbortError'))
    await expect(slow).rejects.toMatchObject({ name: 'AbortError' })
    await expect.poll(() => readFile(file, 'utf8')).toBe('begun\ngiven up\n')
    await call('grow')
    await expect.poll(names).toContain('grown')
  } finally {
    await server.close()
    end()
  }
})

it('a program of 2026-07-28 alone that starts too slowly to be asked which protocol it speaks is used all the same', async () => {
  await using home = await temporaryHome()
  const file = join(home.path, 'starts')
  await writeFile(file, '')
  const [settings] = readServers({ slow: { command: process.execPath, args: [SERVER, 'stdio', file, 'slow'] } }).servers
  const programs: RunningProgram[] = []
  const starting = Promise.withResolvers<RunningProgram>()
  const open = () =>
    new McpServer({
      ...{ settings: settings!, version: '0', clock: systemClock, logger: silentLogger },
      listings: new ListingFiles(home.path),
      startProgram: async ({ address }) => {
        const program = startProgram(address.type === 'stdio' ? address.argv : [])
        programs.push(program)
        starting.resolve(program)
        return program
      },
      fetchTo: () => fetch,
    })
  const server = open()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const connected = server.connect()
    connected.catch(() => undefined)
    await once((await starting.promise).stderr, 'data')
    await vi.advanceTimersByTimeAsync(5_000)
    const client = await connected
    expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28')
    expect(server.listing).toMatchObject({ kind: 'modern' })
    expect(programs).toHaveLength(3)
  } finally {
    vi.useRealTimers()
    await server.close()
  }
  // What it speaks is kept: the next start asks nothing and is not hurried.
  const next = open()
  try {
    await next.connect()
    expect(programs).toHaveLength(4)
  } finally {
    await next.close()
  }
})
