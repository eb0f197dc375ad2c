import { defineTool, type Tool, type ToolContext } from '@hermes/contracts/tool'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { disclose } from './disclosure.js'
import { createToolRegistry, type DisclosureOptions, type ToolRegistry } from './index.js'
import { rankTools } from './rank-tools.js'

const context = { signal: new AbortController().signal } as ToolContext
const options: DisclosureOptions = { mode: 'auto', budgetTokens: 500, core: ['file'] }

const tool = (name: string, toolset: string, over: Partial<Tool<{ id: number }>> = {}): Tool =>
  defineTool<{ id: number }>({
    name,
    toolset,
    description: `What ${name.replaceAll('_', ' ')} does, in some more words so that it weighs something.`,
    parameters: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
    execute: ({ id }) => ({ data: { name, id } }),
    ...over,
  }) as Tool

const tracker = ['create_issue', 'list_issues', 'close_issue', 'add_comment', 'assign_user', 'search_issues']
const small = [tool('read_file', 'file'), tool('look', 'small')]
const many = [...small, ...tracker.map((name) => tool(name, 'mcp-tracker'))]
const open = (tools: readonly Tool[] = many, over: Partial<DisclosureOptions> = {}) =>
  createToolRegistry({ tools, disclosure: { ...options, budgetTokens: 200, ...over } })
const namesOf = async (registry: ToolRegistry) => (await registry.definitions()).map(({ name }) => name)
/** The lines below the first one of `tool_search`. */
const listingOf = async (registry: ToolRegistry) =>
  (await registry.definitions())
    .find(({ name }) => name === 'tool_search')!
    .description.split('\n')
    .slice(1)
    .join('\n')
const call = async (registry: ToolRegistry, name: string, args: object) => {
  const callable = registry.callable(await namesOf(registry))
  const prepared = await registry.prepare({ name, args: args as never }, callable)
  return prepared.type === 'immediate' ? prepared.outcome : registry.execute(prepared, context)
}
const textOf = (outcome: Awaited<ReturnType<typeof call>>) => (outcome.content[0] as { text: string }).text

describe('tools that are too many', () => {
  it('are all defined as long as they are within the budget', async () => {
    expect(await namesOf(open(many, { budgetTokens: 10_000 }))).toEqual([...tracker, 'read_file', 'look'].sort())
    expect(await namesOf(open(many, { mode: 'off' }))).not.toContain('tool_search')
  })

  it('are hidden set by set, the largest first, and a line says which sets there are', async () => {
    const registry = open()
    expect(await namesOf(registry)).toEqual(['look', 'read_file', 'tool_call', 'tool_search'])
    expect(await listingOf(registry)).toBe('mcp-tracker: Tools of mcp-tracker')
  })

  it('stay whole where a person wants it, by set or by name', async () => {
    expect(await namesOf(open(many, { budgetTokens: 0, always: ['mcp-tracker'] }))).toEqual(
      [...tracker, 'read_file', 'tool_call', 'tool_search'].sort(),
    )
    expect(await namesOf(open(many, { mode: 'on', always: ['look'] }))).toContain('look')
  })

  it('never include the core, whatever the budget', async () => {
    expect(await namesOf(open(many, { budgetTokens: 0 }))).toEqual(['read_file', 'tool_call', 'tool_search'])
    expect(await namesOf(open(small, { mode: 'on' }))).toEqual(['read_file', 'tool_call', 'tool_search'])
  })

  it('come with the same bytes every time, in whatever order they were registered', async () => {
    const bytes = JSON.stringify(await open().definitions())
    expect(JSON.stringify(await open([...many].reverse()).definitions())).toBe(bytes)
  })

  it('keep order and lose nothing', () => {
    const owned = fc.record({ toolset: fc.constantFrom('file', 'a', 'b', 'c'), size: fc.nat(900) })
    fc.assert(
      fc.property(fc.array(owned), fc.nat(2_000), (sets, budgetTokens) => {
        const all = sets.map(({ toolset, size }, at) => ({
          toolset,
          isDeferred: false,
          isOutside: false,
          definition: { name: `t${at}`, description: 'x'.repeat(size), parameters: {} },
        }))
        const { shown, hidden } = disclose(all, { ...options, budgetTokens })
        const kept = all.filter(({ definition }) => shown.includes(definition))
        expect(shown).toEqual(kept.map(({ definition }) => definition))
        expect(hidden).toEqual(all.filter((one) => !kept.includes(one)))
        expect(hidden.some(({ toolset }) => toolset === 'file')).toBe(false)
      }),
      { numRuns: Number(process.env['HERMES_TEST_RUNS'] ?? 50) },
    )
  })
})

