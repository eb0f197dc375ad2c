// Every part of a home is seen at work once, and missed once: a part that nobody misses has no place in the list.
import { chown, mkdir, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runCommand } from '@hermes/commands'
import { type Clock, systemClock } from '@hermes/contracts'
import type { CommandContext, Extension } from '@hermes/contracts/extension'
import { type ModelServer, startModelServer, type TemporaryHome, temporaryHome } from '@hermes/testkit'
import { trace } from '@opentelemetry/api'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openRuntime } from '../open-runtime.js'
import type { AgentRequest, Runtime, RuntimeOptions } from '../runtime.js'

let home: TemporaryHome
let cwd: string
let place: Pick<RuntimeOptions, 'home' | 'userHome' | 'cwd' | 'tempDir' | 'user'>
let server: ModelServer
let opened: Runtime | null

async function begin(): Promise<void> {
  home = await temporaryHome()
  const path = await realpath(home.path)
  cwd = join(path, 'work')
  place = {
    home: join(path, 'user', '.hermes'),
    userHome: join(path, 'user'),
    cwd,
    tempDir: path,
    user: 'ada',
  }
  for (const folder of [cwd, place.home]) await mkdir(folder, { recursive: true })
}

beforeEach(async () => {
  await begin()
  server = await startModelServer()
  opened = null
})
afterEach(async () => {
  await opened?.close()
  await server.close()
  await home.remove()
})

interface World {
  readonly runtime: Runtime
  /** For how long something waited or waits, in milliseconds. */
  readonly waits: readonly number[]
  /** Runs a message in one session of the home, where the model makes these calls; gives the newest request and what the person was told. */
  say(text: string, ...calls: readonly Call[]): Promise<string>
  /** Switches the session to planning. */
  plan(): Promise<unknown>
  /** The session goes on over that platform. */
  goOn(platform: string): Promise<void>
}

type Call = readonly [tool: string, args: object]

/** An SDK as an operator has it, who starts it before Hermes. */
const spans = new InMemorySpanExporter()
beforeEach(() => {
  spans.reset()
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }))
})
afterEach(() => trace.disable())

