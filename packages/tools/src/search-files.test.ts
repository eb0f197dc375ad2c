import { mkdir, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JsonObject } from '@hermes/contracts'
import { describe, expect, it } from 'vitest'
import { hasRipgrep } from './__fixtures__/has-ripgrep.js'
import { call, createToolContext, type TestContextOptions, temporaryEnvironment } from './__fixtures__/test-context.js'
import { createSearchFilesTool } from './index.js'
import { ripgrepSearcher } from './search/ripgrep.js'
import type { Searcher } from './search/search-types.js'
import { walkSearcher } from './search/walk.js'

const TREE: Readonly<Record<string, string | Uint8Array>> = {
  '.gitignore': 'dist/\n*.log\n!keep.log\n',
  '.hidden/secret.ts': 'needle in hidden\n',
  '.env.local': 'NEEDLE=1\n',
  'README.md': '# Title\r\nthe needle is here\r\nend\r\n',
  'binary.bin': Buffer.from('needle\0more'),
  'debug.log': 'needle in a log\n',
  'keep.log': 'needle kept\n',
  'dist/out.js': 'needle built\n',
  'long.txt': `${'x'.repeat(600)} needle\nneedle${'y'.repeat(6000)}\n`,
  'src/a.ts': 'one\ntwo needle\nthree\nneedle four needle\nfive\nsix\nseven needle\n',
  'src/b.test.ts': 'no hay\nNeedle upper\n',
  'src/deep/c.py': 'needle = 1\nx = "(group) $1"\n',
  'src/deep/.gitignore': 'ignored.py\n/dist\n',
  'src/deep/ignored.py': 'needle ignored\n',
  'src/utf16.txt': Buffer.from('\uFEFFneedle wide\n', 'utf16le'),
  "src/it's.txt": 'needle quoted\n',
}

async function setup(searchers: readonly Searcher[], options: Partial<TestContextOptions> = {}) {
  const { folder, environment } = await temporaryEnvironment()
  let age = 0
  for (const [name, content] of Object.entries(TREE)) {
    await mkdir(join(folder, name, '..'), { recursive: true })
    await writeFile(join(folder, name), content)
    await utimes(join(folder, name), 1_700_000_000, 1_700_000_000 + age++)
  }
  await symlink('src', join(folder, 'linked'))
  const context = createToolContext({ environment, ...options })
  const tool = createSearchFilesTool(undefined, searchers)
  return { folder, context, search: (args: JsonObject) => call(tool, args, context) }
}

const backends = [
  { name: 'ripgrep', searchers: [ripgrepSearcher], missing: hasRipgrep() ? null : 'rg is not installed' },
  { name: 'walk', searchers: [walkSearcher], missing: null },
]