describe('deferred tools', () => {
  const late = tool('late_tool', 'late')

  it('are behind the bridge however few they are, by themselves or as a set', async () => {
    const registry = createToolRegistry({ tools: [...small, tool('learning', 'learning')] })
    expect(await namesOf(registry)).toEqual(['look', 'read_file', 'tool_call', 'tool_search'])
    expect(await listingOf(registry)).toBe('learning: Remember what fixed an error')
    registry.register(late, { deferred: true })
    expect(await listingOf(registry)).toBe('late: Tools of late\nlearning: Remember what fixed an error')
    expect((await call(registry, 'tool_call', { name: 'late_tool', arguments: { id: 1 } })).isError).toBe(false)
  })

  it('are defined where a person wants them whole, or wants no bridge', async () => {
    const of = async (disclosure: Partial<DisclosureOptions>) => {
      const registry = createToolRegistry({ tools: small, disclosure: { ...options, ...disclosure } })
      registry.register(late, { deferred: true })
      return namesOf(registry)
    }
    const whole = ['late_tool', 'look', 'read_file']
    expect(await of({ always: ['late'] })).toEqual(whole)
    expect(await of({ always: ['late_tool'] })).toEqual(whole)
    expect(await of({ mode: 'off' })).toEqual(whole)
  })

  it('cost 700 bytes however many sets there are, and each line 60', async () => {
    const sent = async (count: number, name: (n: number) => string) => {
      const registry = createToolRegistry()
      for (let n = 0; n < count; n++)
        registry.addSource({ name: name(n), description: `"${n}"\n${'ü'.repeat(500)}`, list: () => [] })
      const definitions = await registry.definitions()
      const lines = (await listingOf(registry)).split('\n')
      for (const line of lines.length > 1 ? lines : []) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(60)
      const tools = definitions.map((definition) => ({ type: 'function', function: definition }))
      return { lines, bytes: tools.reduce((sum, one) => sum + Buffer.byteLength(JSON.stringify(one)), 0) }
    }
    for (const count of [1, 2, 3, 4, 5, 20, 1_000]) {
      expect((await sent(count, (n) => `mcp-server-${n}`)).bytes).toBeLessThanOrEqual(700)
      expect((await sent(count, (n) => `${n}`.padStart(64, 'x'))).bytes).toBeLessThanOrEqual(700)
    }
    expect((await sent(3, (n) => `set-${n}`)).lines).toHaveLength(3)
    expect((await sent(1_000, (n) => `set-${n}`)).lines[0]).toMatch(/^set-0, set-1, .* and 9\d\d more$/)
  })
})

