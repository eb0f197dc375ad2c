import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startModelServer, temporaryHome } from '@hermes/testkit'
import { describe, expect, it } from 'vitest'
import { openRuntime } from '../open-runtime.js'
import { routeFor, routeForChild, routingProblems, type SessionStart } from './routing.js'

/** A Sunday, noon. */
const noon = Date.parse('2026-03-15T12:00:00Z')
const start = (over: Partial<SessionStart> = {}): SessionStart => ({
  kind: 'cli',
  atMs: noon,
  timeZone: 'UTC',
  cwd: '/home/me/work/shop',
  userHome: '/home/me',
  ...over,
})
const to = (when: object) => [{ when, model: 'm' }]
const fits = (when: object, over?: Partial<SessionStart>) => routeFor(to(when), start(over)) !== null

describe('routeFor', () => {
  it('takes the first rule that fits, with what it names', () => {
    const rules = [
      { when: { kind: 'cron' }, model: 'night' },
      { when: { kind: ['cli', 'acp'] }, provider: 'openrouter', model: 'a/b', base_url: 'http://127.0.0.1:1/v1' },
      { model: 'rest' },
    ]
    expect(routeFor(rules, start())).toEqual({ provider: 'openrouter', model: 'a/b', baseUrl: 'http://127.0.0.1:1/v1' })
    expect(routeFor(rules, start({ kind: 'cron' }))).toEqual({ model: 'night' })
    expect(routeFor(rules, start({ kind: 'gateway' }))).toEqual({ model: 'rest' })
    expect(routeFor([], start())).toBeNull()
  })

  it('judges by the size of the first message, where that is known', () => {
    const text = 'word '.repeat(400)
    expect(fits({ min_tokens: 400 }, { text })).toBe(true)
    expect(fits({ min_tokens: 600 }, { text })).toBe(false)
    expect(fits({ max_tokens: 100 }, { text })).toBe(false)
    expect(fits({ max_tokens: 100 }, { text: 'hi' })).toBe(true)
    expect(fits({ max_tokens: 100 })).toBe(false)
  })

  it('judges by the folder, which stands for all below it', () => {
    expect(fits({ folder: '~/work' })).toBe(true)
    expect(fits({ folder: ['/srv', '/home/me/work/shop/'] })).toBe(true)
    expect(fits({ folder: '~' })).toBe(true)
    expect(fits({ folder: '~/wor' })).toBe(false)
    expect(fits({ folder: '~/work/shop/src' })).toBe(false)
    expect(fits({ folder: '~/work' }, { cwd: '/home/me/..work' })).toBe(false)
    expect(routingProblems(to({ folder: 'work' }))).toEqual([
      'routing.0 is left out: when.folder takes whole paths, such as ~/work.',
    ])
  })

  it('judges by hour and day where the clocks show the time zone, over midnight too', () => {
    expect(fits({ hours: '9-17' })).toBe(true)
    expect(fits({ hours: '12-13' })).toBe(true)
    expect(fits({ hours: '9-12' })).toBe(false)
    expect(fits({ hours: '22-6' }, { timeZone: 'Asia/Tokyo' })).toBe(false)
    expect(fits({ hours: '20-6' }, { timeZone: 'Asia/Tokyo' })).toBe(true)
    expect(fits({ days: ['sat', 'Sunday'] })).toBe(true)
    expect(fits({ days: ['sun'] }, { timeZone: 'Pacific/Auckland' })).toBe(false)
  })

  it('needs all that a rule says', () => {
    expect(fits({ kind: 'cli', days: 'sun', hours: '0-24' })).toBe(true)
    expect(fits({ kind: 'acp', days: 'sun' })).toBe(false)
  })

  it('passes over rules that cannot be read, and says what is wrong with each', () => {
    const rules = [
      'x',
      { when: {} },
      { model: 'm', when: { hours: 'noon' } },
      { model: 'm', when: { days: ['someday'] } },
      { model: 'm', when: { size: 3 } },
      { model: 7 },
      { model: 'm', kind: 'cron' },
      { modle: 'm', provider: 'openai' },
      { model: 'm' },
    ]
    expect(routeFor(rules, start())).toEqual({ model: 'm' })
    expect(routingProblems(rules)).toEqual([
      'routing.0 is left out: a rule must be a map.',
      'routing.1 is left out: it names neither model nor provider nor base_url.',
      'routing.2 is left out: when.hours must look like 22-6.',
      'routing.3 is left out: when.days takes sun, mon, tue, wed, thu, fri, sat.',
      'routing.4 is left out: when.size is not known.',
      'routing.5 is left out: model must be a text.',
      'routing.6 is left out: kind belongs under when.',
      'routing.7 is left out: modle is not known.',
    ])
  })
})

