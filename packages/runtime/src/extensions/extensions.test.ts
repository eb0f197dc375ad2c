import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { silentLogger } from '@hermes/contracts'
import type { ConfigValue, Extension, ExtensionApi, PromptSection } from '@hermes/contracts/extension'
import type { MemoryProvider } from '@hermes/contracts/memory'
import type { StandardSchema } from '@hermes/contracts/tool'
import { type ModelServer, startModelServer, type TemporaryHome, temporaryHome } from '@hermes/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openRuntime } from '../open-runtime.js'
import type { Runtime } from '../runtime.js'
import { runJobs } from './job-runner.js'
import { loadExtensions } from './load-extensions.js'

let home: TemporaryHome
let server: ModelServer
let runtime: Runtime | null

beforeEach(async () => {
  home = await temporaryHome()
  server = await startModelServer()
  runtime = null
})
afterEach(async () => {
  await runtime?.close()
  await server.close()
  await home.remove()
})

async function open(yaml: object, ...extensions: readonly Extension[]): Promise<Runtime> {
  const config = { model: { default: 'm', base_url: server.baseUrl }, checkpoints: { enabled: false }, ...yaml }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify(config))
  const env = { MOON_KEY: 'full-moon', PATH: process.env['PATH']! }
  const world = { env, cwd: home.path, user: 'ada', tempDir: home.path }
  const parts = (builtIn: readonly Extension[]) => [...builtIn, ...extensions]
  runtime = await openRuntime({ home: home.path, userHome: home.path, ...world, extensions: parts })
  return runtime
}

const part = (name: string, setup: (api: ExtensionApi) => ReturnType<Extension['setup']>): Extension => ({
  name,
  setup,
})

describe('prompt sections', () => {
  const adding = (...sections: readonly PromptSection[]) =>
    part('adds', (api) => {
      for (const section of sections) api.prompt.section(section)
    })
  const systemOf = async (opened: Runtime) => (await opened.prompt({})).system

  it('stand in one slot in their order, and leave a home without any as it was', async () => {
    const plain = (await systemOf(await open({}))).text
    await runtime?.close()
    await writeFile(join(home.path, 'AGENTS.md'), 'Project words.')
    const second = { name: 'two', order: 2, render: () => 'Second.' }
    const first = { name: 'one', order: 1, render: async () => ' First. ' }
    const none = { name: 'none', render: () => undefined }
    const { text, layers } = await systemOf(await open({}, adding(second, none, first)))
    expect(text).toContain('\n\nFirst.\n\nSecond.\n\nProject instructions')
    expect(layers.filter(({ name }) => name === 'extensions').map(({ source }) => source)).toEqual([
      'one of the extension adds',
      'two of the extension adds',
    ])
    expect(text.replace('First.\n\nSecond.\n\n', '')).toContain(plain.split('\n\n')[0])
  })

  it('share their bytes, between characters, and say what was cut or failed', async () => {
    const long = { name: 'long', order: 1, render: () => 'é'.repeat(40) }
    const late = { name: 'late', order: 2, render: () => 'never seen' }
    const broken = { name: 'broken', render: () => Promise.reject(new Error('no file')) }
    const nonsense = { name: 'nonsense', render: () => 7 as unknown as string }
    const opened = await open({ agent: { extension_prompt_bytes: 51 } }, adding(long, late, broken, nonsense))
    const { layers, problems } = await systemOf(opened)
    expect(layers.filter(({ name }) => name === 'extensions').map(({ text }) => text)).toEqual(['é'.repeat(25)])
    expect(problems).toEqual([
      'broken of the extension adds is left out: no file',
      'nonsense of the extension adds is left out: it is no text.',
      'long of the extension adds was cut to 50 bytes.',
      'late of the extension adds was cut to 0 bytes.',
    ])
  })
})

describe('a config section', () => {
  const number: StandardSchema<number> = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value) =>
        typeof value === 'number'
          ? { value }
          : { issues: [{ message: 'expected a number,\ngot more', path: ['inner'] }] },
    },
  }
  const asking = (read: (value: ConfigValue<number>) => void) =>
    part('asks', (api) => read(api.config.section({ key: 'kettle', schema: number })))

  it('is checked when its key is there, and the key is known by then', async () => {
    let kettle: ConfigValue<number> | null = null
    const keeping = asking((value) => {
      kettle = value
    })
    expect((await open({ kettle: 7 }, keeping)).problems).toEqual([])
    expect(kettle!.value).toBe(7)
    await runtime?.close()
    expect((await open({}, keeping)).problems).toEqual([])
    expect(kettle!.value).toBeUndefined()
    await runtime?.close()
    const file = join(home.path, 'config.yaml')
    const [mistake, ...more] = (await open({ kettle: { inner: 'x' } }, keeping)).problems
    expect(mistake).toMatch(/:1:\d+: kettle\.inner: expected a number, got more\.$/)
    expect(more).toEqual([])
    await runtime?.close()
    expect((await open({ kettle: 7 })).problems).toEqual([
      expect.stringMatching(`^${file}:1:\\d+: kettle is not a known key; it has no effect\\.$`),
    ])
  })
})

