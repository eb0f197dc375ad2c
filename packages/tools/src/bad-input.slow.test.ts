import { execFileSync } from 'node:child_process'
import { rmSync, symlinkSync } from 'node:fs'
import { mkdir, readdir, readFile, stat, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JsonObject } from '@hermes/contracts'
import type { Tool } from '@hermes/contracts/tool'
import { describe, expect, it } from 'vitest'
import { call, createToolContext, temporaryEnvironment } from './__fixtures__/test-context.js'
import {
  createPatchTool,
  createReadFileTool,
  createSearchFilesTool,
  createTerminalTool,
  createWriteFileTool,
} from './index.js'
import { ripgrepSearcher } from './search/ripgrep.js'
import { walkSearcher } from './search/walk.js'

const tools = {
  read_file: createReadFileTool(),
  write_file: createWriteFileTool(),
  patch: createPatchTool(),
  search_files: createSearchFilesTool(),
  terminal: createTerminalTool(),
}

async function setUp() {
  const { folder, environment } = await temporaryEnvironment()
  const context = createToolContext({ environment })
  const use = (name: keyof typeof tools, args: JsonObject) => call(tools[name] as Tool, args, context)
  return { folder, context, use, at: (name: string) => join(folder, name) }
}

/** Every file tool on one path. */
const attempts = (path: string): readonly (readonly [keyof typeof tools, JsonObject])[] => [
  ['read_file', { path }],
  ['write_file', { path, content: 'new\n' }],
  ['patch', { path, old_string: 'a', new_string: 'b' }],
  ['patch', { mode: 'patch', patch: `*** Add File: ${path}\n+new\n` }],
  ['search_files', { pattern: 'a', path }],
]

