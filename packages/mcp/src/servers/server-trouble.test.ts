// A server that is told by its calls what to do: ends, hangs, changes.
import { fileURLToPath } from 'node:url'
import { type Clock, silentLogger } from '@hermes/contracts'
import type { RunningProgram } from '@hermes/contracts/environment'
import type { Tool, ToolContext } from '@hermes/contracts/tool'
import { createFakeClock, type FakeClock, type TemporaryHome, temporaryHome } from '@hermes/testkit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startProgram } from '../__fixtures__/start-program.js'
import { answersFor } from '../answers/answers.js'
import { RunningCalls } from '../answers/running-calls.js'
import { readServers } from '../settings/read-servers.js'
import { toolsOf } from '../tools/server-tools.js'
import { ListingFiles } from './listing.js'
import { McpServer } from './server.js'

const OBEDIENT = fileURLToPath(new URL('../__fixtures__/obedient-server.mjs', import.meta.url))

let home: TemporaryHome
let clock: FakeClock
let server: McpServer
let programs: RunningProgram[]
let calls: RunningCalls

beforeEach(async () => {
  home = await temporaryHome()
  clock = createFakeClock()
  programs = []
})
afterEach(async () => {
  await server.close()
  await home.remove()
})

function open(
  entry: object = {},
  { mode = '', at = clock }: { readonly mode?: string; readonly at?: Clock } = {},
): void {
  const tea = { command: process.execPath, args: [OBEDIENT, mode], protocol: 'legacy', ...entry }
  const settings = readServers({ tea }).servers[0]!
  calls = new RunningCalls()
  server = new McpServer({
    settings,
    answers: answersFor(settings, { calls, sample: null, clock: at, logger: silentLogger }),
    listings: new ListingFiles(`${home.path}/listings`),
    startProgram: async ({ address }) => {
      const program = startProgram(address.type === 'stdio' ? address.argv : [])
      programs.push(program)
      return program
    },
    fetchTo: () => fetch,
    version: '0',
    clock: at,
    logger: silentLogger,
  })
}

const toolNamed = (name: string): Tool => toolsOf(server, calls).find((tool) => tool.name === `mcp__tea__${name}`)!

async function call(name: string, more: Partial<ToolContext> = {}): Promise<string> {
  const signal = new AbortController().signal
  const permit = async () => ({ consume: () => undefined })
  const context = { sessionId: 's', signal, permit, progress: () => undefined, ...more }
  return JSON.stringify(await toolNamed(name).execute({}, context as unknown as ToolContext))
}
const failure = (name: string) => call(name).catch((error: Error) => error.message)
const first = () => server.listing?.tools[0]?.name

it('is left alone for a while when it ends in every call, and started no more meanwhile', async () => {
  open()
  await server.connect()
  const lines: unknown[] = []
  for (let times = 0; times < 5; times++) {
    lines.push(await failure('quit'))
    await expect.poll(() => server.state.type).not.toBe('connected')
  }
  expect(programs).toHaveLength(3)
  expect(lines.slice(3)).toEqual(Array(2).fill(expect.stringContaining('It is tried again in 30 s.')))
  await clock.advance(30_001)
  expect(await call('echo')).toContain('done')
  expect(await failure('quit')).toContain('ended meanwhile')
  // What worked in between makes it a good one again.
  expect(await call('echo')).toContain('done')
  expect(programs).toHaveLength(5)
})

it('is left alone for a while when it does not start', async () => {
  open({ args: ['-e', 'process.exit(3)'] })
  for (let times = 0; times < 5; times++) await expect(server.connect()).rejects.toThrow('it ended with exit code 3.')
  expect(programs).toHaveLength(3)
})