describe('factories', () => {
  it('make the memory, the context engine and the backend that config.yaml names', async () => {
    const kept: string[] = []
    const memory: MemoryProvider = {
      name: 'diary',
      recall: async () => [{ id: null, text: 'The boat is blue.' }],
      keep: async ({ user }) => void kept.push(user),
      store: async () => undefined,
      forget: async () => false,
      check: async () => undefined,
      close: async () => undefined,
    }
    const opened: string[] = []
    const making = part('makes', (api) => {
      api.factories.add('memory', 'diary', ({ userId }) => {
        opened.push(userId)
        return memory
      })
      api.factories.add('context-engine', 'short', () => ({
        isDue: () => {
          opened.push('engine')
          return false
        },
        plan: () => null,
        compact: async () => ({ type: 'unchanged', reason: 'none' }),
      }))
      api.factories.add('backend', 'moon', ({ cwd }) => Promise.reject(new Error(`no rocket to ${cwd}`)))
    })
    const named = { memory: { provider: 'diary' }, context: { engine: 'short' } }
    const { agent } = await (await open(named, making)).createAgent({})
    expect(runtime?.problems).toEqual([])
    server.enqueue({ text: 'Blue.' })
    expect(await agent.run(`Which colour? ${'word '.repeat(5_000)}`).result).toMatchObject({ status: 'completed' })
    expect(JSON.stringify(server.requests[0]!.body.messages)).toContain('The boat is blue.')
    expect(opened).toEqual(['ada', 'engine'])
    await expect.poll(() => kept).toHaveLength(1)
    await runtime?.close()
    const onTheMoon = await open({ terminal: { backend: 'moon' } }, making)
    await expect(onTheMoon.createAgent({})).rejects.toThrow(`no rocket to ${home.path}`)
    await runtime?.close()
    await expect((await open({ terminal: { backend: 'moon' } })).createAgent({})).rejects.toThrow(/it can be local/)
  })
})

describe('a model provider', () => {
  const bringing = part('moonlight', (api) => {
    const headers = { 'x-moon': 'full' }
    const keyVariables = ['MOON_KEY']
    const provider = () =>
      ({ baseUrl: server.baseUrl, api: 'chat-completions', defaultModel: 'luna', keyVariables, headers }) as const
    api.factories.add('model-provider', 'moon', provider)
    api.factories.add('model-provider', 'dark', () => {
      throw new Error('new moon')
    })
  })
  const asOf = { model: { provider: 'moon', default: undefined, base_url: undefined } }

  it('is chosen by its name, asked with its key and headers, and one that fails is named', async () => {
    const opened = await open(asOf, bringing)
    expect(opened.problems).toEqual(['The model provider dark of the extension moonlight is left out: new moon.'])
    expect(opened.chooseModel({})).toMatchObject({
      provider: 'moon',
      model: 'luna',
      baseUrl: server.baseUrl,
      apiKey: 'full-moon',
    })
    server.enqueue(
      { toolCalls: [{ name: 'terminal', args: { command: 'echo "key: $MOON_KEY"' } }] },
      { text: 'It shines.' },
    )
    const { agent } = await opened.createAgent({})
    expect(await agent.run('Does it shine?').result).toMatchObject({ status: 'completed', text: 'It shines.' })
    const [first, second] = server.requests
    expect(first).toMatchObject({
      headers: { authorization: 'Bearer full-moon', 'x-moon': 'full' },
      body: { model: 'luna' },
    })
    expect(JSON.stringify(second!.body)).not.toContain('full-moon')
    expect(() => opened.chooseModel({ provider: 'dark' })).toThrow(/Unknown provider "dark".*moon/)
  })

  it('gives way to an entry of config.yaml of its name', async () => {
    const entry = { base_url: `${server.baseUrl}/elsewhere`, model: 'other' }
    expect((await open({ ...asOf, providers: { moon: entry } }, bringing)).chooseModel({})).toMatchObject({
      model: 'other',
    })
  })
})

describe('jobs', () => {
  it('are done by the handler of their kind, and tried again when it fails', async () => {
    const runs: unknown[] = []
    const working = part('works', (api) => {
      api.jobs.handle({
        kind: 'works.one',
        run: async ({ payload, attempt }) => {
          runs.push(payload)
          if (payload['fails'] === true) throw new Error(`try ${attempt} failed`)
        },
      })
    })
    const { jobs } = await (await open({}, working)).storage()
    const one = await jobs.add({ kind: 'works.one', payload: { n: 1 } })
    const two = await jobs.add({ kind: 'works.one', payload: { fails: true } })
    const other = await jobs.add({ kind: 'somebody.else' })
    const stopping = new AbortController()
    const done = runtime!.runJobs(stopping.signal)
    await expect.poll(async () => (await jobs.list({ status: 'running' })).length + runs.length).toBe(2)
    await expect.poll(async () => (await jobs.list()).find(({ id }) => id === two.job.id)?.error).toBe('try 1 failed')
    stopping.abort()
    await done
    const statusOf = async (id: number) => (await jobs.list()).find((job) => job.id === id)?.status
    expect(await statusOf(one.job.id)).toBe('done')
    expect(await statusOf(two.job.id)).toBe('waiting')
    expect(await statusOf(other.job.id)).toBe('waiting')
    expect(runs).toEqual([{ n: 1 }, { fails: true }])
  })
})