describe('tool_search', () => {
  it('gives the definitions of what fits, best first, and names the rest', async () => {
    const outcome = await call(open(), 'tool_search', { query: 'create a new issue with a comment for a user' })
    const { tools, more } = outcome.data as { tools: { name: string; parameters: object }[]; more: string[] }
    expect(tools[0]).toMatchObject({ name: 'create_issue', parameters: { required: ['id'] } })
    expect(tools).toHaveLength(5)
    expect(more.length).toBeGreaterThan(0)
    expect(textOf(outcome).split('\n')[0]).toBe(JSON.stringify(tools[0]))
  })

  it('finds tools by their exact names', async () => {
    const outcome = await call(open(), 'tool_search', { query: 'add_comment, list_issues' })
    expect(outcome.data).toMatchObject({ tools: [{ name: 'add_comment' }, { name: 'list_issues' }], more: [] })
  })

  it('gives the tools of a set by its name, those named themselves first', async () => {
    const outcome = await call(open(), 'tool_search', { query: 'mcp-tracker search_issues' })
    const names = (outcome.data as { tools: { name: string }[] }).tools.map(({ name }) => name)
    expect(names).toEqual(['search_issues', 'add_comment', 'assign_user', 'close_issue', 'create_issue'])
    expect(outcome.data).toMatchObject({ more: ['list_issues'] })
  })

  it('says what there is when nothing fits', async () => {
    expect(textOf(await call(open(), 'tool_search', { query: 'weather' }))).toMatch(
      /^No tool fits "weather"\. There are: add_comment, .*look/,
    )
  })

  it('names only so many of what fits worse, or where nothing fits', async () => {
    const registry = open(Array.from({ length: 300 }, (_, n) => tool(`do_${n}`, 'mcp-many')))
    const found = textOf(await call(registry, 'tool_search', { query: 'do' }))
    expect(found.split('\n').at(-1)).toMatch(/^Also: (?:do_\d+, ){199}do_\d+ and 95 more$/)
    expect(textOf(await call(registry, 'tool_search', { query: 'weather' }))).toMatch(/, do_\d+ and 100 more\.$/)
  })

  it('meets plurals and other forms of a word', () => {
    const definitions = [
      { name: 'search_files', description: '', parameters: {} },
      { name: 'listRepositories', description: 'Lists the repositories of a user.', parameters: {} },
    ].map((definition) => ({ toolset: 'x', definition }))
    expect(rankTools(definitions, 'listing repository')[0]?.name).toBe('listRepositories')
    expect(rankTools(definitions, 'file')[0]?.name).toBe('search_files')
  })

  it('finds a tool that came after the session began', async () => {
    const registry = open()
    const callable = async () => registry.callable(['read_file', 'tool_call', 'tool_search'])
    registry.register(tool('late_tool', 'mcp-late'))
    const prepared = await registry.prepare(
      { name: 'tool_call', args: { name: 'late_tool', arguments: { id: 1 } } },
      await callable(),
    )
    expect(prepared).toMatchObject({ type: 'prepared', tool: { name: 'late_tool' } })
  })
})

describe('tool_call', () => {
  it('comes out as the call of the tool it names', async () => {
    const registry = open()
    const callable = registry.callable(await namesOf(registry))
    const args = { name: 'close_issue', arguments: { id: '7' } }
    expect(await registry.prepare({ name: 'tool_call', args }, callable)).toMatchObject({
      type: 'prepared',
      tool: { name: 'close_issue' },
      args: { id: 7 },
    })
  })

  it.each([
    [{ name: 'close_issue', arguments: '{"id": 7}' }, '{"name":"close_issue","id":7}'],
    [{ name: 'close_issue', id: 7 }, '{"name":"close_issue","id":7}'],
    [{ name: 'close_issue', arguments: '{"id": ' }, '"arguments" of tool_call must be an object'],
    [{ name: 'close_issue', arguments: { id: 'x' } }, 'Invalid arguments for close_issue'],
    [{ name: 'close_isue', arguments: {} }, 'There is no tool "close_isue". Did you mean "close_issue"? Find others'],
    [{ name: 'tool_call', arguments: {} }, 'tool_call cannot call itself.'],
    [{ arguments: {} }, 'tool_call needs the name of a tool'],
  ])('answers %j with %s', async (args, expected) => {
    expect(textOf(await call(open(), 'tool_call', args))).toContain(expected)
  })

  it('reaches a hidden tool by its own name too', async () => {
    expect((await call(open(), 'close_issue', { id: 1 })).data).toEqual({ name: 'close_issue', id: 1 })
  })

  it('reaches nothing that the toolsets leave out', async () => {
    const registry = open()
    const callable = registry.callable(['tool_call', 'tool_search'], { disabled: ['mcp-tracker'] })
    expect([...callable].sort()).toEqual(['look', 'read_file', 'tool_call', 'tool_search'])
    const prepared = await registry.prepare(
      { name: 'tool_call', args: { name: 'close_issue', arguments: { id: 1 } } },
      callable,
    )
    expect(prepared).toMatchObject({ type: 'immediate', outcome: { isError: true } })
  })

  it('is there only for sessions that were shown it', async () => {
    const registry = open(many, { mode: 'off' })
    const callable = registry.callable(await namesOf(registry))
    expect(callable).not.toContain('tool_call')
    expect(await registry.prepare({ name: 'tool_call', args: {} }, callable)).toMatchObject({ type: 'immediate' })
  })

  it('keeps its name and that of the search to itself', () => {
    expect(() => open([tool('tool_call', 'plugin')])).toThrow('is taken')
  })
})