/** What a part does, as seen from outside: gives whether it was done. */
const ROWS: Readonly<Record<string, (world: World) => Promise<boolean>>> = {
  telemetry: async ({ say }) => {
    spans.reset()
    await say('Hello.')
    return spans.getFinishedSpans().some(({ name }) => name === 'chat m')
  },
  'plan-mode': async ({ plan, say }) => {
    await plan()
    return (await say('Write it.', ['write_file', { path: 'a.txt', content: 'a' }])).includes('was not run: plan mode')
  },
  'loop-guard': async ({ say }) => {
    const missing: Call = ['read_file', { path: 'missing.txt' }]
    return (await say('Read it.', missing, missing, missing, missing)).includes('with the same arguments')
  },
  'truncation-markers': async ({ say }) => {
    const content = 'one\n[… 400 characters left out …]\n'
    return (await say('Write it.', ['write_file', { path: 'a.txt', content }])).includes('Not run: the arguments hold')
  },
  'todo-reminder': async ({ say }) => {
    const todos = [{ id: '1', content: 'Look.', status: 'pending' }]
    const request = say('Plan it.', ['todo_write', { todos }], ['read_file', { path: 'missing.txt' }])
    return (await request).includes('This error may change your plan')
  },
  'environment-context': async ({ say }) => {
    await mkdir(join(cwd, 'inner'))
    await writeFile(join(cwd, 'inner', 'AGENTS.md'), 'Speak softly.')
    await writeFile(join(cwd, 'inner', 'a.txt'), 'a')
    return (await say('Read it.', ['read_file', { path: 'inner/a.txt' }])).includes('Speak softly.')
  },
  'verify-on-stop': async ({ say }) => {
    const request = say('Write it.', ['write_file', { path: 'a.js', content: 'a' }])
    server.enqueue({ text: 'It cannot be run.' })
    return (await request).includes('Not checked yet')
  },
  'cache-keeper': async ({ runtime, waits }) => {
    server.enqueue(
      {
        toolCalls: [{ name: 'clarify', args: { question: 'Which?' } }],
        usage: { inputTokens: 90_000, cacheWriteTokens: 80_000 },
      },
      { text: 'Done.' },
    )
    let isKept = false
    const ask: AgentRequest['ask'] = async () => {
      for (let tick = 0; tick < 1_000 && !isKept; tick++) {
        await new Promise(setImmediate)
        isKept = waits.some((ms) => Math.abs(ms - 270_000) < 1_000)
      }
      return { type: 'answered', text: 'That one.' }
    }
    const model = { provider: 'anthropic', baseUrl: server.anthropicBaseUrl, model: 'claude-sonnet-4-5' }
    const { agent } = await runtime.createAgent({ ...model, ask })
    expect(await agent.run('Do it.').result).toMatchObject({ status: 'completed' })
    return isKept
  },
  'learning-hints': async ({ runtime, say }) => {
    const { learnings } = await runtime.storage()
    await learnings.save({ pattern: 'ENGINE stalled at dawn, code 77', fix: 'Turn the key twice.' })
    const command = 'echo ENGINE stalled at dawn, code 77; exit 3'
    return (await say('Start it.', ['terminal', { command }])).includes('Turn the key twice.')
  },
  'memory-recall': async ({ say }) => {
    await say('One.')
    return (await say('Two.')).includes('messages and nothing saved to memory')
  },
  'runtime-state': async ({ say }) => {
    await mkdir(join(cwd, 'inner'))
    await say('Go there.', ['terminal', { command: 'cd inner' }])
    return (await say('And now?')).includes('<runtime-state>')
  },
  'platform-change': async ({ say, goOn }) => {
    await say('Here.')
    await goOn('acp')
    return (await say('There.')).includes('The conversation goes on over acp')
  },
  references: async ({ say }) => {
    await writeFile(join(cwd, 'notes.txt'), 'The boat is blue.')
    return (await say('What does @file:notes.txt say?')).includes('The boat is blue.')
  },
  'isolation-notice': async ({ say }) => {
    // Who is root is isolated in folders of their own alone; others cannot bring the case about.
    await chown(cwd, 65_534, 65_534)
    return (await say('Do it.', ['terminal', { command: 'true' }])).includes('Commands are not held to the workspace')
  },
  checkpoints: async ({ runtime, say }) => {
    await writeFile(join(cwd, 'a.txt'), 'before')
    await say('Write it.', ['write_file', { path: 'b.txt', content: 'after' }])
    return (await runtime.checkpoints.open()).checkpoints.list(cwd).length > 0
  },
  'session-commands': async (world) => hasCommand(world, 'title'),
  goals: async (world) => hasCommand(world, 'goal'),
  personalities: async (world) => hasCommand(world, 'personality'),
  'quick-commands': async (world) => hasCommand(world, 'wave'),
  'usage-command': async (world) => hasCommand(world, 'usage'),
  'checkpoint-commands': async (world) => hasCommand(world, 'rollback'),
  'doctor-command': async (world) => hasCommand(world, 'doctor'),
  'status-command': async (world) => hasCommand(world, 'status'),
  hooks: async (world) => hasCommand(world, 'hooks'),
  plugins: async (world) => hasCommand(world, 'plugins'),
  mcp: async (world) => hasCommand(world, 'reload-mcp'),
  web: async ({ runtime }) => runtime.extensions.list('check').some(({ item }) => item.name === 'web'),
  browser: async ({ say }) =>
    (await say('Look.', ['tool_search', { query: 'browser_snapshot' }])).includes('what is in the window'),
  skills: async ({ say }) => {
    await mkdir(join(place.home, 'skills/tea'), { recursive: true })
    await writeFile(
      join(place.home, 'skills/tea/SKILL.md'),
      '---\nname: tea\ndescription: Makes tea.\n---\nBoil water.',
    )
    return (await say('Make tea.', ['skill_view', { name: 'tea' }])).includes('Boil water.')
  },
  'own-hand': async ({ runtime, say }) => {
    await writeFile(join(cwd, 'AGENTS.md'), 'Speak softly.')
    await runtime.trust.answer(cwd, true)
    await say('Change it.', ['write_file', { path: 'AGENTS.md', content: 'Speak up.' }])
    return (await runtime.trust.look(cwd)).changed.length === 0
  },
  'trust-command': async (world) => hasCommand(world, 'trust'),
  'learning-command': async (world) => hasCommand(world, 'learning'),
  'profile-command': async (world) => hasCommand(world, 'profile'),
  'memory-command': async (world) => hasCommand(world, 'memory'),
  'home-commands': async (world) => hasCommand(world, 'config'),
  account: async (world) => hasCommand(world, 'account'),
  'handoff-command': async (world) => hasCommand(world, 'handoff'),
  'mixture-command': async (world) => hasCommand(world, 'moa'),
}

const hasCommand = ({ runtime }: World, name: string) =>
  runtime.extensions.list('command').some(({ item }) => item.name === name)

/** What only some can see: the machine decides. */
const needsRoot = new Set(['isolation-notice'])