describe('routing', () => {
  it('decides when a session starts, and never again', async () => {
    await using home = await temporaryHome()
    const server = await startModelServer()
    server.setHandler(() => ({ text: 'ok' }))
    const model = { default: 'usual', base_url: server.baseUrl }
    const routing = [{ when: { min_tokens: 100, folder: '~' }, model: 'large' }, 'x']
    await writeFile(join(home.path, 'config.yaml'), JSON.stringify({ model, routing }))
    const world = { env: {}, cwd: home.path, user: 'u', tempDir: home.path }
    const runtime = await openRuntime({ home: home.path, userHome: home.path, ...world })
    try {
      expect(runtime.problems).toEqual(['routing.1 is left out: a rule must be a map.'])
      const long = 'word '.repeat(200)
      const { agent } = await runtime.createAgent({ firstText: long })
      await agent.run(long).result
      const session = (await (await runtime.storage()).sessions.get(agent.sessionId))!
      await (await runtime.createAgent({ session, firstText: 'short' })).agent.run('short').result
      await (await runtime.createAgent({ firstText: 'short' })).agent.run('short').result
      await (await runtime.createAgent({ firstText: long, model: 'named' })).agent.run(long).result
      expect(server.requests.map(({ body }) => body.model)).toEqual(['large', 'large', 'usual', 'named'])
    } finally {
      await runtime.close()
      await server.close()
    }
  })

  it('has a project asked with an account of its own, and a session with another', async () => {
    await using home = await temporaryHome()
    const server = await startModelServer()
    server.setHandler(() => ({ text: 'ok' }))
    const endpoint = (key: string) => ({ base_url: server.baseUrl, key_env: key, model: 'm' })
    const config = {
      model: { provider: 'mine' },
      providers: { mine: endpoint('MY_KEY'), work: endpoint('WORK_KEY') },
      routing: [{ provider: 'work', when: { folder: '~/work' } }],
    }
    await writeFile(join(home.path, 'config.yaml'), JSON.stringify(config))
    await mkdir(join(home.path, 'work/shop'), { recursive: true })
    const world = { env: { MY_KEY: 'k-mine', WORK_KEY: 'k-work' }, cwd: home.path, user: 'u', tempDir: home.path }
    const runtime = await openRuntime({ home: home.path, userHome: home.path, ...world })
    try {
      for (const cwd of [home.path, join(home.path, 'work/shop')])
        await (await runtime.createAgent({ cwd })).agent.run('Go.').result
      const ready = await runtime.createAgent({})
      await ready.agent.run('Mine.').result
      // A session can be given another one too, and keeps it.
      const other = await ready.changeModel({ model: 'm', provider: 'work', force: true })
      await other.agent.run('Work.').result
      const session = (await (await runtime.storage()).sessions.get(other.agent.sessionId))!
      await (await runtime.createAgent({ session })).agent.run('Still.').result
      expect(server.requests.map(({ headers }) => headers['authorization'])).toEqual(
        ['mine', 'work', 'mine', 'work', 'work'].map((name) => `Bearer k-${name}`),
      )
    } finally {
      await runtime.close()
      await server.close()
    }
  })

  it('gives a delegated task the model of a rule that names its kind, and links and counts what it did', async () => {
    await using home = await temporaryHome()
    const server = await startModelServer()
    server.setHandler(({ body }) => {
      const last = body.messages.at(-1)!
      if (body.model === 'small') return { text: 'Three.' }
      if (last.role === 'tool') return { text: String(last.content) }
      return { toolCalls: [{ name: 'delegate_task', args: { goal: 'Count.' } }] }
    })
    const model = { default: 'usual', base_url: server.baseUrl }
    const routing = [
      { when: { min_tokens: 0 }, model: 'usual' },
      { when: { kind: 'subagent' }, model: 'small' },
    ]
    await writeFile(join(home.path, 'config.yaml'), JSON.stringify({ model, routing }))
    const world = { env: {}, cwd: home.path, user: 'u', tempDir: home.path }
    const runtime = await openRuntime({ home: home.path, userHome: home.path, ...world })
    try {
      const { agent, children } = await runtime.createAgent({})
      expect(await agent.run('Go.').result).toMatchObject({ text: expect.stringMatching(/completed[\s\S]*Three\.$/) })
      expect(server.requests.map(({ body }) => body.model)).toEqual(['usual', 'small', 'usual'])
      const [child] = children.list()
      const storage = await runtime.storage()
      expect(await storage.sessions.descendants(agent.sessionId)).toMatchObject([
        {
          id: child!.sessionId,
          source: 'subagent',
          parentSessionId: agent.sessionId,
          model: 'small',
          endReason: 'task_end',
        },
      ])
      expect(children.usage()).toEqual((await storage.sessions.get(child!.sessionId!))!.usage)
    } finally {
      await runtime.close()
      await server.close()
    }
  })
})

describe('a rule for delegated tasks', () => {
  const start = { text: 'word '.repeat(200), atMs: 0, timeZone: 'UTC', cwd: '/w', userHome: '/h' }
  const rules = [
    { model: 'everything' },
    { when: { kind: ['cron', 'subagent'], min_tokens: 10_000 }, model: 'large' },
    { when: { kind: 'subagent' }, model: 'small' },
  ]

  it('has to name their kind, and may ask for more', () => {
    expect(routeForChild(rules, start)).toEqual({ model: 'small' })
    expect(routeForChild(rules, { ...start, text: 'word '.repeat(40_000) })).toEqual({ model: 'large' })
    expect(routeForChild(rules.slice(0, 1), start)).toBeNull()
  })
})