describe('file tools', () => {
  it('answer a path with NUL in one line and change nothing', async () => {
    const { use, folder } = await setUp()
    for (const [name, args] of attempts('a\0b')) {
      const { isError, text } = await use(name, args)
      expect({ name, isError, text }).toMatchObject({ isError: true, text: expect.stringContaining('null character') })
      expect(text.trim().split('\n').length, text).toBeLessThanOrEqual(2)
    }
    expect(await readdir(folder)).toEqual([])
  })

  it('make no folder of the name of a home', async () => {
    const { use, folder, at } = await setUp()
    for (const [name, args] of attempts('~bob/x.txt'))
      expect(await use(name, args)).toMatchObject({
        isError: true,
        text: expect.stringContaining('as an absolute path'),
      })
    expect(await readdir(folder)).toEqual([])
    await mkdir(at('~bob'))
    expect((await use('write_file', { path: '~bob/x.txt', content: 'here\n' })).isError).toBe(false)
    expect(await readFile(at('~bob/x.txt'), 'utf8')).toBe('here\n')
  })

  it('refuse pipes, sockets and devices without waiting for them', async () => {
    const { use, at, folder } = await setUp()
    execFileSync('mkfifo', [at('pipe')])
    await symlink('/dev/zero', at('zero'))
    for (const path of ['pipe', 'zero', '/dev/zero'])
      for (const [name, args] of attempts(path)) {
        const { isError, text } = await use(name, args)
        expect({ name, path, isError, text }).toMatchObject({
          isError: true,
          text: expect.stringMatching(/regular file|device, pipe or socket|exists already/),
        })
      }
    expect((await readdir(folder)).sort()).toEqual(['pipe', 'zero'])
  })

  it.each([
    ['ripgrep', ripgrepSearcher],
    ['the walk', walkSearcher],
  ])('search past pipes and names that are no UTF-8 with %s', async (_, searcher) => {
    const { context, at, folder } = await setUp()
    execFileSync('mkfifo', [at('pipe')])
    await writeFile(at('a.txt'), 'needle\n')
    await writeFile(Buffer.concat([Buffer.from(`${folder}/b`), Buffer.from([0xff]), Buffer.from('.txt')]), 'needle\n')
    await writeFile(at('wide.txt'), Buffer.from('needle without a mark\n', 'utf16le'))
    const search = createSearchFilesTool(undefined, [searcher, walkSearcher])
    const found = await call(search, { pattern: 'needle' }, context)
    expect(found.isError).toBe(false)
    expect(found.text).toContain('a.txt\n  1: needle')
    expect(found.text).not.toContain('wide.txt')
    expect((await call(search, { pattern: '*.txt', target: 'files' }, context)).text).toContain('a.txt')
  })

  it('name what a name that is no UTF-8 looks like, and damage nothing', async () => {
    const { use, folder } = await setUp()
    const real = Buffer.concat([Buffer.from(`${folder}/b`), Buffer.from([0xff]), Buffer.from('.txt')])
    await writeFile(real, 'kept\n')
    const [shown] = (await readdir(folder)) as [string]
    const read = await use('read_file', { path: shown })
    expect(read).toMatchObject({ isError: true, text: expect.stringContaining('bytes of the name that are no UTF-8') })
    await use('patch', { path: shown, old_string: 'kept', new_string: 'lost' })
    expect(await use('write_file', { path: shown, content: 'lost' })).toMatchObject({ isError: true })
    expect(await readFile(real, 'utf8')).toBe('kept\n')
    expect((await readdir(folder)).length).toBe(1)
  })

  it('answer a path without end in a line of some length', async () => {
    const { use, folder } = await setUp()
    for (const path of ['x'.repeat(10_000), 'x/'.repeat(2100).concat('y')])
      for (const [name, args] of attempts(path)) {
        const { isError, text } = await use(name, args)
        expect({ name, isError, text }).toMatchObject({ isError: true, text: expect.stringContaining('too long') })
        expect(text.length).toBeLessThan(700)
      }
    expect(await readdir(folder)).toEqual([])
  })

  it('make no file of the name of a folder', async () => {
    const { use, folder } = await setUp()
    for (const [name, args] of attempts('sub/')) expect(await use(name, args)).toMatchObject({ isError: true })
    expect((await use('write_file', { path: 'sub/', content: '' })).text).toContain('names a folder')
    expect(await readdir(folder)).toEqual([])
  })

  it('tell where a link leads that leads nowhere', async () => {
    const { use, at } = await setUp()
    await symlink('gone/far.txt', at('link.txt'))
    for (const [name, args] of attempts('link.txt').filter(([, { patch, content }]) => !patch && !content)) {
      const { isError, text } = await use(name, args)
      expect({ isError, text }).toEqual({
        isError: true,
        text: `${at('link.txt')} is a link to ${at('gone/far.txt')}, which does not exist.`,
      })
    }
  })

  it('name the file that a link made them write', async () => {
    const { use, at } = await setUp()
    await mkdir(at('sub'))
    await symlink('sub', at('folder'))
    await writeFile(at('sub/real.txt'), 'one\n')
    await symlink('sub/real.txt', at('link.txt'))
    const note = `${at('link.txt')} is a link: ${at('sub/real.txt')} was written.`
    expect((await use('patch', { path: 'link.txt', old_string: 'one', new_string: 'two' })).text).toContain(note)
    expect((await use('patch', { patch: '*** Update File: link.txt\n-two\n+2\n' })).text).toContain(note)
    expect((await use('write_file', { path: 'link.txt', content: 'three\n' })).data['warning']).toBe(note)
    expect((await use('write_file', { path: 'folder/real.txt', content: '' })).data).not.toHaveProperty('warning')
  })

  it('say that a relative path leads out of the workspace, and only then', async () => {
    const { context, use, folder, at } = await setUp()
    const elsewhere = await temporaryEnvironment()
    await symlink(elsewhere.folder, at('way-out'))
    await symlink(folder, join(elsewhere.folder, 'way-in'))
    const cd = async (to: string) => {
      const spawn = { type: 'spawn', command: `cd ${to}`, cwd: context.environment.cwd(), backend: 'local' } as const
      await context.environment.exec(await context.permit(spawn), spawn.command)
    }
    let limit = 0
    const say = async () => {
      limit++
      const results = [
        await use('write_file', { path: 'a.txt', content: 'one\n' }),
        await use('read_file', { path: 'a.txt', limit }),
        await use('patch', { path: 'a.txt', old_string: 'one', new_string: 'two' }),
        await use('patch', { patch: '*** Update File: a.txt\n-two\n+three\n' }),
      ]
      expect(results.map(({ isError }) => isError)).toEqual([false, false, false, false])
      return results.map(({ text }) => text.includes(`is outside the workspace ${folder}`))
    }
    expect(await say()).toEqual([false, false, false, false])
    await cd(elsewhere.folder)
    expect(await say()).toEqual([true, true, true, true])
    const inTheWay = await use('write_file', { path: 'b.txt', content: '' })
    expect(inTheWay.data['warning']).toBe(
      `${elsewhere.folder}/b.txt is outside the workspace ${folder}: relative paths start at ${elsewhere.folder} now.`,
    )
    expect((await use('write_file', { path: join(elsewhere.folder, 'b.txt'), content: '' })).text).not.toContain(
      'outside',
    )
    await cd('way-in')
    expect(await say()).toEqual([false, false, false, false])
  })

  it('show the start of a file of four gigabytes, and change it only whole', async () => {
    const { use, at } = await setUp()
    await writeFile(at('huge.log'), 'first\nsecond\n'.repeat(1000))
    await truncate(at('huge.log'), 4 * 2 ** 30)
    const page = await use('read_file', { path: 'huge.log', limit: 2 })
    expect(page.text).toMatch(/^1\|first\n2\|second\n\[/)
    const patched = await use('patch', { path: 'huge.log', old_string: 'first', new_string: 'x' })
    expect(patched).toMatchObject({ isError: true, text: expect.stringContaining('too many for patch') })
    expect((await stat(at('huge.log'))).size).toBe(4 * 2 ** 30)
    expect((await use('write_file', { path: 'huge.log', content: 'small\n' })).isError).toBe(false)
    expect(await readFile(at('huge.log'), 'utf8')).toBe('small\n')
  })

  it('call a file of holes what it is', async () => {
    const { use, at } = await setUp()
    await writeFile(at('holes.bin'), '')
    await truncate(at('holes.bin'), 4 * 2 ** 30)
    expect((await use('read_file', { path: 'holes.bin' })).text).toContain('not text but binary data')
  })

  it.each([
    ['write_file', { path: 'sub/a.txt', content: 'ours\n' }],
    ['patch', { path: 'sub/a.txt', old_string: 'mine', new_string: 'ours' }],
  ] as const)('do not write through a link that was laid after leave was given: %s', async (name, args) => {
    const { environment, folder } = await temporaryEnvironment()
    const elsewhere = await temporaryEnvironment()
    await mkdir(join(folder, 'sub'))
    for (const place of [join(folder, 'sub'), elsewhere.folder]) await writeFile(join(place, 'a.txt'), 'mine\n')
    const racing = new Proxy(environment, {
      get(target, key) {
        const value = Reflect.get(target, key) as unknown
        if (typeof value !== 'function') return value
        return (...input: unknown[]) => {
          if (key === 'write') {
            rmSync(join(folder, 'sub'), { recursive: true })
            symlinkSync(elsewhere.folder, join(folder, 'sub'))
          }
          return Reflect.apply(value, target, input) as unknown
        }
      },
    })
    const result = await call(tools[name] as Tool, args, createToolContext({ environment: racing }))
    expect(result).toMatchObject({ isError: true, text: expect.stringContaining('a link was laid on the way') })
    expect(await readFile(join(elsewhere.folder, 'a.txt'), 'utf8')).toBe('mine\n')
  })
})

describe('terminal', () => {
  it.each([
    ['an open quote', 'echo "never closed', /unexpected EOF|Unterminated|EOF/],
    ['an open bracket', 'if true; then echo x', /syntax error|unexpected/i],
    ['an open substitution', 'echo $(echo x', /unexpected|syntax error|EOF/i],
  ])('reports %s and goes on', async (_, command, expected) => {
    const { use } = await setUp()
    const result = await use('terminal', { command })
    expect(result.text).toMatch(expected)
    expect(result.data['exit_code']).not.toBe(0)
    expect((await use('terminal', { command: 'echo fine' })).text).toBe('fine')
  })

  it('takes a here-document, also one that nobody closed', async () => {
    const { use } = await setUp()
    expect((await use('terminal', { command: 'cat <<E\na $((1 + 1))\nE\necho after' })).text).toBe('a 2\nafter')
    expect((await use('terminal', { command: 'cat <<E\nopen' })).text).toContain('open')
    expect((await use('terminal', { command: 'echo fine' })).text).toBe('fine')
  })

  it('says that an argument of a megabyte is too long, and what to do', async () => {
    const { use } = await setUp()
    const result = await use('terminal', { command: `echo ${'x'.repeat(1_000_000)}` })
    expect(result).toMatchObject({ isError: true, text: expect.stringContaining('write the text into a file') })
  })

  it('shows raw bytes as text and none of what would steer a terminal', async () => {
    const { use } = await setUp()
    const { text } = await use('terminal', { command: `printf '\\377\\376\\000\\033]0;title\\007a\\033[2Jb\\n'` })
    expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/)
    expect(text).toContain('ab')
  })
})
