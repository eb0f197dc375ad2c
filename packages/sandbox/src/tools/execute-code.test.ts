import { statSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { ToolCaller, ToolContext } from '@hermes/contracts/tool'
import { createToolRegistry } from '@hermes/registry'
import { needs } from '@hermes/testkit/daemons'
import { expect, it, onTestFinished } from 'vitest'
import { codeScene, pythonMissing } from '../execute-code/__fixtures__/code-scene.js'
import { testPermit } from '../testing/permit.js'
import { createExecuteCodeTool, type SandboxToolServices } from './execute-code.js'

const content = [{ type: 'text', text: 'from a page', origin: 'external' }] as const
const tools: ToolCaller = {
  definitions: [{ name: 'read_file', description: 'Reads.', parameters: { type: 'object', properties: { path: {} } } }],
  call: async () => ({ content, isError: false }),
}

/** Files as they are, commands not at all. */
const localAt = (cwd: string) =>
  ({
    backend: 'local',
    cwd: () => cwd,
    resolve: (path: string) => resolve(cwd, path.replace(/^~/, `${cwd}-home`)),
    realpath: async (path: string) => path,
    stat: async (path: string) => {
      const found = statSync(path, { throwIfNoEntry: false })
      return found ? { type: found.isFile() ? 'file' : 'directory', version: `${found.size} ${found.mtimeMs}` } : null
    },
  }) as Partial<ToolContext['environment']> as ToolContext['environment']

async function setUp() {
  const { host, directory } = await codeScene()
  const registry = createToolRegistry({ tools: [createExecuteCodeTool({ code: { open: async () => host } })] })
  const actions: unknown[] = []
  const kept = new Map<string, unknown>()
  const scratch = <T>(key: string, create: () => T): T => {
    if (!kept.has(key)) kept.set(key, create())
    return kept.get(key) as T
  }
  const context = {
    sessionId: 's',
    signal: new AbortController().signal,
    environment: localAt(directory),
    state: { scratch } as Partial<ToolContext['state']> as ToolContext['state'],
    permit: async (action) => {
      actions.push(action)
      return testPermit(action)
    },
    progress: () => undefined,
    tools,
  } as Partial<ToolContext> as ToolContext
  const call = (args: object, more: Partial<ToolContext> = {}) =>
    registry.dispatch('execute_code', args as never, { ...context, ...more })
  const text = async (args: object, more?: Partial<ToolContext>) => {
    const { content, isError } = await call(args, more)
    return `${isError ? 'error: ' : ''}${content.map((part) => ('text' in part ? part.text : '')).join('')}`
  }
  return { registry, call, text, actions, directory }
}

needs(pythonMissing)('the tool execute_code', () => {
  it('asks for a permit to run the code, and gives output, status, calls and time', async () => {
    const { call, actions, directory } = await setUp()
    const outcome = await call({ code: 'print(6 * 7)' })
    expect(outcome.content).toMatchObject([
      { text: expect.stringMatching(/^42\n\[success · 0 tool calls · \d+\.\d s\]$/) },
    ])
    expect(outcome.data).toEqual({
      status: 'success',
      output: '42\n',
      errors: '',
      tool_calls_made: 0,
      duration_seconds: expect.any(Number),
    })
    const argv = ['python3', '-c', 'print(6 * 7)']
    expect(actions).toEqual([{ type: 'spawn', command: 'python3', argv, cwd: directory, backend: 'local' }])
  })

  it('is summed up by the first line that does something', async () => {
    const { registry } = await setUp()
    const summary = (code: string) => registry.get('execute_code')!.summarize!({ code, language: 'python' })
    expect(summary('\n# all\nimport re\nfrom hermes_tools import read_file\n  go()')).toBe('python: go()')
    expect(summary('import this')).toBe('python: import this')
    expect(summary('')).toBe('python: ')
  })

  it('marks what may hold text from outside', async () => {
    const { call } = await setUp()
    const { content: got } = await call({ code: 'from hermes_tools import read_file\nprint(read_file("a"))' })
    expect(got).toMatchObject([{ text: expect.stringContaining('from a page'), origin: 'external' }])
  })

  it('comes from the places that a program names beyond its folder, but for those that it made', async () => {
    const { call, directory } = await setUp()
    const sourcesOf = async (code: string) =>
      (await call({ code })).content.flatMap((part) => ('sources' in part ? (part.sources ?? []) : []))
    const other = await mkdtemp(join(tmpdir(), 'hermes-other-'))
    onTestFinished(() => rm(other, { recursive: true, force: true }))
    await writeFile(join(other, 'page.md'), 'from elsewhere')
    const program = { type: 'command', command: 'a program of the agent', cwd: directory, reach: 'network' }
    expect(await sourcesOf('print("/api/x".split("/"), "a/b")')).toEqual([program])
    expect(await sourcesOf(`open('${other}/own', 'w').write('mine')`)).toEqual([program])
    expect(await sourcesOf(`print(open('${other}/own').read())`)).toEqual([program, program])
    expect(await sourcesOf(`name = 'page'; print(open(f"${other}/{name}.md").read())`)).toEqual([
      program,
      { type: 'file', path: other },
    ])
    await mkdir(`${directory}-home`)
    onTestFinished(() => rm(`${directory}-home`, { recursive: true, force: true }))
    expect(await sourcesOf('import os; print(os.path.expanduser("a"))')).toContainEqual({
      type: 'file',
      path: `${directory}-home`,
    })
  })

  it('fails with what the program wrote, or with what was wrong about the call', async () => {
    const { text } = await setUp()
    expect(await text({ code: 'print(1)\n1/0' })).toMatch(/^error: 1\nTraceback[\s\S]*ZeroDivisionError.*\n\[error · 0/)
    expect(await text({ code: ' ' })).toBe('error: code is empty.')
    expect(await text({ code: '1', language: 'ruby' })).toMatch(/^error: Invalid arguments/)
    expect(await text({ code: '1' }, { tools: undefined })).toMatch(/^error: A program cannot run programs/)
  })

  it('starts beside its own folders where the agent works on another machine', async () => {
    const { text, directory } = await setUp()
    const environment = { backend: 'ssh', cwd: () => '/far/away' } as ToolContext['environment']
    expect(await text({ code: 'import os; print(os.getcwd())' }, { environment })).toContain(`${directory}/t\n`)
  })

  it('keeps an interpreter and forgets it', async () => {
    const { text } = await setUp()
    await text({ code: 'x = 1', keep: true })
    expect(await text({ code: 'print(x)', keep: true })).toMatch(/^1\n/)
    expect(await text({ code: 'print(x)', keep: true, reset: true })).toMatch(/NameError/)
  })

  it('tells of the tools beside it and of its limits, and is missing where nothing may run', async () => {
    const { registry } = await setUp()
    const reader = {
      name: 'read_file',
      toolset: 'file',
      description: '',
      parameters: { type: 'object' },
      execute: () => '',
    }
    registry.register(reader)
    registry.register({ ...reader, name: 'todo_read' })
    const shown = (await registry.definitions()).find(({ name }) => name === 'execute_code')!.description
    expect(shown).toMatch(/There: read_file\.\n[\s\S]*120 s, 50 calls, 50 KB/)
    const of = (code: SandboxToolServices['code']) => createToolRegistry({ tools: [createExecuteCodeTool({ code })] })
    const open = () => Promise.reject(new Error('not asked for'))
    expect((await of({ open, path: '/nowhere' }).definitions())[0]!.description).toContain('No Python here.')
    expect((await of({ open, maxCalls: 7, timeoutMs: 9_000 }).definitions())[0]!.description).toContain('9 s, 7 calls')
    expect(await of(null).definitions()).toEqual([])
  })
})
