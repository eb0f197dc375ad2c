import { createRequire } from 'node:module'
import { silentLogger, systemClock } from '@hermes/contracts'
import type { RunningProgram } from '@hermes/contracts/environment'
import { temporaryHome } from '@hermes/testkit'
import { expect, it } from 'vitest'
import { startProgram } from '../__fixtures__/start-program.js'
import { readServers } from '../settings/read-servers.js'
import { changedTools, ListingFiles, toolHash, withAccepted } from './listing.js'
import { McpServer } from './server.js'

const require = createRequire(import.meta.url)

it('lists what it offers, and is ended with its program', async () => {
  await using home = await temporaryHome()
  const file = require.resolve('@modelcontextprotocol/server-filesystem/dist/index.js')
  const { servers } = readServers({ files: { command: process.execPath, args: [file, home.path], protocol: 'legacy' } })
  const programs: RunningProgram[] = []
  const listings = new ListingFiles(`${home.path}/listings`)
  const server = new McpServer({
    settings: servers[0]!,
    listings,
    startProgram: async ({ address }) => {
      const program = startProgram(address.type === 'stdio' ? address.argv : [])
      programs.push(program)
      return program
    },
    fetchTo: () => fetch,
    version: '0',
    clock: systemClock,
    logger: silentLogger,
  })
  await Promise.all([server.connect(), server.connect(), server.use(async (client) => client.ping())])
  expect(programs).toHaveLength(1)
  expect(server.listing?.tools.map(({ name }) => name)).toContain('read_text_file')
  expect(await listings.read(servers[0]!)).toEqual({ listing: server.listing, isLate: false })
  const aborted = new AbortController()
  aborted.abort(new DOMException('Stopped.', 'AbortError'))
  await expect(server.use(async () => 'never', aborted.signal)).resolves.toBe('never')
  await server.close()
  expect(await programs[0]!.ended).toMatchObject({ signal: 'SIGKILL' })
  await expect(server.connect()).rejects.toMatchObject({ code: 'mcp.closed' })
})

it('remembers how a tool was when it was accepted', () => {
  const tool = (description: string) => ({ name: 'a', description, inputSchema: { type: 'object' as const } })
  const offer = { atMs: 0, kind: 'legacy', version: '', dropped: [], prompts: [], hasResources: false } as const
  const first = withAccepted({ ...offer, tools: [tool('one')] }, null)
  expect(changedTools(first)).toEqual([])
  const gone = withAccepted({ ...offer, tools: [] }, first)
  const back = withAccepted({ ...offer, tools: [tool('two')] }, gone)
  expect(changedTools(back)).toEqual(['a'])
  expect(back.accepted['a']).toBe(toolHash(tool('one')))
})
