// Servers of the newest revision of the protocol, made with the SDK of its authors, with Hermes as their client.
import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { silentLogger, systemClock } from '@hermes/contracts'
import type { ToolContext } from '@hermes/contracts/tool'
import { createOriginFetch } from '@hermes/safety'
import { temporaryHome } from '@hermes/testkit'
import { expect, it } from 'vitest'
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