async function world(without: string | null): Promise<World> {
  const model = { default: 'm', base_url: server.baseUrl, context_length: 200_000 }
  const config = {
    model,
    model_overrides: {
      'claude-sonnet-4-5': { input_price: 3, output_price: 15, cache_read_price: 0.3, cache_write_price: 3.75 },
    },
    checkpoints: { enabled: true },
    agent: { verify_on_stop: 'auto' },
    memory: { nudge_interval: 2 },
    quick_commands: { wave: { command: 'true' } },
    terminal: { isolation: 'auto' },
  }
  await writeFile(join(place.home, 'config.yaml'), JSON.stringify(config))
  const env = { PATH: process.env['PATH']!, ANTHROPIC_API_KEY: 'k' }
  const extensions = (builtIn: readonly Extension[]) => builtIn.filter(({ name }) => name !== without)
  const waits: number[] = []
  const sleep: Clock['sleep'] = (ms, signal) => {
    waits.push(ms)
    return systemClock.sleep(ms, signal)
  }
  const clock = { now: systemClock.now, sleep }
  const runtime = await openRuntime({ ...place, env, yolo: true, extensions, clock })
  opened = runtime
  let ready = await runtime.createAgent({ platform: 'cli' })
  return {
    runtime,
    waits,
    goOn: async (platform) => {
      await ready.close()
      const session = await (await runtime.storage()).sessions.get(ready.agent.sessionId)
      ready = await runtime.createAgent({ session: session!, platform })
    },
    plan: () => ready.agent.plan(),
    say: async (text, ...calls) => {
      for (const [name, args] of calls) server.enqueue({ toolCalls: [{ name, args }] })
      server.enqueue({ text: 'Done.' })
      const run = ready.agent.run(text)
      let notified = ''
      for await (const event of run) if (event.type === 'notice') notified += event.text
      expect(await run.result).toMatchObject({ status: 'completed' })
      return notified + JSON.stringify(server.requests.at(-1)!.body)
    },
  }
}

it('every part that comes with Hermes has a row', async () => {
  let names: readonly string[] = []
  await writeFile(join(place.home, 'config.yaml'), '{}')
  const extensions = (builtIn: readonly Extension[]) => {
    names = builtIn.map(({ name }) => name)
    return builtIn
  }
  opened = await openRuntime({ ...place, env: {}, extensions })
  expect(names.toSorted()).toEqual(Object.keys(ROWS).toSorted())
})

it('prompt_caching.keep_warm: false leaves the cache-keeper out, and nothing else', async () => {
  let names: readonly string[] = []
  await writeFile(join(place.home, 'config.yaml'), JSON.stringify({ prompt_caching: { keep_warm: false } }))
  const extensions = (builtIn: readonly Extension[]) => {
    names = builtIn.map(({ name }) => name)
    return builtIn
  }
  opened = await openRuntime({ ...place, env: {}, extensions })
  expect(names.toSorted()).toEqual(
    Object.keys(ROWS)
      .filter((name) => name !== 'cache-keeper')
      .toSorted(),
  )
})

it('what is typed after a command that takes words is its words, whatever options it has', async () => {
  await writeFile(join(place.home, 'config.yaml'), '{}')
  opened = await openRuntime({ ...place, env: {} })
  const caller = { platform: 'cli', user: 'ada', isOwner: true, changes: [] }
  const context = { caller, session: null, cwd, commands: [] } as unknown as CommandContext
  const typed: Record<string, unknown> = {}
  for (const { item } of opened.extensions.list('command')) {
    const properties = item.parameters?.['properties'] as Record<string, { type: string }> | undefined
    if (properties?.['words']?.type !== 'array') continue
    const echo = {
      ...item,
      needsSession: false,
      changes: [],
      run: ({ words }: object & { words?: unknown }) => ({ type: 'text', text: String(words) }),
    }
    typed[item.name] = await runCommand(echo as typeof item, 'one two', context)
  }
  expect(Object.keys(typed)).toEqual(expect.arrayContaining(['skills', 'plugins', 'hooks']))
  for (const [name, output] of Object.entries(typed)) expect(output, name).toEqual([{ type: 'text', text: 'one,two' }])
})

for (const [name, seen] of Object.entries(ROWS))
  it.skipIf(needsRoot.has(name) && process.getuid?.() !== 0)(`${name} is missed where it is left out`, async () => {
    expect(await seen(await world(null))).toBe(true)
    await opened!.close()
    await home.remove()
    await begin()
    expect(await seen(await world(name))).toBe(false)
  })
