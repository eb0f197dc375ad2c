import { readdir, rename } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { HermesError, silentLogger } from '@hermes/contracts'
import type { DoctorCheck, HookEvent } from '@hermes/contracts/extension'
import type { ToolContext, ToolSource } from '@hermes/contracts/tool'
import { createFakeClock, type FakeClock, type TemporaryHome, temporaryHome } from '@hermes/testkit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startProgram } from './__fixtures__/start-program.js'
import { createMcp, type HomeMcp } from './extension.js'
import type { ConfiguredServers, McpOptions } from './mcp-options.js'
import { ListingFiles } from './servers/listing.js'
import { readServers } from './settings/read-servers.js'

const OBEDIENT = fileURLToPath(new URL('./__fixtures__/obedient-server.mjs', import.meta.url))

type Handler = (event: HookEvent) => unknown

let home: TemporaryHome
let mcp: HomeMcp
let handlers: Map<string, Handler>
let checks: DoctorCheck[]
let close: () => Promise<void>
let lines: string[]
let clock: FakeClock
let configured: ConfiguredServers
let isChanged: boolean
let sources: Map<string, ToolSource>

beforeEach(async () => {
  clock = createFakeClock()
  home = await temporaryHome()
  lines = []
})
afterEach(async () => {
  await close()
  await home.remove()
})

/** A home whose programs do not start, unless `more` says how. */
function open(now: ConfiguredServers, more: Partial<McpOptions> = {}): void {
  configured = now
  isChanged = true
  mcp = createMcp({
    configured,
    reread: async () => configured,
    changed: async () => (isChanged ? configured : null),
    folders: { userHome: home.path, workspace: home.path },
    writeServer: async () => undefined,
    cacheDir: `${home.path}/listings`,
    loginDir: `${home.path}/logins`,
    openLoopback: () => Promise.reject(new Error('Nobody logs in.')),
    startDevice: () => Promise.reject(new Error('Nobody logs in.')),
    conceal: () => undefined,
    startProgram: async () => {
      throw new HermesError('it was left.', { code: 'sandbox.not_found' })
    },
    fetchTo: () => fetch,
    version: '0',
    clock,
    logger: silentLogger,
    ...more,
  })
  handlers = new Map()
  checks = []
  sources = new Map()
  const add = () => ({ dispose: () => undefined })
  const addSource = (source: ToolSource) => {
    const { name } = source
    if (sources.has(name)) throw new Error(`There is a source "${name}" already.`)
    sources.set(name, source)
    return { dispose: () => void sources.delete(name) }
  }
  close = mcp.extension.setup({
    hooks: { on: (name: string, handler: Handler) => handlers.set(name, handler) },
    doctor: { check: (check: DoctorCheck) => checks.push(check) },
    ...{ config: { section: add }, commands: { add }, tools: { addSource } },
  } as never) as () => Promise<void>
}

const kept = new Map<string, unknown>()
/** What a session is told at a point, as lines with its id. */
function call(point: string, id = 's', more: object = {}): unknown {
  const scratch = (_key: string, create: () => unknown) => {
    if (!kept.has(`${home.path} ${id}`)) kept.set(`${home.path} ${id}`, create())
    return kept.get(`${home.path} ${id}`)
  }
  const notice = (line: string) => lines.push(`${id}: ${line}`)
  return handlers.get(point)!({ session: { id, entries: [], state: { scratch } }, notice, ...more } as never)
}

it('names a server of one session that does not start, once and to the person of that session', async () => {
  open({ value: undefined })
  const servers = mcp.forSession('s', { notes: { command: 'notes-server' } })
  await expect
    .poll(() => {
      for (const id of ['other', 's']) call('before-model-call', id)
      return lines
    })
    .toEqual(['s: The MCP server notes does not start: it was left.'])
  call('after-model-call')
  expect(lines).toHaveLength(1)
  await servers.close()
})

