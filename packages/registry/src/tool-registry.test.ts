import type { JsonObject } from '@hermes/contracts'
import { defineTool, type ToolContext, type ToolResult } from '@hermes/contracts/tool'
import { describe, expect, it } from 'vitest'
import { createToolRegistry, type KeepResult, type ToolRegistry } from './index.js'

const context = { signal: new AbortController().signal } as ToolContext

const echo = defineTool<{ count: number; tags?: string[]; force?: boolean }>({
  name: 'echo',
  toolset: 'demo',
  description: 'Echo.',
  aliases: ['say'],
  parameters: {
    type: 'object',
    properties: {
      count: { type: 'integer', minimum: 1 },
      tags: { type: 'array', items: { type: 'string' } },
      force: { type: 'boolean' },
    },
    required: ['count'],
  },
  execute: (args) => ({ data: args }),
})

describe('createToolRegistry', () => {
  it('coerces what is harmless and refuses the rest with the field named', async () => {
    const registry = createToolRegistry({ tools: [echo] })
    const coerced = await registry.dispatch('echo', { count: '5', tags: '["a"]', force: 'true' }, context)
    expect(coerced).toEqual({
      content: [{ type: 'text', text: '{"count":5,"tags":["a"],"force":true}' }],
      data: { count: 5, tags: ['a'], force: true },
      isError: false,
    })
    const refused = await registry.dispatch('echo', { count: 'five' }, context)
    expect(refused.isError).toBe(true)
    expect(refused.content[0]).toMatchObject({ text: expect.stringContaining('count') })
  })

  it('asks where the text of a call comes from before the call, which may leave for another folder', async () => {
    let folder = '/x'
    const cat = defineTool({
      ...{ name: 'cat', toolset: 'demo', description: 'd', parameters: { type: 'object' }, external: true },
      sources: () => [{ type: 'file', path: `${folder}/README.md` }],
      execute: () => {
        folder = '/trusted'
        return 'text'
      },
    })
    const outcome = await createToolRegistry({ tools: [cat] }).dispatch('cat', {}, context)
    expect(outcome.content).toMatchObject([{ origin: 'external', sources: [{ path: '/x/README.md' }] }])
  })

  it('takes other spellings of names, and says which arguments did nothing', async () => {
    const parameters = {
      type: 'object',
      properties: { path: { type: 'string' }, content: { type: 'string' }, allow_free_text: { type: 'boolean' } },
      required: ['path'],
    }
    const write = { ...echo, name: 'write', aliases: [], parameters }
    const registry = createToolRegistry({ tools: [write as never] })
    const call = (args: JsonObject) => registry.dispatch('write', args, context)
    expect(await call({ filePath: 'a', new_content: 'x', allow_freetext: 'true' })).toEqual({
      content: [{ type: 'text', text: '{"path":"a","content":"x","allow_free_text":true}' }],
      data: { path: 'a', content: 'x', allow_free_text: true },
      isError: false,
    })
    // The name itself counts, and what could be either of two is neither.
    const both = await call({ path: 'a', file: 'b', contnt: 'x', mode: 3 })
    expect(both.data).toMatchObject({ path: 'a' })
    expect(both.content[1]).toEqual({
      type: 'text',
      text: '[write has no argument "file", "contnt", "mode"; that was ignored. It takes: path, content, allow_free_text.]',
    })
    const twice = { ...write, parameters: { type: 'object', properties: { file: {}, path: {} } } }
    const unsure = await createToolRegistry({ tools: [twice as never] }).dispatch('write', { filename: 'a' }, context)
    expect(unsure.content).toHaveLength(2)
    const open = { ...write, parameters: { ...parameters, additionalProperties: true } }
    const free = createToolRegistry({ tools: [open as never] })
    expect((await free.dispatch('write', { path: 'a', mode: 3 }, context)).content).toHaveLength(1)
  })

  it('accepts null for an optional field as absent', async () => {
    const registry = createToolRegistry({ tools: [echo] })
    expect((await registry.dispatch('echo', { count: 1, force: null }, context)).data).toEqual({ count: 1 })
  })

  it('checks no expression of a schema, which could take for ever; a property may be called so', async () => {
    const parameters = {
      type: 'object',
      properties: { word: { type: 'string', pattern: '^(a+)+$' }, pattern: { type: 'integer' } },
      patternProperties: { '^(a+)+$': { type: 'integer' } },
    }
    const registry = createToolRegistry({
      tools: [{ ...echo, parameters, execute: (args) => ({ data: args as never }) }],
    })
    const hostile = `${'a'.repeat(60)}!`
    expect((await registry.dispatch('echo', { word: hostile }, context)).isError).toBe(false)
    expect((await registry.dispatch('echo', { pattern: 'x' }, context)).isError).toBe(true)
  })

  it('fills in what the schema has a default for', async () => {
    const parameters = {
      type: 'object',
      properties: { path: { type: 'string' }, limit: { type: 'integer', default: 5 } },
      required: ['path'],
    }
    const registry = createToolRegistry({
      tools: [{ ...echo, parameters, execute: (args) => ({ data: args as never }) }],
    })
    expect((await registry.dispatch('echo', { path: 'x' }, context)).data).toEqual({ path: 'x', limit: 5 })
    expect((await registry.dispatch('echo', { path: 'x', limit: null }, context)).data).toEqual({ path: 'x', limit: 5 })
  })

  it('tells a model less of parameters than it checks', async () => {
    const item = { type: 'object', properties: { goal: { type: 'string' } }, required: ['goal'] }
    const parameters = {
      type: 'object',
      properties: {
        force: { type: 'boolean', default: false },
        mode: { type: 'string', enum: ['a', 'b'], default: 'a' },
        last: { type: 'string', enum: ['a', 'b'], default: 'b' },
        seconds: { type: 'number', exclusiveMinimum: 0 },
        limit: { type: 'integer', default: 5 },
        rare: { type: 'integer', 'x-shown': false },
        tasks: { type: 'array', items: item, 'x-shown': { type: 'array', description: 'each has goal' } },
      },
    }
    const registry = createToolRegistry({
      tools: [{ ...echo, parameters, execute: (args) => ({ data: args as never }) }],
    })
    expect((await registry.definitions())[0]!.parameters).toEqual({
      type: 'object',
      properties: {
        force: { type: 'boolean' },
        mode: { type: 'string', enum: ['a', 'b'] },
        last: { type: 'string', enum: ['a', 'b'], default: 'b' },
        seconds: { type: 'number' },
        limit: { type: 'integer', default: 5 },
        tasks: { type: 'array', description: 'each has goal' },
      },
    })
    const data = { force: false, mode: 'a', last: 'b', limit: 5, rare: 7 }
    expect((await registry.dispatch('echo', { rare: '7' }, context)).data).toEqual(data)
    const wrong: readonly JsonObject[] = [{ rare: 'x' }, { tasks: [{}] }, { seconds: 0 }]
    for (const args of wrong)
      expect((await registry.dispatch('echo', args, context)).isError, JSON.stringify(args)).toBe(true)
  })

  it('answers an unknown name with the nearest one and follows aliases', async () => {
    const registry = createToolRegistry({ tools: [echo] })
    const unknown = await registry.dispatch('ecco', {}, context)
    expect(unknown.content[0]).toMatchObject({ text: expect.stringContaining('Did you mean "echo"?') })
    expect((await registry.dispatch('say', { count: 1 }, context)).isError).toBe(false)
  })

  it('gives sorted definitions with stable bytes', async () => {
    const registry = createToolRegistry({ tools: [{ ...echo, name: 'zeta', aliases: [] }, echo] })
    const first = JSON.stringify(await registry.definitions())
    expect(JSON.parse(first).map((definition: { name: string }) => definition.name)).toEqual(['echo', 'zeta'])
    expect(JSON.stringify(await registry.definitions())).toBe(first)
  })

  it('asks for availability at most every 30 seconds and takes a throw for no', async () => {
    let nowMs = 0
    let requested = 0
    const registry = createToolRegistry({ now: () => nowMs })
    registry.register({
      ...echo,
      available: () => {
        requested++
        throw new Error('no daemon')
      },
    })
    expect(await registry.definitions()).toEqual([])
    nowMs = 29_999
    await registry.definitions()
    expect(requested).toBe(1)
    nowMs = 30_000
    await registry.definitions()
    expect(requested).toBe(2)
  })

  it('counts every change, and none that was refused', () => {
    const registry = createToolRegistry({ tools: [echo] })
    const seen = [registry.generation]
    registry.register({ ...echo, description: 'other' })
    seen.push(registry.generation)
    expect(() => registry.register({ ...echo, toolset: 'plugin' })).toThrow('would replace')
    seen.push(registry.generation)
    expect([registry.deregister('echo'), registry.deregister('echo')]).toEqual([true, false])
    seen.push(registry.generation)
    const [first, changed, refused, gone] = seen as [number, number, number, number]
    expect([changed > first, refused === changed, gone > changed]).toEqual([true, true, true])
    expect(registry.get('say')).toBeNull()
  })

  it('describes a tool by the tools that are shown beside it', async () => {
    const describe = (names: readonly string[]) => `beside ${names.join(' and ')}`
    const other = { ...echo, name: 'other', aliases: [] }
    const registry = createToolRegistry({
      tools: [{ ...echo, describe }, other, { ...other, name: 'off', available: () => false }],
    })
    const described = async () => (await registry.definitions()).find(({ name }) => name === 'echo')?.description
    expect(await described()).toBe('beside echo and other')
    registry.deregister('other')
    expect(await described()).toBe('beside echo')
  })

  it('refuses to shadow a tool of another toolset unless told to, but lets MCP replace MCP', () => {
    const registry = createToolRegistry({ tools: [echo] })
    expect(() => registry.register({ ...echo, toolset: 'plugin' })).toThrow('would replace')
    expect(() => registry.register({ ...echo, name: 'say', aliases: [], toolset: 'plugin' })).toThrow('would replace')
    registry.register({ ...echo, toolset: 'plugin' }, { override: true })
    expect(registry.get('echo')?.toolset).toBe('plugin')
    registry.register({ ...echo, name: 'm', aliases: [], toolset: 'mcp-a' })
    registry.register({ ...echo, name: 'm', aliases: [], toolset: 'mcp-b' })
    expect(registry.get('m')?.toolset).toBe('mcp-b')
  })

  it('turns what a tool throws into an error result', async () => {
    const registry = createToolRegistry({
      tools: [
        {
          ...echo,
          execute: () => {
            throw new Error('disk on fire')
          },
        },
      ],
    })
    expect(await registry.dispatch('echo', { count: 1 }, context)).toEqual({
      content: [{ type: 'text', text: 'echo failed: disk on fire' }],
      isError: true,
    })
  })

  it('cuts an overlong result head and tail', async () => {
    const registry = createToolRegistry({
      tools: [{ ...echo, maxResultChars: 100, execute: () => 'a'.repeat(300) + 'z'.repeat(300) }],
    })
    const text = (await registry.dispatch('echo', { count: 1 }, context)).content[0] as { text: string }
    expect(text.text).toMatch(/^a{40}\n\n\[… 500 characters left out here …\]\n\nz{60}$/)
  })

  it('has the whole of an overlong result kept, and says where', async () => {
    const kept: string[] = []
    const open = (execute: () => ToolResult, keepResult?: KeepResult) =>
      createToolRegistry({
        tools: [{ ...echo, maxResultChars: 100, execute }],
        keepResult: keepResult ?? (async ({ callId, text }) => `/kept/${callId}-${kept.push(text)}`),
      })
    const local = { ...context, sessionId: 's', callId: 'c', environment: { backend: 'local' } } as ToolContext
    const textOf = async (registry: ToolRegistry, where = local) =>
      ((await registry.dispatch('echo', { count: 1 }, where)).content[0] as { text: string }).text
    const long = 'a'.repeat(300)
    expect(await textOf(open(() => long))).toContain(
      '[… 200 characters left out here; all of it is in /kept/c-1: read_file gives it page by page …]',
    )
    await textOf(open(() => ({ data: { list: Array.from({ length: 40 }, (_, n) => n) } })))
    expect(kept[0]).toBe(long)
    expect(kept[1]).toMatch(/^\{\n {2}"list": \[\n {4}0,\n {4}1,/)
    await textOf(open(() => 'short'))
    const nowhere = Object.defineProperty({ ...local }, 'environment', {
      get: () => {
        throw new Error('There is none.')
      },
    })
    expect(
      await textOf(
        open(() => long),
        nowhere,
      ),
    ).toContain('200 characters left out here …]')
    const full = async () => Promise.reject(new Error('disk full'))
    expect(await textOf(open(() => long, full))).toContain('200 characters left out here …]')
    expect(kept).toHaveLength(2)
  })
})
