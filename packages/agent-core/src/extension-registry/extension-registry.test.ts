import { silentLogger } from '@hermes/contracts'
import type { ConfigValue, Extension, ExtensionApi, Registration } from '@hermes/contracts/extension'
import type { StandardSchema } from '@hermes/contracts/tool'
import { describe, expect, it } from 'vitest'
import { createExtensionRegistry } from './extension-registry.js'

const open = (...extensions: readonly Extension[]) => createExtensionRegistry(extensions, { logger: silentLogger })
const named = (name: string, setup: (api: ExtensionApi) => ReturnType<Extension['setup']>): Extension => ({
  name,
  setup,
})
const anything: StandardSchema<number> = {
  '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value: value as number }) },
}

/** One of each kind, so that nothing of a kind is forgotten. */
function everything(api: ExtensionApi): readonly Registration[] {
  return [
    api.prompt.section({ name: 'one', render: () => 'text' }),
    api.config.section({ key: 'one', schema: anything }),
    api.doctor.check({ name: 'one', run: () => [] }),
    api.commands.add({ name: 'one', summary: 'one', run: () => [] }),
    api.subcommands.add({ name: 'one', summary: 'one', load: async () => () => 0 }),
    api.routes.add({ method: 'GET', path: '/one', scope: 'api', handle: () => new Response('one') }),
    api.jobs.handle({ kind: 'one', run: async () => undefined }),
    api.factories.add('context-engine', 'one', () => {
      throw new Error('never called')
    }),
    api.tools.add({
      name: 'one',
      toolset: 'one',
      description: 'one',
      parameters: { type: 'object' },
      execute: () => '',
    }),
    api.tools.addSource({ name: 'one', list: () => [] }),
  ]
}

const KINDS = [
  'section',
  'config',
  'check',
  'command',
  'subcommand',
  'route',
  'job',
  'factory',
  'tool',
  'toolSource',
] as const
type Registry = ReturnType<typeof open>
const counts = (registry: Registry) => KINDS.map((kind) => registry.list(kind).length)

