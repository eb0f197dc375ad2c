// What the guides show is run: the files of examples/guides, which `pnpm gen` puts into the pages.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { createAgent, createMemoryStore, standardExtensions } from '@hermes/agent-core'
import { userText } from '@hermes/contracts/conversation'
import { createLocalEnvironment } from '@hermes/sandbox'
import { testPermit } from '@hermes/sandbox/testing'
import { testStore } from '@hermes/storage/testing'
import { createFakeClock, type ModelServer, startModelServer } from '@hermes/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openScratchEnvironment } from '../../examples/guides/backend.js'
import { timeKeeper } from '../../examples/guides/extension.js'
import { openJournalStore } from '../../examples/guides/store.js'
import { createCountWordsTool } from '../../examples/guides/tool.js'
import { runCli } from '../support/cli.js'

const root = resolve(import.meta.dirname, '../..')
let server: ModelServer
let folder: string
beforeEach(async () => {
  server = await startModelServer()
  folder = await mkdtemp(join(tmpdir(), 'hermes-guides-'))
})
afterEach(async () => {
  await server.close()
  await rm(folder, { recursive: true })
})
const model = () => ({ provider: 'custom', model: 'm', baseUrl: server.baseUrl, apiKey: 'x' })
const call = (name: string, args: object) => ({ toolCalls: [{ name, args }] })

it('the guide to embedding: its hook refuses, its tool runs, its store has the session', async () => {
  server.enqueue(call('sell', { item: 'apples', count: 3 }), call('sell', { item: 'apples', count: 2 }), {
    text: 'Sold two.',
  })
  const script = join(root, 'examples/guides/embed.ts')
  const sources = join(root, 'packages/testkit/src/__fixtures__/load-sources.mjs')
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--conditions=@hermes/source', '--import', sources, script, folder],
    { env: { ...process.env, OPENAI_BASE_URL: server.baseUrl, OPENAI_API_KEY: 'x' } },
  )
  expect(stdout).toBe('refused\nsold\ncompleted: Sold two.\n')
  const results = server.requests.at(-1)!.body.messages.filter(({ role }) => role === 'tool')
  expect(JSON.stringify(results)).toMatch(/At most two pieces a sale\.[\s\S]*1 apples left\./)
  expect((await readFile(join(folder, 'shop.db'))).length).toBeGreaterThan(0)
})

describe('the guide to tools', () => {
  it('its tool answers, and says what to do about a file that is not there', async () => {
    await writeFile(join(folder, 'poem.txt'), 'so much depends\nupon\n')
    const environment = createLocalEnvironment({ cwd: folder, home: folder, outputDir: join(folder, 'out'), env: {} })
    const agent = createAgent({ model: model(), tools: [createCountWordsTool()], environment })
    server.enqueue(call('count_words', { path: 'poem.txt' }), call('count_words', { path: 'prose.txt' }), {
      text: 'Four.',
    })
    const outcomes: unknown[] = []
    for await (const event of agent.run('How many words?'))
      if (event.type === 'tool-end') outcomes.push([event.isError, JSON.stringify(event.content)])
    expect(outcomes).toEqual([
      [false, expect.stringContaining('words\\":4')],
      [true, expect.stringContaining('There is no file prose.txt. Look for it first.')],
    ])
    await environment.close()
  })
})

it('the guide to providers: an endpoint of config.yaml answers, with its quirks', async () => {
  const yaml = /```yaml\n([\s\S]*?)```/.exec(await readFile(join(root, 'docs/guides/provider.md'), 'utf8'))![1]!
  const home = join(folder, '.hermes')
  await mkdir(home, { mode: 0o700 })
  await writeFile(join(home, 'config.yaml'), yaml.replace('https://models.acme.example/v1', server.baseUrl), {
    mode: 0o600,
  })
  server.setHandler(() => ({ text: 'Hello from Acme.' }))
  const env = { ACME_API_KEY: 'key-of-acme' }
  const result = await runCli(['chat', '-q', 'Hello?', '--provider', 'acme-ai'], { home, cwd: folder, env })
  expect(result).toMatchObject({ exitCode: 0, stdout: 'Hello from Acme.\n' })
  expect(server.requests[0]!.headers['authorization']).toBe('Bearer key-of-acme')
  expect(server.requests[0]!.body).toMatchObject({ model: 'acme-large', max_completion_tokens: 16384 })
})