it('says why in one line when it is for another Node', async () => {
  open({ args: ['--input-type=module', '-e', "import { noSuchThing } from 'node:fs'"] })
  await expect(server.connect()).rejects.toThrow(
    /exit code 1\. It output: SyntaxError: [^\n]*noSuchThing[^\n]* \(Node\.js v/,
  )
})

it('is left alone when it hangs in every call', async () => {
  open({ timeout: 0.05 })
  await server.connect()
  for (let times = 0; times < 3; times++) expect(await failure('slow')).toContain('did not answer within 0.05 s')
  expect(await failure('slow')).toContain('It is tried again in 30 s.')
  expect(programs).toHaveLength(1)
  expect(await programs[0]!.ended).toMatchObject({ signal: 'SIGKILL' })
})

it('says in one line that what it lists, or answers, is nested deeper than anything means', async () => {
  open({}, { mode: 'deep' })
  await expect(server.connect()).rejects.toThrow(
    /^The MCP server tea [^\n]*its answer is nested more than 200 deep[^\n]*$/,
  )
  await server.close()
  open()
  await server.connect()
  expect(await failure('nest')).toMatch(/^[^\n]*its answer is nested more than 200 deep[^\n]*$/)
  expect(await call('echo')).toContain('done')
})

it('is remembered for a secret that it asked for, which nobody was asked', async () => {
  open()
  await server.connect()
  expect(await call('nosy')).toContain('decline')
  const kept = async () => (await new ListingFiles(`${home.path}/listings`).read(server.settings)).listing?.secret
  await expect.poll(kept).toEqual({ field: 'password', atMs: clock.now() })
})

it('has nothing against it once a call works', async () => {
  open({ timeout: 1, idle_timeout_seconds: 600 })
  await server.connect()
  expect(await failure('slow')).toContain('did not answer')
  expect(await call('echo')).toContain('done')
  await clock.waitForSleepers()
  await clock.advance(600_001)
  await programs[0]!.ended
  expect(server.state).toEqual({ type: 'stopped' })
})

it('takes no more calls once it is left, and ends with those under way', async () => {
  open()
  await server.connect()
  const stop = new AbortController()
  const stepped = Promise.withResolvers<void>()
  const progress = () => stepped.resolve()
  const slow = call('slow', { signal: stop.signal, progress }).catch((error: Error) => error.name)
  await stepped.promise
  const left = server.leave()
  expect(await failure('echo')).toContain('is not used any more')
  expect(server.state).toEqual({ type: 'connected' })
  stop.abort()
  expect(await slow).toBe('AbortError')
  await left
  expect(await programs[0]!.ended).toMatchObject({ signal: 'SIGKILL' })
})

it('ends with its calls when it is closed while it is left', async () => {
  open()
  await server.connect()
  const stepped = Promise.withResolvers<void>()
  const slow = call('slow', { progress: () => stepped.resolve() }).catch((error: Error) => error.message)
  await stepped.promise
  const left = server.leave()
  await server.close()
  await left
  expect(await slow).toBeTypeOf('string')
  expect(await programs[0]!.ended).toMatchObject({ signal: 'SIGKILL' })
})

it('is not ended by its time while a call of it is under way', async () => {
  open({ max_lifetime_seconds: 60, idle_timeout_seconds: 600 })
  await server.connect()
  const stepped = Promise.withResolvers<void>()
  const slow = call('slow', { progress: () => stepped.resolve() }).catch((error: Error) => error.message)
  await stepped.promise
  await clock.advance(60_001)
  expect(await call('echo')).toContain('done')
  expect(programs).toHaveLength(1)
  await server.close()
  expect(await slow).toBeTypeOf('string')
})

it('is started anew by a call after its time, and ended after a while without one', async () => {
  open({ max_lifetime_seconds: 60, idle_timeout_seconds: 600 })
  await server.connect()
  await call('echo')
  expect(programs).toHaveLength(1)
  await clock.advance(60_001)
  await call('echo')
  expect(programs).toHaveLength(2)
  expect(await programs[0]!.ended).toMatchObject({ signal: 'SIGKILL' })
  await clock.waitForSleepers()
  await clock.advance(600_001)
  expect(await programs[1]!.ended).toMatchObject({ signal: 'SIGKILL' })
  expect(server.state).toEqual({ type: 'stopped' })
})

it('is listed again when it says in mid-call that it offers something else', async () => {
  open()
  await server.connect()
  expect(first()).toBe('t1')
  expect(await call('change')).toContain('done')
  await expect.poll(first).toBe('t2')
  // A tool that was found before is still called by what it was.
  expect(toolNamed('t1')).toBeUndefined()
})

it('hears what changes while it is listed for the first time', async () => {
  open({}, { mode: 'early' })
  await server.connect()
  await expect.poll(first).toBe('t2')
})

it('keeps the newest of lists that are answered out of order', async () => {
  open()
  await server.connect()
  const seen: unknown[] = []
  server.onChange(() => seen.push(first()))
  await call('twice')
  await expect.poll(() => seen.length, { timeout: 10_000 }).toBe(2)
  expect(seen).toEqual(['t2', 't3'])
})

it('hears of a call that is interrupted, and says how much of one is done', async () => {
  open()
  await server.connect()
  const stop = new AbortController()
  const lines: string[] = []
  const progress = (line: string) => {
    lines.push(line)
    stop.abort(new DOMException('Stopped.', 'AbortError'))
  }
  await expect(call('slow', { signal: stop.signal, progress })).rejects.toThrow('Stopped.')
  expect(await call('cancelled')).toContain('1')
  expect(lines).toEqual(['step (1 of 2)'])
})