for (const { name, searchers, missing } of backends) {
  describe.skipIf(missing !== null)(`search_files on ${name}${missing ? ` (skipped: ${missing})` : ''}`, () => {
    it('groups matches by file, skipping hidden, binary, linked and ignored files', async () => {
      const { search, folder } = await setup(searchers)
      const { text, data } = await search({ pattern: 'needle' })
      expect(text.split('\n').map((line) => line.slice(0, 40))).toEqual([
        'README.md',
        '  2: the needle is here',
        'keep.log',
        '  1: needle kept',
        'long.txt',
        `  1: ${'x'.repeat(35)}`,
        `  2: needle${'y'.repeat(29)}`,
        'src/a.ts',
        '  2: two needle',
        '  4: needle four needle',
        '  7: seven needle',
        'src/deep/c.py',
        '  1: needle = 1',
        "src/it's.txt",
        '  1: needle quoted',
        'src/utf16.txt',
        '  1: needle wide',
        `[1-10 of 10 matches. Paths are relative to ${folder}.]`.slice(0, 40),
      ])
      expect(data).toMatchObject({ root: folder, total_count: 10 })
      expect((data['matches'] as readonly JsonObject[])[0]).toEqual({
        path: join(folder, 'README.md'),
        line: 2,
        content: 'the needle is here',
      })
    })

    it('cuts long lines at 500 characters', async () => {
      const { search } = await setup(searchers)
      const { data } = await search({ pattern: 'needle', path: 'long.txt' })
      const lines = (data['matches'] as readonly { content: string }[]).map(({ content }) => content)
      expect(lines).toEqual([`${'x'.repeat(500)}…`, `needle${'y'.repeat(494)}…`])
    })

    it('pages by match with a hint', async () => {
      const { search } = await setup(searchers)
      const first = await search({ pattern: 'needle', path: 'src', limit: 2, context: 1 })
      expect(first.text.split('\n').slice(0, 6)).toEqual([
        'a.ts',
        '  1- one',
        '  2: two needle',
        '  3- three',
        '  4: needle four needle',
        '  5- five',
      ])
      expect(first.text).toContain('[1-2 of 6 matches. Continue with offset=2.')
      expect(first.data['next_offset']).toBe(2)
      const second = await search({ pattern: 'needle', path: 'src', limit: 2, offset: 2 })
      expect(second.text).toMatch(/^a\.ts\n {2}7: seven needle\ndeep\/c\.py\n {2}1: needle = 1\n/)
      expect((await search({ pattern: 'needle', path: 'src', offset: 60 })).text).toBe('[No more: 6 matches in all]')
    })

    it('separates blocks of context', async () => {
      const { search } = await setup(searchers)
      const { text } = await search({ pattern: 'one|five', path: 'src/a.ts', context: 1 })
      expect(text).toMatch(
        /^a\.ts\n {2}1: one\n {2}2- two needle\n {2}--\n {2}4- needle four needle\n {2}5: five\n {2}6- six\n/,
      )
    })

    it('lists files, and counts of lines', async () => {
      const { search, folder } = await setup(searchers)
      const files = await search({ pattern: 'needle', path: 'src', output_mode: 'files_only' })
      expect(files.data['files']).toEqual(
        ['a.ts', 'deep/c.py', "it's.txt", 'utf16.txt'].map((file) => join(folder, 'src', file)),
      )
      const counts = await search({ pattern: 'needle', path: 'src', output_mode: 'count', limit: 2 })
      expect(counts.text).toMatch(/^a\.ts: 3\ndeep\/c\.py: 1\n\[1-2 of 4 files\. Continue with offset=2\./)
    })

    it('narrows by name', async () => {
      const { search } = await setup(searchers)
      const paths = async (file_glob: string) =>
        (await search({ pattern: 'needle|hay', file_glob, output_mode: 'files_only' })).data['files']
      const names = async (glob: string) => ((await paths(glob)) as string[]).map((path) => path.split('/').at(-1))
      expect(await names('*.ts')).toEqual(['a.ts', 'b.test.ts'])
      expect(await names('*.{py,md}')).toEqual(['README.md', 'c.py'])
      expect(await names('src/*.ts')).toEqual(['a.ts', 'b.test.ts'])
      expect(await names('**/deep/*')).toEqual(['c.py'])
      expect(await names('!*.test.ts')).not.toContain('b.test.ts')
      expect(await names('.env*')).toEqual([])
    })

    it('finds hidden files when they are asked for by name', async () => {
      const { search, folder } = await setup(searchers)
      const env = await search({ pattern: 'NEEDLE', file_glob: '.env*', output_mode: 'files_only' })
      expect(env.data['files']).toEqual([join(folder, '.env.local')])
      expect((await search({ pattern: '.hidden/**', target: 'files' })).data['files']).toEqual([
        join(folder, '.hidden/secret.ts'),
      ])
      expect((await search({ pattern: 'needle', path: '.hidden' })).data['total_count']).toBe(1)
    })

    it('searches a single file, and an ignored folder when it is named', async () => {
      const { search } = await setup(searchers)
      expect((await search({ pattern: '^needle', path: 'src/deep/c.py' })).data['total_count']).toBe(1)
      expect((await search({ pattern: 'needle', path: 'dist' })).data['total_count']).toBe(1)
      expect((await search({ pattern: 'needle', path: 'src/deep' })).data['total_count']).toBe(1)
    })

    it('knows anchors, CRLF, alternatives, inline flags and look-ahead', async () => {
      const { search } = await setup(searchers)
      const count = async (pattern: string) => (await search({ pattern, path: '.' })).data['total_count']
      expect(await count('here$')).toBe(1)
      expect(await count('^end$')).toBe(1)
      expect(await count('(?i)NEEDLE upper')).toBe(1)
      expect(await count('\\(group\\) \\$\\d')).toBe(1)
      expect(await count('needle(?= four)')).toBe(1)
      expect(await count('[[:alpha:]]+ = 1')).toBe(1)
      expect(await count("-e 'x'")).toBe(0)
    })

    it('says what is wrong with a pattern', async () => {
      const { search } = await setup(searchers)
      const broken = await search({ pattern: 'needle(' })
      expect(broken).toMatchObject({
        isError: true,
        text: expect.stringMatching(/not usable as a regular expression: .+ Escape/),
      })
      const multiline = await search({ pattern: 'one\\ntwo' })
      expect(multiline).toMatchObject({ isError: true, text: expect.stringContaining('line by line') })
      expect((await search({ pattern: 'a\\\\n' })).isError).toBe(false)
      expect(await search({ pattern: 'x'.repeat(200_000) })).toMatchObject({
        isError: true,
        text: expect.stringContaining('search for a part of it'),
      })
      expect((await search({ pattern: "'".repeat(10_000) })).isError).toBe(false)
      expect((await search({ pattern: 'x', path: 'nowhere' })).text).toContain('There is no file')
    })

    it('finds files by name, newest first', async () => {
      const { search, folder } = await setup(searchers)
      const { data, text } = await search({ pattern: '*.{ts,py,md}', target: 'files' })
      expect(data['files']).toEqual(
        ['src/deep/c.py', 'src/b.test.ts', 'src/a.ts', 'README.md'].map((file) => join(folder, file)),
      )
      expect(text).toMatch(/^src\/deep\/c\.py\nsrc\/b\.test\.ts\n/)
      expect((await search({ pattern: 'zzz', target: 'files' })).text).toContain('A part of a name needs wildcards')
    })

    it('leaves out the names of files that may not be read', async () => {
      const { search } = await setup(searchers, {
        deny: (action) => action.type === 'read' && action.path.endsWith('c.py'),
      })
      const { text, data } = await search({ pattern: '*.py', target: 'files' })
      expect(text).not.toContain('c.py')
      expect(data['omitted_files']).toBe(1)
    })

    it.each(['content', 'files_only', 'count'])(
      'does not tell whether a pattern is in a file that may not be read: %s',
      async (output_mode) => {
        const { search } = await setup(searchers, {
          deny: (action) => action.type === 'read' && action.path.endsWith('c.py'),
        })
        const [right, wrong] = ['needle = 1', 'needle = 2']
        const there = await search({ pattern: right, path: 'src', output_mode })
        const not = await search({ pattern: wrong, path: 'src', output_mode })
        expect(there.text.replace(right, wrong)).toBe(not.text)
        expect(there.data).toEqual(not.data)
      },
    )

    it('finds the same among many files', async () => {
      const { search, folder } = await setup(searchers)
      await mkdir(join(folder, 'many'))
      const names = Array.from({ length: 2100 }, (_, at) => `${at}.txt`)
      const holds = (at: number) => (at < 900 && at % 90 === 7) || at === 2099
      const text = (at: number) => (holds(at) ? `first\n\ta needle of ${at}\n` : at === 8 ? 'a needle\0' : 'hay\n')
      await Promise.all(names.map((name, at) => writeFile(join(folder, 'many', name), text(at))))
      await writeFile(join(folder, 'many/807.txt'), Buffer.from('\uFEFFa needle of 807\n', 'utf16le'))
      await writeFile(join(folder, 'many/.gitignore'), '7.txt\n')
      const wanted = [187, 2099, 277, 367, 457, 547, 637, 727, 807, 817, 97].map((at) => join(folder, `many/${at}.txt`))
      for (const pattern of ['needle of', '\\ba needle (of|to) \\d+$', '(?i)A NEEDLE OF']) {
        const { data } = await search({ pattern, path: 'many', output_mode: 'files_only' })
        expect(data['files']).toEqual(wanted)
      }
    })

    it('does without rules that are no file', async () => {
      const { search, folder } = await setup(searchers)
      await mkdir(join(folder, 'odd/.gitignore'), { recursive: true })
      await writeFile(join(folder, 'odd/a.txt'), 'needle\n')
      expect((await search({ pattern: 'needle', path: 'odd' })).data['total_count']).toBe(1)
    })

    it('stops when the call is aborted', async () => {
      const { search } = await setup(searchers, { signal: AbortSignal.abort() })
      await expect(search({ pattern: 'needle' })).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }))
    })
  })
}