it('the guide to backends: its environment runs commands for an agent, and leaves nothing', async () => {
  const environment = await openScratchEnvironment()
  const cwd = environment.cwd()
  const command = 'echo one > a.txt; ls; echo $SECRET'
  const permit = testPermit({ type: 'spawn', command, cwd, backend: environment.backend })
  expect(await environment.exec(permit, command)).toMatchObject({ exitCode: 0, output: 'a.txt\n\n' })
  await environment.close()
  expect(existsSync(cwd)).toBe(false)
})

describe('the guide to stores', () => {
  const wills = ['delivers an inbox message that is not held any more, once']
  const partialAnswers = [
    'keeps an answer outside the log while it is streamed, and takes it away with the whole one',
    'has in the log what was kept last once the lease has run out, for who reads and who writes',
    'refuses the whole answer of a writer that slept while a reader put its half into the log',
    'gives what was kept to the next writer, before anything of its own',
    'forgets what was kept when it is told to',
  ]
  testStore({
    skip: [
      { reason: 'it keeps no partial answers', tests: partialAnswers },
      { reason: 'its wills end with the process', tests: wills },
    ],
    async create({ clock }) {
      const directory = await mkdtemp(join(tmpdir(), 'hermes-journal-'))
      const store = await openJournalStore({ path: join(directory, 'journal.jsonl'), clock })
      const close = async () => {
        await store[Symbol.asyncDispose]()
        await rm(directory, { recursive: true })
      }
      return { store, close }
    },
  })

  it('its store has after a restart what it had before, but for a line that was cut short', async () => {
    const path = join(folder, 'journal.jsonl')
    {
      await using store = await openJournalStore({ path })
      await store.sessions.create({ id: 's', source: 'embedded', title: 'First' })
      const lease = await store.leases.acquire('s', { owner: 'me' })
      await store.log.append('s', [{ type: 'message', message: userText('kept') }], { lease })
    }
    await writeFile(path, '{"type":"upd', { flag: 'a' })
    await using store = await openJournalStore({ path })
    expect(await store.sessions.get('s')).toMatchObject({ title: 'First', messageCount: 1, preview: 'kept' })
    expect(await store.log.entries('s')).toMatchObject([{ seq: 1, message: userText('kept') }])
  })
})

it('the guide to extensions: its handlers watch, add and end a run', async () => {
  const clock = createFakeClock()
  const execute = async () => {
    await clock.advance(31 * 60_000)
    return 'late'
  }
  const tool = { ...createCountWordsTool(), actions: () => [], execute }
  const agent = createAgent({
    model: model(),
    tools: [tool],
    extensions: [...standardExtensions(), timeKeeper({ maxMinutes: 30 })],
    session: { store: createMemoryStore({ clock }) },
    clock,
  })
  server.enqueue(call('count_words', { path: 'a' }), { text: 'Never asked.' })
  const { status, error } = await agent.run('Count.').result
  expect({ status, code: error?.code }).toEqual({ status: 'stopped', code: 'time-keeper.late' })
  expect(JSON.stringify(server.requests[0]!.body.messages)).toContain('You have 30 minutes. Files changed so far: 0.')
  expect(server.requests).toHaveLength(1)
})

it('the guide to telemetry: what an SDK is told of a run arrives at a collector', async () => {
  const names: string[] = []
  const collector = createServer(async (request, response) => {
    const { resourceSpans } = (await new Response(request as never).json()) as {
      readonly resourceSpans: readonly {
        readonly scopeSpans: readonly { readonly spans: readonly { name: string }[] }[]
      }[]
    }
    for (const { scopeSpans } of resourceSpans)
      names.push(...scopeSpans.flatMap(({ spans }) => spans.map(({ name }) => name)))
    response.end('{}')
  })
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
  await writeFile(join(folder, 'note.txt'), 'Tea.')
  server.enqueue(call('read_file', { path: 'note.txt' }), { text: 'Tea.' })
  const { exitCode, stderr } = await runCli(['chat', '-q', 'Read it.', '--base-url', server.baseUrl, '-m', 'm'], {
    ...{ home: join(folder, '.hermes'), cwd: folder },
    env: {
      NODE_OPTIONS: `--import ${join(root, 'examples/guides/tracing.mjs')}`,
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
    },
  })
  collector.close()
  expect([exitCode, stderr]).toEqual([0, expect.not.stringContaining('rror')])
  expect(names).toEqual(['chat m', 'execute_tool read_file', 'chat m', 'invoke_agent hermes'])
})