it('a job whose handler never ends does not hold up the end of the runner', async () => {
  const stopping = new AbortController()
  const job = { id: 1, kind: 'stuck', payload: {}, attempt: 1 }
  const failed: unknown[] = []
  const queue = { take: async () => job, renew: async () => undefined, fail: async () => void failed.push(job) }
  const run = () => {
    stopping.abort()
    return new Promise<void>(() => undefined)
  }
  // Every wait is over at once.
  const clock = { now: () => 0, sleep: (_: number, signal?: AbortSignal) => setImmediate(undefined, { signal }) }
  const list = () => [{ owner: 'stuck', item: { kind: 'stuck', run } }]
  const jobs = async () => queue as never
  await runJobs({ registry: { list: list as never }, jobs, clock, logger: silentLogger }, stopping.signal)
  expect(failed).toEqual([])
})

describe('modules that config.yaml names', () => {
  const put = async (name: string, text: string, mode = 0o600) => {
    await mkdir(join(home.path, 'extensions'), { recursive: true, mode: 0o700 })
    await writeFile(join(home.path, 'extensions', name), text)
    await chmod(join(home.path, 'extensions', name), mode)
  }
  const greeting = `export default { name: 'greets', setup: (api) => {
    api.prompt.section({ name: 'greeting', render: () => 'Say hello.' })
  } }`

  it('are loaded from the home, and one that cannot be is named while the rest works', async () => {
    await put('good.mjs', greeting)
    await put('throws.mjs', `throw new Error('it is broken')`)
    await put('late.mjs', `export default { name: 'late', setup() { throw new Error('no room') } }`)
    await put('none.mjs', `export const other = 1`)
    const { problems } = await open({ extensions: ['throws.mjs', 'missing.mjs', 'none.mjs', 'late.mjs', 'good.mjs'] })
    expect(problems).toEqual([
      'Extension throws.mjs is left out: it is broken.',
      expect.stringMatching(/^Extension missing\.mjs is left out: ENOENT/),
      'Extension none.mjs is left out: its default export is no extension, { name, setup }.',
      'Extension late could not be set up and is left out: no room.',
    ])
    expect((await runtime!.prompt({})).system.text).toContain('\n\nSay hello.')
  })

  it('are named as files where not even their folder is there', async () => {
    const { problems } = await open({ extensions: ['gone.mjs'] })
    expect(problems).toEqual([expect.stringContaining(join(home.path, 'extensions/gone.mjs'))])
  })

  it('do not hold Hermes up when one never has loaded', async () => {
    await put('waits.mjs', `await new Promise(() => undefined)\n${greeting}`)
    await put('good.mjs', greeting)
    const folder = join(home.path, 'extensions')
    const { extensions, problems, close } = await loadExtensions(['waits.mjs', 'good.mjs'], folder, { withinMs: 200 })
    close()
    expect(problems).toEqual(['Extension waits.mjs is left out: it was not loaded within 0.2 s.'])
    expect(extensions.map(({ name }) => name)).toEqual(['greets'])
  })

  it('are refused when a folder above could be written by others', async () => {
    await put('good.mjs', greeting)
    await chmod(home.path, 0o777)
    const { problems } = await open({ extensions: ['good.mjs'] })
    const why = `others can write to ${home.path}. Run: chmod go-w ${home.path}`
    expect(problems).toContain(`Extension good.mjs is left out: ${why}.`)
    await chmod(home.path, 0o700)
  })

  it('are refused outside their folder, by link too, and where others can write', async () => {
    await put('open.mjs', greeting, 0o622)
    await writeFile(join(home.path, 'outside.mjs'), greeting)
    await symlink(join(home.path, 'outside.mjs'), join(home.path, 'extensions', 'link.mjs'))
    const { problems } = await open({ extensions: ['open.mjs', '../outside.mjs', 'link.mjs'] })
    const folder = join(home.path, 'extensions')
    expect(problems).toEqual([
      `Extension open.mjs is left out: others can write to ${join(folder, 'open.mjs')}. Run: chmod go-w ${join(folder, 'open.mjs')}.`,
      `Extension ../outside.mjs is left out: it lies outside ${folder}.`,
      `Extension link.mjs is left out: it lies outside ${folder}.`,
    ])
  })
})