describe('search_files', () => {
  it('does without ripgrep when the policy does not let it run', async () => {
    const { search } = await setup([ripgrepSearcher, walkSearcher], { deny: (action) => action.type === 'spawn' })
    expect((await search({ pattern: 'needle', path: 'src' })).data['total_count']).toBe(6)
  })

  it('searches by itself where ripgrep does not get to search, whatever the exit code says', async () => {
    const { search, folder, context } = await setup([ripgrepSearcher, walkSearcher])
    for (const failing of [
      'echo "bwrap: Can\'t mkdir /x: Read-only file system" >&2; exit 1',
      'exit 126',
      'kill -9 $$',
    ]) {
      await writeFile(join(folder, '.hidden/rg'), `#!/bin/sh\n${failing}\n`, { mode: 0o755 })
      const command = `export PATH=${folder}/.hidden:$PATH`
      await context.environment.exec(await context.permit(spawn(command, folder)), command)
      expect((await search({ pattern: 'needle', path: 'src' })).data['total_count'], failing).toBe(6)
    }
  })

  it('does not look for ripgrep before each search', async () => {
    const { search, context } = await setup([ripgrepSearcher, walkSearcher])
    await context.environment.exec(
      await context.permit(spawn('export PATH=/nonexistent', context.environment.cwd())),
      'export PATH=/nonexistent',
    )
    const before = context.permitted.filter((action) => action.type === 'spawn').length
    expect((await search({ pattern: 'needle', path: 'src' })).data['total_count']).toBe(6)
    expect((await search({ pattern: 'needle', path: 'src' })).data['total_count']).toBe(6)
    expect(context.permitted.filter((action) => action.type === 'spawn').length).toBe(before + 1)
  })

  it('stops a pattern that backtracks without end', async () => {
    const { search, folder } = await setup([walkSearcher])
    await writeFile(join(folder, 'trap.txt'), `${'a'.repeat(40)}!\n`)
    const result = await search({ pattern: '^(a+)+$', path: 'trap.txt' })
    expect(result).toMatchObject({ isError: true, text: expect.stringContaining('backtracks') })
  })
})

const spawn = (command: string, cwd: string) => ({ type: 'spawn', command, cwd, backend: 'local' }) as const
