import { describe, expect, it } from 'vitest'
import { CORE_TOOLSETS, platformToolset, resolveToolsets, TOOLSETS } from './index.js'
import { mergeToolsets } from './toolsets.js'

describe('resolveToolsets', () => {
  it('follows includes, applies disabled last and sorts', () => {
    expect(resolveToolsets(TOOLSETS, { enabled: ['hermes-cli'], disabled: ['clarify', 'todo'] })).toEqual([
      'checkpoint',
      'delegate_task',
      'execute_code',
      'learning',
      'memory',
      'mixture_of_agents',
      'patch',
      'process',
      'read_file',
      'recall',
      'restore',
      'search_files',
      'send_message',
      'session_search',
      'sessions_send',
      'terminal',
      'vision_analyze',
      'web_extract',
      'web_search',
      'write_file',
    ])
  })

  it('names the valid toolsets when one is unknown', () => {
    expect(() => resolveToolsets(TOOLSETS, { enabled: ['fiel'] })).toThrow(
      /Unknown toolset "fiel"\. Valid toolsets: all, checkpoints, clarify, /,
    )
    expect(() => resolveToolsets(TOOLSETS, { enabled: ['constructor'] })).toThrow('Unknown toolset')
  })

  it('accepts names of older versions and bare MCP server names', () => {
    expect(resolveToolsets(TOOLSETS, { enabled: ['terminal_tools'] })).toEqual(['process', 'terminal'])
    const merged = mergeToolsets([{ name: 'mcp-files', tools: ['mcp__files__list'] }])
    expect(resolveToolsets(merged, { enabled: ['files'] })).toEqual(['mcp__files__list'])
  })

  it('means both where an MCP server bears the name of a set', () => {
    const merged = mergeToolsets([{ name: 'mcp-todo', tools: ['mcp__todo__add'] }])
    expect(resolveToolsets(merged, { enabled: ['todo'] })).toEqual(['mcp__todo__add', 'todo_write'])
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
    const tools = [{ name: 'mcp-git', tools: ['mcp__git__log'] }]
    const merged = mergeToolsets(tools, { look: ['read_file', 'search_files'], mine: ['look', 'todo', 'git', 'mcp_x'] })
    expect(resolveToolsets(merged, { enabled: ['mine'] })).toEqual([
      ...['mcp__git__log', 'mcp_x', 'read_file', 'search_files', 'todo_write'],
    ])
    expect(() => resolveToolsets(mergeToolsets([], { a: ['b'], b: ['a'] }), { enabled: ['a'] })).toThrow('include each')
    expect(() => mergeToolsets([], { file: ['terminal'] })).toThrow('There is a toolset "file" already')
    expect(() => mergeToolsets([], { look: ['read_fiel'] })).toThrow(
      'The toolset "look" names "read_fiel", which is neither a tool nor a toolset. Did you mean "read_file"?',
    )
  })

  it('leaves the built-in sets alone when a plugin extends one', () => {
    const merged = mergeToolsets([{ name: 'file', tools: ['read_pdf'] }])
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
      resolveToolsets(TOOLSETS, { enabled: ['hermes-cli'], disabled: ['session_search', 'learning'] }),
    )
    expect(resolveToolsets(TOOLSETS, { enabled: ['hermes-webhook'] })).not.toContain('terminal')
  })

  it('keeps room for what the terminal has, but for what is deferred', () => {
    const sets = Object.entries(TOOLSETS).filter(([name, { isDeferred }]) => CORE_TOOLSETS.includes(name) || isDeferred)
    const members = sets.flatMap(([, { tools }]) => tools)
    for (const name of resolveToolsets(TOOLSETS, { enabled: ['hermes-cli'] })) expect(members).toContain(name)
    expect(CORE_TOOLSETS).toContain('skills')
    expect(CORE_TOOLSETS).not.toContain('cronjob')
  })

  it('has toolsets that are not built in wherever tools of Hermes are, but not for payloads', () => {
    const merged = mergeToolsets([{ name: 'mcp-git', tools: ['git_log'] }])
    for (const platform of ['cli', 'acp', 'api', 'telegram', 'cron'])
      expect(resolveToolsets(merged, { enabled: [platformToolset(platform)] })).toContain('git_log')
    for (const name of ['hermes-webhook', 'coding'])
      expect(resolveToolsets(merged, { enabled: [name] })).not.toContain('git_log')
    expect(resolveToolsets(merged, { enabled: ['hermes-cli'], disabled: ['git'] })).not.toContain('git_log')
  })

  it('knows a tool in a set of ones own by its former name', () => {
    const merged = mergeToolsets([], { mine: ['todo_read'] }, { aliases: new Map([['todo_read', 'todo_write']]) })
    expect(resolveToolsets(merged, { enabled: ['mine'] })).toEqual(['todo_write'])
  })
})