describe('what extensions register', () => {
  it('is listed with its owner, goes when it is taken back, and stays in a list that was read before', () => {
    let registrations: readonly Registration[] = []
    const registry = open(
      named('all', (api) => {
        registrations = everything(api)
      }),
    )
    expect(counts(registry)).toEqual(KINDS.map(() => 1))
    for (const kind of KINDS) expect(registry.list(kind)[0]).toMatchObject({ owner: 'all' })
    const before = registry.list('check')
    for (const registration of registrations) registration.dispose()
    for (const registration of registrations) registration.dispose()
    expect(counts(registry)).toEqual(KINDS.map(() => 0))
    expect(before).toHaveLength(1)
  })

  it('goes with its extension, be it closed or left out for what its setup throws', async () => {
    const registry = open(
      named('all', (api) => void everything(api)),
      named('broken', (api) => {
        api.prompt.section({ name: 'two', render: () => 'text' })
        throw new Error('it broke.')
      }),
    )
    expect(registry.problems).toEqual(['Extension broken could not be set up and is left out: it broke.'])
    expect(counts(registry)).toEqual(KINDS.map(() => 1))
    await registry.close()
    expect(counts(registry)).toEqual(KINDS.map(() => 0))
  })

  it('is refused under a name that another extension has, which is then left out whole', () => {
    for (const [index, kind] of KINDS.entries()) {
      const registry = open(
        named('first', (api) => void everything(api)),
        named('second', (api) => {
          api.hooks.on('run-start', () => undefined)
          const taken = everything({ ...api, ...onlyKind(api, index) })
          expect(taken).toHaveLength(KINDS.length)
        }),
      )
      // A route stands below the name of its extension, so two of them never meet.
      expect(registry.problems, kind).toEqual(
        kind === 'route'
          ? []
          : [
              expect.stringMatching(
                `^Extension second could not be set up and is left out: the ${kind} .*one is taken by first\\.$`,
              ),
            ],
      )
      expect(registry.hooks.at('run-start')).toHaveLength(kind === 'route' ? 1 : 0)
    }
  })

  it('is refused when a name of its command is any name of another one, and free again when that one goes', () => {
    let first: Registration | undefined
    const adding = (...names: readonly string[]) => {
      const [name = '', ...aliases] = names
      return (api: ExtensionApi) => api.commands.add({ name, aliases, summary: name, run: () => [] })
    }
    let later: ExtensionApi | undefined
    const registry = open(
      named('first', (api) => {
        first = adding('fork', 'branch')(api)
      }),
      named('second', (api) => void adding('branch')(api)),
      named('third', (api) => void adding('copy', 'fork')(api)),
      named('fourth', (api) => void adding('twice', 'twice')(api)),
      named('fifth', (api) => void adding('a b')(api)),
      named('later', (api) => {
        later = api
      }),
    )
    expect(registry.problems).toEqual([
      expect.stringContaining('the command fork is taken by first'),
      expect.stringContaining('the command fork is taken by first'),
      expect.stringContaining('“twice” cannot be the name of a command'),
      expect.stringContaining('“a b” cannot be the name of a command'),
    ])
    expect(() => adding('branch')(later!)).toThrow('is taken by first')
    first?.dispose()
    const again = adding('branch')(later!)
    expect(registry.list('command')).toMatchObject([{ owner: 'later', item: { name: 'branch' } }])
    again.dispose()
    expect(registry.list('command')).toEqual([])
  })

  it('is nothing more once its extension was left out or closed', async () => {
    const apis: ExtensionApi[] = []
    const registry = open(
      named('waits', (async (api: ExtensionApi) => {
        await undefined
        api.prompt.section({ name: 'late', render: () => 'text' })
      }) as never),
      named('broken', (api) => {
        apis.push(api)
        throw new Error('it broke')
      }),
      named('closed', (api) => void apis.push(api)),
    )
    await undefined
    await registry.close()
    for (const api of apis)
      for (const add of [
        () => api.hooks.on('run-start', () => undefined),
        () => api.toolData.from('one', () => null),
        () => api.commands.add({ name: 'one', summary: 'one', run: () => [] }),
        () => everything(api),
      ])
        expect(add).toThrow('was left out or closed')
    expect([counts(registry), registry.hooks.at('run-start')]).toEqual([KINDS.map(() => 0), []])
  })

  it('does not hold up the end of the program when its extension is never closed', async () => {
    const closed: string[] = []
    const extensions = [
      named('first', () => () => void closed.push('first')),
      named('hangs', () => () => new Promise(() => undefined)),
    ]
    await createExtensionRegistry(extensions, { logger: silentLogger, closesWithinMs: 1 }).close()
    expect(closed).toEqual(['first'])
  })

  it('finds the value of its key once the home has read it', () => {
    let answer: ConfigValue<number> | undefined
    const registry = open(
      named('own', (api) => {
        answer = api.config.section({ key: 'answer', schema: anything })
      }),
    )
    expect(answer?.value).toBeUndefined()
    registry.setConfig('answer', 42)
    expect(answer?.value).toBe(42)
  })

  it.each(['Upper', '', 'a b', '../x', 'x'.repeat(65)])('is refused of an extension that is called %j', (name) => {
    expect(open(named(name, () => undefined)).problems).toEqual([expect.stringContaining('lower case letters')])
  })
})

/** An api that registers nothing but the kind at `index`. */
function onlyKind(api: ExtensionApi, index: number): Partial<ExtensionApi> {
  const none = { dispose: () => undefined }
  const parts: readonly Partial<ExtensionApi>[] = [
    { prompt: { section: () => none } },
    { config: { section: () => ({ ...none, value: undefined }) } },
    { doctor: { check: () => none } },
    { commands: { add: () => none } },
    { subcommands: { add: () => none } },
    { routes: { add: () => none } },
    { jobs: { handle: () => none } },
    { factories: { add: () => none } },
    { tools: { add: () => none, addSource: api.tools.addSource } },
    { tools: { add: api.tools.add, addSource: () => none } },
  ]
  const rest = parts.filter((_, at) => at !== index)
  const isTools = 'tools' in parts[index]!
  const tools = isTools ? {} : { tools: { add: () => none, addSource: () => none } }
  return Object.assign({ ...api }, ...rest, tools) as Partial<ExtensionApi>
}