it('names a server of the home that does not start once to every session, and in searches of tools', async () => {
  open({ value: { notes: { command: 'notes-server' } } })
  const search = () => call('tool-result', 's', { toolName: 'tool_search' })
  expect(search()).toBeUndefined()
  call('session-start')
  // Not at once: the first request comes first.
  await clock.advance(400)
  await expect
    .poll(() => {
      for (const id of ['s', 'other']) call('before-model-call', id)
      return lines
    })
    .toEqual(['s: it was left.', 'other: it was left.'])
  expect(search()).toMatchObject({ append: [{ text: expect.stringMatching(/cannot be used now.*: notes\]$/) }] })
  expect(call('tool-result', 's', { toolName: 'read_file' })).toBeUndefined()
})

it('starts servers that nothing is known about after the first request of a run, however late that comes', async () => {
  const started: string[] = []
  const startProgram: McpOptions['startProgram'] = async ({ name }) => {
    started.push(name)
    throw new HermesError('it was left.', { code: 'sandbox.not_found' })
  }
  open({ value: { notes: { command: 'notes-server' } } }, { startProgram })
  call('session-start')
  await call('run-start')
  await clock.advance(400)
  await clock.waitForSleepers()
  await clock.advance(2_000)
  expect(started).toEqual([])
  call('before-model-call')
  await expect.poll(() => clock.pending()).toEqual([100])
  await clock.advance(100)
  await expect.poll(() => started).toEqual(['notes'])
})

it('says which servers are left out: of a plugin, and with a name that is taken', async () => {
  const twice = { 'tea.pot': { command: 'a' }, tea_pot: { command: 'b' } }
  open({ value: { ...twice, pluged: { command: 'a', trst: 'untrusted' } }, brought: ['pluged'] })
  const expected = [
    expect.stringContaining('MCP server pluged.trst of a plugin: it is not a known key; trust is one.'),
    expect.stringMatching(/^The MCP server tea_pot is left out: .* Give it another name\.$/),
  ]
  call('before-model-call')
  expect(lines.map((line) => line.replace('s: ', ''))).toEqual(expected)
  const found = await checks[0]!.run({ isOffline: true, signal: new AbortController().signal } as never)
  expect(found.map(({ level, text }) => [level, text]).slice(0, 2)).toEqual(expected.map((text) => ['warn', text]))
})

it('names a server that asked for a secret, in whichever process', async () => {
  const value = { tea: { command: 'tea-server' } }
  const listing = {
    atMs: 0,
    kind: 'legacy',
    version: '1',
    tools: [],
    dropped: [],
    prompts: [],
    hasResources: false,
    accepted: {},
  } as const
  const secret = { field: 'password', atMs: Date.parse('2026-11-29T12:00:00Z') }
  await new ListingFiles(`${home.path}/listings`).write(readServers(value).servers[0]!, {
    listing: { ...listing, secret },
  })
  open({ value })
  const found = await checks[0]!.run({ isOffline: true, signal: new AbortController().signal } as never)
  const text = 'MCP server tea: 0 tools. On 2026-11-29 it asked for a secret (password), which was declined.'
  expect(found).toEqual([{ level: 'warn', text }])
})

it('has what config.yaml says as a run begins, a minute after it changed at most', async () => {
  open({ value: { notes: { command: 'notes-server' } } })
  const found = async () =>
    (await checks[0]!.run({ isOffline: true, signal: new AbortController().signal } as never)).map(({ text }) => text)
  configured = { value: { tea: { command: 'tea-server' } } }
  await call('run-start')
  expect(await found()).toEqual(['The MCP server notes was never connected.'])
  await clock.advance(60_000)
  await call('run-start')
  expect(await found()).toEqual(['The MCP server tea was never connected.'])
  isChanged = false
  configured = { value: undefined }
  await clock.advance(60_000)
  await call('run-start')
  expect(await found()).toEqual(['The MCP server tea was never connected.'])
})

