import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JsonObject } from '@hermes/contracts'
import type { Environment, ExecOptions } from '@hermes/contracts/environment'
import type { Permit } from '@hermes/contracts/policy'
import { describe, expect, it } from 'vitest'
import { hasRipgrep } from '../__fixtures__/has-ripgrep.js'
import { call, createToolContext, temporaryEnvironment } from '../__fixtures__/test-context.js'
import { createSearchFilesTool, createSharedFiles, defaultToolSettings } from '../index.js'
import { ripgrepSearcher } from './ripgrep.js'
import type { Searcher } from './search-types.js'
import { walkSearcher } from './walk.js'

async function setUp(
  searchers: readonly Searcher[],
  more: (environment: Environment) => Partial<Environment> = () => ({}),
) {
  const { folder, environment } = await temporaryEnvironment()
  const put = async (path: string, content: string | Uint8Array) => {
    await mkdir(join(folder, path, '..'), { recursive: true })
    await writeFile(join(folder, path), content)
  }
  const own = more(environment)
  const changed = new Proxy(environment, {
    get(target, key) {
      const value: unknown = Reflect.get(key in own ? own : target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const context = createToolContext({ environment: changed })
  const tool = createSearchFilesTool(defaultToolSettings, searchers)
  const run = async (command: string) =>
    environment.exec(
      await context.permit({ type: 'spawn', command, cwd: environment.cwd(), backend: 'local' }),
      command,
    )
  return { folder, put, run, context, search: (args: JsonObject) => call(tool, args, context) }
}

const WAYS: readonly (readonly [string, readonly Searcher[]])[] = [
  ...(hasRipgrep() ? [['ripgrep', [ripgrepSearcher]] as const] : []),
  ['the walk', [walkSearcher]],
]

describe.each(WAYS)('search_files with %s', (_, searchers) => {
  it('takes a class that leaves line breaks out for what it is', async () => {
    const { put, search } = await setUp(searchers)
    await put('a.txt', 'one and two\none\ntwo\n')
    expect((await search({ pattern: 'one[^\\n]*two' })).data['total_count']).toBe(1)
    expect((await search({ pattern: 'one[^\\r\\n]+two' })).data['total_count']).toBe(1)
    for (const pattern of ['one[\\n]two', 'one\\x0Atwo', 'one\\x{0a}two', '[^o]\\n', 'one\ntwo'])
      expect(await search({ pattern })).toMatchObject({ isError: true, text: expect.stringContaining('line by line') })
  })

  it('names the file that it searched, and says why there is nothing in one that is no text', async () => {
    const { put, search, folder } = await setUp(searchers)
    await put('a.txt', 'one\n')
    await put('b.bin', 'needle\0')
    await put('c.pdf', '%PDF-1.7 needle')
    await put('d.txt', Buffer.from('needle without a mark\n', 'utf16le'))
    expect((await search({ pattern: 'needle', path: 'a.txt' })).text).toBe(`No matches for needle in ${folder}/a.txt.`)
    const nothing = async (path: string) => {
      const { isError, text } = await search({ pattern: 'needle', path })
      return isError ? text.replace(`${folder}/`, '') : text
    }
    expect(await nothing('b.bin')).toBe('b.bin is binary data, which is not searched: use a command in terminal.')
    expect(await nothing('c.pdf')).toMatch(
      /^c\.pdf is PDF document, which is not searched: read_file shows its text\.|1: /,
    )
    expect(await nothing('d.txt')).toBe(
      'd.txt is UTF-16 without a mark, which is not searched: read_file shows its text.',
    )
  })

  it('finds files whose names hold line breaks, under those names', async () => {
    const { put, search, folder } = await setUp(searchers)
    for (const name of ['-a\nb.txt', 'c\n./d.txt', './e\r\u2028f.txt']) await put(name, 'x\nneedle \r\u2028 \ny\n')
    const paths = ['-a\nb.txt', 'c\n./d.txt', 'e\r\u2028f.txt'].map((name) => `${folder}/${name}`)
    const content = await search({ pattern: 'needle' })
    expect(content.data['matches']).toEqual(paths.map((path) => ({ path, line: 2, content: 'needle \r\u2028 ' })))
    expect(content.text).toContain('-a\\nb.txt\n  2: needle')
    expect(content.text).toContain('e\\u000d\\u2028f.txt\n')
    expect((await search({ pattern: 'needle', context: 1 })).data['matches']).toHaveLength(9)
    for (const output_mode of ['files_only', 'count'])
      expect((await search({ pattern: 'needle', output_mode })).data['total_count']).toBe(3)
    const files = (await search({ pattern: '*.txt', target: 'files' })).data['files'] as string[]
    expect(files.toSorted()).toEqual(paths)
    expect((await search({ pattern: 'needle', path: '-a\nb.txt' })).data['total_count']).toBe(1)
  })

  it('leaves out on a Mac what the person at the screen would be asked about', async () => {
    const onMac = (environment: Environment) => ({
      probe: async () => ({ ...(await environment.probe()), os: 'Darwin 24.1 (macOS 15.1)' }),
    })
    const { put, search, folder } = await setUp(searchers, onMac)
    for (const path of ['Documents/a.txt', 'Library/x/b.txt', 'code/c.txt', 'code/Documents/d.txt'])
      await put(path, 'needle\n')
    const found = [join(folder, 'code/Documents/d.txt'), join(folder, 'code/c.txt')]
    const content = await search({ pattern: 'needle', output_mode: 'files_only' })
    expect(content.data['files']).toEqual(found)
    expect(content.text).toContain('Left out, as macOS asks the user about each: Desktop, Documents, Downloads,')
    expect([...((await search({ pattern: '*.txt', target: 'files' })).data['files'] as string[])].sort()).toEqual(found)
    const inside = await search({ pattern: 'needle', path: 'Documents' })
    expect(inside.data['total_count']).toBe(1)
    expect(inside.text).not.toContain('Left out')
  })

  it('leaves out nothing elsewhere', async () => {
    const { put, search } = await setUp(searchers)
    await put('Documents/a.txt', 'needle\n')
    const { data, text } = await search({ pattern: 'needle' })
    expect(data['total_count']).toBe(1)
    expect(text).not.toContain('Left out')
  })
})

describe('search_files', () => {
  it('finds ripgrep that was installed meanwhile', async () => {
    const { put, run, search, folder, context } = await setUp([ripgrepSearcher, walkSearcher])
    await put('a.txt', 'needle\n')
    await run(`export PATH=${folder}/bin:/bin-that-is-not`)
    const looks = () => context.permitted.filter((action) => action.type === 'spawn').length - 1
    for (let count = 0; count < 5; count++) await search({ pattern: 'needle' })
    expect(looks()).toBe(1)
    await put('bin/rg', `#!/bin/sh\nprintf './of-ripgrep.txt\\0001\\037needle\\n'\n`)
    await chmod(join(folder, 'bin/rg'), 0o755)
    const found = []
    for (let count = 0; count < 10; count++) found.push((await search({ pattern: 'needle' })).data['matches'])
    expect(found[0]).toContainEqual({ path: join(folder, 'a.txt'), line: 1, content: 'needle' })
    expect(found.at(-1)).toEqual([{ path: join(folder, 'of-ripgrep.txt'), line: 1, content: 'needle' }])
  })

  it('gives what it has when the time is over, and says so', async () => {
    const { put, run, search, folder } = await setUp([ripgrepSearcher], (environment) => ({
      exec: (permit: Permit, command: string, options?: ExecOptions) =>
        environment.exec(permit, command, { ...options, ...(options?.timeoutMs ? { timeoutMs: 700 } : {}) }),
    }))
    await put('bin/rg', `#!/bin/sh\nprintf './a.txt\\0001\\037needle\\n'; exec sleep 60\n`)
    await chmod(join(folder, 'bin/rg'), 0o755)
    await run(`export PATH=${folder}/bin:$PATH`)
    const { text, data } = await search({ pattern: 'needle' })
    expect(data).toMatchObject({ total_count: 1, total_count_is_lower_bound: true, limit_reason: 'timeout' })
    expect(text).toContain('of at least 1 matches.')
    expect(text).toContain('The search took too long and was stopped: give a smaller path, or a file_glob.')
  })

  it('lists the files of a folder for one agent at a time, and lets who waits be stopped', async () => {
    const { context } = await setUp([])
    const order: string[] = []
    const held = Promise.withResolvers<void>()
    const slow: Searcher = {
      content: async () => null,
      async files({ root }) {
        order.push(root)
        await held.promise
        order.push('done')
        return { results: [], complete: true }
      },
    }
    const tool = createSearchFilesTool({ ...defaultToolSettings, sharedFiles: createSharedFiles() }, [slow])
    const stop = new AbortController()
    const list = (path: string, signal = new AbortController().signal) =>
      call(
        tool,
        { pattern: '*', target: 'files', path },
        createToolContext({ environment: context.environment, signal }),
      )
    const first = list('.')
    await expect.poll(() => order).toEqual([context.environment.cwd()])
    const [stopped, elsewhere] = [list('.', stop.signal), list('/')]
    await expect.poll(() => order.at(-1)).toBe('/')
    stop.abort()
    await expect(stopped).rejects.toMatchObject({ name: 'AbortError' })
    const last = list('.')
    held.resolve()
    await Promise.all([first, elsewhere, last])
    expect(order).toHaveLength(6)
    expect(order.slice(2)).toEqual(['done', 'done', context.environment.cwd(), 'done'])
  })
})
