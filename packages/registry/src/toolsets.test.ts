import { describe, expect, it } from 'vitest'
import { CORE_TOOLSETS, mergeToolsets, platformToolset, resolveToolsets, TOOLSETS } from './index.js'

describe('resolveToolsets', () => {
  it('follows includes, applies disabled last and sorts', () => {
    expect(resolveToolsets(TOOLSETS, { enabled: ['hermes-cli'], disabled: ['clarify', 'todo'] })).toEqual([
      'delegate_task',
      'execute_code',
      'memory',
      'patch',
      'process',
      'read_file',
      'recall',
      'search_files',
      'session_search',
      'terminal',
      'write_file',
    ])
  })

  it('names the valid toolsets when one is unknown', () => {
    expect(() => resolveToolsets(TOOLSETS, { enabled: ['fiel'] })).toThrow(
      /Unknown toolset "fiel"\. Valid toolsets: all, clarify, /,
    )
    expect(() => resolveToolsets(TOOLSETS, { enabled: ['constructor'] })).toThrow('Unknown toolset')
  })

  it('accepts names of older versions and bare MCP server names', () => {
    expect(resolveToolsets(TOOLSETS, { enabled: ['terminal_tools'] })).toEqual(['process', 'terminal'])
    const merged = mergeToolsets([{ name: 'mcp__files__list', toolset: 'mcp-files' }])
    expect(resolveToolsets(merged, { enabled: ['files'] })).toEqual(['mcp__files__list'])
  })

  it('means both where an MCP server bears the name of a set', () => {
    const merged = mergeToolsets([{ name: 'mcp__todo__add', toolset: 'mcp-todo' }])
    expect(resolveToolsets(merged, { enabled: ['todo'] })).toEqual(['mcp__todo__add', 'todo_read', 'todo_write'])
    expect(resolveToolsets(merged, { enabled: ['coding', 'todo'], disabled: ['todo'] })).not.toContain('mcp__todo__add')
  })

  it('takes a set that several others include once', () => {
    expect(resolveToolsets(TOOLSETS, { enabled: ['coding', 'debugging', 'file'] })).toEqual(
      resolveToolsets(TOOLSETS, { enabled: ['coding'] }),
    )
  })

  it('refuses a cycle', () => {
    const loop = {
      a: { description: '', tools: [], includes: ['b'] },
      b: { description: '', tools: [], includes: ['a'] },
    }
    expect(() => resolveToolsets(loop, { enabled: ['a'] })).toThrow('include each other')
  })

  it('takes sets of ones own, of tools and of other sets', () => {
    const tools = [{ name: 'mcp__git__log', toolset: 'mcp-git' }]
    const merged = mergeToolsets(tools, { look: ['read_file', 'search_files'], mine: ['look', 'todo', 'git', 'mcp_x'] })
    expect(resolveToolsets(merged, { enabled: ['mine'] })).toEqual([
      ...['mcp__git__log', 'mcp_x', 'read_file', 'search_files', 'todo_read', 'todo_write'],
    ])
    expect(() => resolveToolsets(mergeToolsets([], { a: ['b'], b: ['a'] }), { enabled: ['a'] })).toThrow('include each')
    expect(() => mergeToolsets([], { file: ['terminal'] })).toThrow('There is a toolset "file" already')
    expect(() => mergeToolsets([], { look: ['read_fiel'] })).toThrow(
      'The toolset "look" names "read_fiel", which is neither a tool nor a toolset. Did you mean "read_file"?',
    )
  })

  it('leaves the built-in sets alone when a plugin extends one', () => {
    const merged = mergeToolsets([{ name: 'read_pdf', toolset: 'file' }])
    expect(merged['file']?.tools).toContain('read_pdf')
    expect(TOOLSETS['file']?.tools).not.toContain('read_pdf')
  })

  it('has a set for each platform, and that of the terminal for others', () => {
    const names = ['cli', 'oneshot', 'acp', 'gateway', 'telegram', 'cron', 'somewhere']
    expect(names.map(platformToolset)).toEqual([
      'hermes-cli',
      'hermes-cli',
      'hermes-acp',
      'hermes-api-server',
      'hermes-telegram',
      'hermes-cron',
      'hermes-cli',
    ])
    // Whoever writes in a chat is not shown what others said elsewhere.
    expect(resolveToolsets(TOOLSETS, { enabled: ['hermes-telegram'] })).toEqual(
      resolveToolsets(TOOLSETS, { enabled: ['hermes-cli'], disabled: ['session_search'] }),
    )
    expect(resolveToolsets(TOOLSETS, { enabled: ['hermes-webhook'] })).not.toContain('terminal')
  })

  it('never hides what the terminal has', () => {
    const core = Object.entries(TOOLSETS).filter(([name]) => CORE_TOOLSETS.includes(name))
    const members = core.flatMap(([, { tools }]) => tools)
    for (const name of resolveToolsets(TOOLSETS, { enabled: ['hermes-cli'] })) expect(members).toContain(name)
  })
})