it('keeps what a server offers that is starting for the first time before it ends, and waits for a silent one once', async () => {
  const tea = { command: process.execPath, args: [OBEDIENT], protocol: 'legacy' }
  const silent = { command: process.execPath, args: ['-e', 'process.stdin.resume()'], protocol: 'legacy' }
  const started: string[] = []
  const start: McpOptions['startProgram'] = async ({ name, address }) => {
    started.push(name)
    return startProgram(address.type === 'stdio' ? address.argv : [])
  }
  const files = () => readdir(`${home.path}/listings`).catch(() => [])
  open({ value: { silent, tea } }, { startProgram: start })
  call('session-start')
  await clock.advance(400)
  await expect.poll(() => started.toSorted()).toEqual(['silent', 'tea'])
  const closing = close()
  await expect.poll(files).toHaveLength(1)
  await clock.waitForSleepers()
  await clock.advance(1_000)
  await closing
  open({ value: { silent, tea } }, { startProgram: start })
  call('session-start')
  await clock.advance(1_000)
  const source = sources.get('mcp-tea')!
  expect((await source.list(new AbortController().signal)).length).toBeGreaterThan(0)
  await expect.poll(() => started).toEqual(['silent', 'tea', 'silent'])
  // Nobody moves the clock.
  await close()
})

it('reads what is known of servers once the first request is out, or a call may be open', async () => {
  const tea = { command: process.execPath, args: [OBEDIENT], protocol: 'legacy' }
  const start: McpOptions['startProgram'] = async ({ address }) =>
    startProgram(address.type === 'stdio' ? address.argv : [])
  open({ value: { tea } }, { startProgram: start })
  call('session-start')
  await clock.advance(400)
  await expect.poll(() => readdir(`${home.path}/listings`).catch(() => [])).toHaveLength(1)
  await close()
  /** How many tools are listed by now. */
  const listing = () => {
    const known = { count: 0 }
    const source = sources.get('mcp-tea')!
    const list = async () => {
      known.count = (await source.list(new AbortController().signal)).length
    }
    source.onChange!(() => void list())
    if (!source.listsLater) void list()
    return known
  }
  // Who reads it too soon finds nothing.
  const [folder, away] = [`${home.path}/listings`, `${home.path}/away`]
  await rename(folder, away)
  open({ value: { tea } })
  const first = listing()
  call('session-start')
  await call('run-start')
  await clock.advance(3_000)
  await clock.waitForSleepers()
  await rename(away, folder)
  call('before-model-call')
  await call('after-model-call')
  expect(first.count).toBeGreaterThan(0)
  await close()
  open({ value: { tea } })
  const second = listing()
  const message = { role: 'assistant', content: [{ type: 'tool-call', id: 'c', name: 'mcp__tea__echo', args: {} }] }
  await call('run-start', 's', { session: { id: 's', entries: [{ type: 'message', message }] } })
  expect(second.count).toBeGreaterThan(0)
})

it('lets calls under way end before a server that changed goes, and has no run wait for that', async () => {
  const programs: ReturnType<typeof startProgram>[] = []
  const tea = { command: process.execPath, args: [OBEDIENT], protocol: 'legacy' }
  const start: McpOptions['startProgram'] = async ({ address }) => {
    programs.push(startProgram(address.type === 'stdio' ? address.argv : []))
    return programs.at(-1)!
  }
  open({ value: { tea } }, { startProgram: start })
  call('session-start')
  await clock.advance(1_000)
  const source = [...sources.values()][0]!
  const slow = async () =>
    (await source.list(new AbortController().signal)).find(({ name }) => name === 'mcp__tea__slow')
  await expect.poll(slow).toBeDefined()
  const [stop, stepped] = [new AbortController(), Promise.withResolvers<void>()]
  const permit = async () => ({ consume: () => undefined })
  const context = { sessionId: 's', signal: stop.signal, permit, progress: () => stepped.resolve() }
  const tool = (await slow())!
  const running = (async () => tool.execute({}, context as unknown as ToolContext))().catch(
    (error: Error) => error.name,
  )
  await stepped.promise
  configured = { value: {} }
  await clock.advance(60_000)
  await call('run-start', 'other')
  expect([...sources.keys()]).toEqual([])
  stop.abort()
  expect(await running).toBe('AbortError')
  await programs[0]!.ended
})
