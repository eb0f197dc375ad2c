import { lstat, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Environment } from '@hermes/contracts/environment'
import type { Action } from '@hermes/contracts/policy'
import { describe, expect, it } from 'vitest'
import { call, createToolContext, type TestContextOptions, temporaryEnvironment } from '../__fixtures__/test-context.js'
import { createPatchTool } from '../index.js'

const tool = createPatchTool()
const CODE = 'def a():\n    x = 1\n    return x\n\ndef b():\n    x = 1\n    return x\n'

async function setup(files: Record<string, string>, options: Partial<TestContextOptions> = {}) {
  const { folder, environment } = await temporaryEnvironment()
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
  const context = createToolContext({ environment, ...options })
  return {
    folder,
    environment,
    context,
    apply: (...lines: string[]) => call(tool, { mode: 'patch', patch: lines.join('\n') }, context),
    content: (name: string) => readFile(join(folder, name), 'utf8').catch(() => null),
  }
}

/** A patch of its own within its frame. */
const FRAMED = ['*** Begin Patch', '*** Update File: a.txt', '-a', '+b', '*** End Patch']

describe('a patch over several files', () => {
  it('updates, adds, moves and deletes, and answers with the diffs', async () => {
    const { apply, content, folder } = await setup({ 'a.txt': 'one\ntwo\n', 'b.txt': 'b\n', 'c.txt': 'c\n' })
    const result = await apply(
      '*** Begin Patch',
      '*** Update File: a.txt',
      '@@',
      ' one',
      '-two',
      '+TWO',
      '*** Add File: new/d.txt',
      '+first',
      '+',
      '+last',
      '',
      '*** Move File: b.txt -> moved/b.txt',
      '*** Delete File: c.txt',
      '*** End Patch',
    )
    expect(result.isError).toBe(false)
    expect(await content('a.txt')).toBe('one\nTWO\n')
    expect(await content('new/d.txt')).toBe('first\n\nlast\n')
    expect([await content('b.txt'), await content('moved/b.txt')]).toEqual([null, 'b\n'])
    expect(await content('c.txt')).toBeNull()
    expect(result.text).toContain(`--- ${folder}/a.txt\n+++ ${folder}/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO`)
    expect(result.text).toContain(`move ${folder}/b.txt -> ${folder}/moved/b.txt: done`)
    expect(result.data).toMatchObject({ success: true, files: [{ path: join(folder, 'a.txt') }, {}, {}, {}] })
  })

  it('writes nothing when one part does not fit, and names every part that does not', async () => {
    const { apply, content } = await setup({ 'a.txt': 'one\n', 'b.txt': 'two\n' })
    const result = await apply(
      '*** Update File: a.txt',
      '-one',
      '+ONE',
      '*** Update File: b.txt',
      '-three hundred and three',
      '+x',
      '*** Delete File: c.txt',
      '*** Add File: a.txt',
      '+x',
    )
    expect(result.isError).toBe(true)
    expect(result.text).toMatch(/^The patch was not applied; no file was changed\.\n- hunk 1 is not in .*b\.txt/)
    expect(result.text).toMatch(/\n- There is no file .*c\.txt.*\n- .*a\.txt exists already/)
    expect([await content('a.txt'), await content('b.txt')]).toEqual(['one\n', 'two\n'])
  })

  it('sees what earlier parts leave: moved then updated, deleted then added, updated twice', async () => {
    const { apply, content } = await setup({ 'a.txt': 'one\ntwo\n', 'b.txt': 'old\n', 'c.txt': '1\n' })
    const result = await apply(
      '*** Move File: a.txt -> z.txt',
      '*** Update File: z.txt',
      ' one',
      '-two',
      '+2',
      '*** Delete File: b.txt',
      '*** Add File: b.txt',
      '+new',
      '*** Update File: c.txt',
      '-1',
      '+2',
      '*** Update File: c.txt',
      '-2',
      '+3',
    )
    expect(result.text).not.toContain('stopped')
    expect(await content('a.txt')).toBeNull()
    expect([await content('z.txt'), await content('b.txt'), await content('c.txt')]).toEqual([
      'one\n2\n',
      'new\n',
      '3\n',
    ])
    const gone = await apply('*** Delete File: b.txt', '*** Update File: b.txt', '-new', '+x')
    expect(gone.text).toContain('is gone after an earlier part')
    expect(await content('b.txt')).toBe('new\n')
  })

  it('refuses to move onto a file, and to touch directories', async () => {
    const { apply, content } = await setup({ 'a.txt': 'a\n', 'b.txt': 'b\n' })
    expect((await apply('*** Move File: a.txt -> b.txt')).text).toContain('cannot be moved there')
    expect((await apply('*** Delete File: .')).text).toContain('not a regular file')
    expect((await apply('*** Move File: a.txt -> c.txt', '-a', '+b')).text).toContain('Move File takes no hunks')
    expect([await content('a.txt'), await content('b.txt')]).toEqual(['a\n', 'b\n'])
  })

  it('refuses a new file where looking fails for another reason than that there is none', async () => {
    const { apply, content } = await setup({ 'a.txt': 'a\n' })
    const result = await apply('*** Add File: a.txt/b.txt', '+x')
    expect(result.isError).toBe(true)
    expect(await content('a.txt')).toBe('a\n')
  })

  it('asks for every path before it writes the first one', async () => {
    const { apply, content, folder, context } = await setup(
      { 'a.txt': 'one\n', 'b.txt': 'b\n' },
      {
        deny: (action) => action.type === 'write' && action.path.endsWith('.env'),
      },
    )
    const patch = ['*** Update File: a.txt', '-one', '+two', '*** Move File: b.txt -> .env']
    expect(await apply(...patch)).toMatchObject({ isError: true, text: 'Not allowed here.' })
    expect([await content('a.txt'), await content('b.txt')]).toEqual(['one\n', 'b\n'])
    const planned = await tool.actions?.({ mode: 'patch', patch: patch.join('\n'), replace_all: false }, context)
    expect(
      planned?.map((action) => [
        action.type,
        'operation' in action ? action.operation : '',
        'path' in action ? action.path : '',
      ]),
    ).toEqual([
      ['read', '', join(folder, 'a.txt')],
      ['write', 'write', join(folder, 'a.txt')],
      ['read', '', join(folder, 'b.txt')],
      ['write', 'rename', join(folder, 'b.txt')],
      ['write', 'write', join(folder, '.env')],
    ])
  })

  it('takes nothing away through a linked folder, and moves nothing, that the policy keeps', async () => {
    const { folder, environment } = await temporaryEnvironment()
    await mkdir(join(folder, 'kept'))
    for (const name of ['kept/a.txt', 'b.txt']) await writeFile(join(folder, name), 'mine\n')
    await symlink('kept', join(folder, 'way'))
    const kept = (action: Action) => 'path' in action && action.path.startsWith(join(folder, 'kept'))
    const denied = { isError: true, text: 'Not allowed here.' }
    const patch = (line: string, deny: (action: Action) => boolean) =>
      call(tool, { patch: line }, createToolContext({ environment, deny }))
    for (const line of ['Delete File: way/a.txt', 'Move File: way/a.txt -> c.txt', 'Move File: b.txt -> way/b.txt'])
      expect(await patch(`*** ${line}`, (action) => action.type === 'write' && kept(action)), line).toMatchObject(
        denied,
      )
    const unread = await patch('*** Move File: way/a.txt -> c.txt', (action) => action.type === 'read' && kept(action))
    expect(unread).toMatchObject(denied)
    expect([await readdir(folder), await readdir(join(folder, 'kept'))]).toEqual([['b.txt', 'kept', 'way'], ['a.txt']])
    const free = await patch('*** Move File: way/a.txt -> way/c.txt\n*** Delete File: way/c.txt', () => false)
    expect(free.isError).toBe(false)
    expect(await readdir(join(folder, 'kept'))).toEqual([])
    expect((await patch('*** Delete File: way', () => false)).isError).toBe(true)
  })

  it('says what was done when writing fails half way', async () => {
    const { environment, folder } = await setup({ 'a.txt': 'one\n', 'b.txt': 'b\n' })
    const failing = new Proxy(environment, {
      get: (target, name) =>
        name === 'remove'
          ? () => Promise.reject(new Error('disk on fire'))
          : ((Reflect.get(target, name) as (() => unknown) | undefined)?.bind?.(target) ?? Reflect.get(target, name)),
    }) as Environment
    const context = createToolContext({ environment: failing })
    const patch = '*** Update File: a.txt\n-one\n+two\n*** Delete File: b.txt'
    const result = await call(tool, { mode: 'patch', patch }, context)
    expect(result.isError).toBe(true)
    expect(result.text).toContain(`stopped at delete ${folder}/b.txt: disk on fire`)
    expect(result.text).toContain(`Done before that: update ${folder}/a.txt. The files may not fit together now`)
  })

  it('does not overwrite a file that changed after it was looked at', async () => {
    const { environment, folder, content } = await setup({ 'a.txt': 'one\n' })
    const context = createToolContext({ environment })
    const meddling = {
      ...context,
      permit: async (action: Parameters<typeof context.permit>[0]) => {
        if (action.type === 'write') await writeFile(join(folder, 'a.txt'), 'one\nand more\n')
        return context.permit(action)
      },
    }
    const result = await call(tool, { mode: 'patch', patch: '*** Update File: a.txt\n-one\n+two' }, meddling)
    expect(result.isError).toBe(true)
    expect(await content('a.txt')).toBe('one\nand more\n')
  })

  it('keeps line ends, mark and links', async () => {
    const { apply, content, folder } = await setup({ 'a.sh': '\uFEFFone\r\ntwo\r\nthree' })
    await symlink('a.sh', join(folder, 'link.sh'))
    await apply('*** Update File: link.sh', '@@ one', ' two', '-three', '+3', '+4')
    expect(await content('a.sh')).toBe('\uFEFFone\r\ntwo\r\n3\r\n4')
    expect((await lstat(join(folder, 'link.sh'))).isSymbolicLink()).toBe(true)
  })

  it('refuses to write the redaction marker', async () => {
    const { apply, content } = await setup({ 'a.txt': 'key=abc\n' })
    expect((await apply('*** Update File: a.txt', '-key=abc', '+key=[REDACTED]')).text).toContain('stands for a secret')
    expect((await apply('*** Add File: b.txt', '+key=[REDACTED]')).text).toContain('stands for a secret')
    expect([await content('a.txt'), await content('b.txt')]).toEqual(['key=abc\n', null])
  })

  it('changes its advice after three misses in a row', async () => {
    const { apply } = await setup({ 'a.txt': 'one\n' })
    const miss = () => apply('*** Update File: a.txt', '-nothing like it', '+x')
    await miss()
    expect((await miss()).text).not.toContain('in a row')
    expect((await miss()).text).toContain('failure 3 in a row')
  })
})

describe('hunks', () => {
  const cases: readonly (readonly [string, string, readonly string[], string | RegExp])[] = [
    [
      'are placed by the block their hint leads',
      CODE,
      ['@@ def b(): @@', '-    x = 1', '+    x = 2'],
      CODE.replace(/x = 1(?=[^1]*$)/, 'x = 2'),
    ],
    [
      'are refused where the block of the hint has no such line',
      CODE.replace('x = 1', 'x = 5').replace('x = 1', 'y = 7'),
      ['@@ def b():', '-    x = 5', '+    x = 6'],
      /Only lines below "def b\(\):" were looked at/,
    ],
    ['are refused where they fit twice', CODE, ['-    x = 1', '+    x = 2'], /hunk 1 matches 2 places/],
    [
      'are refused where they fit twice and the hint leads no block',
      '# A\nx = 1\n# B\nx = 1\n',
      ['@@ # B', '-x = 1', '+x = 2'],
      /matches 2 places/,
    ],
    [
      'take hints one inside the other',
      `class A:\n    def f(self):\n        go()\nclass B:\n    def f(self):\n        go()\n`,
      ['@@ class B:', '@@ def f(self):', '-        go()', '+        stop()'],
      'class A:\n    def f(self):\n        go()\nclass B:\n    def f(self):\n        stop()\n',
    ],
    ['see what the ones before left', 'a\nb\n', ['@@', '-a', '+b1', '@@', ' b1', '-b', '+c'], 'b1\nc\n'],
    [
      'match loosely like any edit',
      'if x:\n        go()\n',
      [' if x:', '-    go()', '+    stop()'],
      'if x:\n        stop()\n',
    ],
    ['match whole lines only', 'prefix one\nother\n', ['-one', '+two'], /is not in/],
    ['take an unmarked line for context', 'a\nb\nc\n', ['a', '-b', '+B', 'c'], 'a\nB\nc\n'],
    ['may carry line numbers of a diff', 'a\nb\n', ['@@ -1,2 +1,2 @@', ' a', '-b', '+B'], 'a\nB\n'],
    [
      'skip the notes that other tools add',
      'a\nb',
      ['-b', '\\ No newline at end of file', '+B', '*** End of File'],
      'a\nB',
    ],
    ['add after the one line that their hint names', 'one\ntwo\n', ['@@ one', '+and a half'], 'one\nand a half\ntwo\n'],
    ['add at the end without a hint', 'one\n', ['@@', '+two'], 'one\ntwo\n'],
    ['add at the end of an open last line', 'one', ['+two', '+three'], 'one\ntwo\nthree'],
    ['add at the end with the line ends of the file', 'one\r\n', ['+two'], 'one\r\ntwo\r\n'],
    ['add nothing where their hint is not there', 'one\n', ['@@ zero @@', '+two'], /only adds lines/],
    ['add nothing where the hint is there twice', CODE, ['@@ return x', '+    # end'], /exactly once/],
    ['fill an empty file', '', ['+one', '+two'], 'one\ntwo\n'],
    ['delete lines whole', 'a\nb\nc\n', ['-b'], 'a\nc\n'],
    [
      'are skipped when they were applied already',
      'const answer = 42\nrest\n',
      ['-const answer = 41', '+const answer = 42', '@@', '-rest', '+done'],
      'const answer = 42\ndone\n',
    ],
    ['change nothing when they are context only', 'a\nb\n', [' a', ' b'], /changes nothing/],
    ['accept CRLF in the patch', 'a\nb\n', [' a\r', '-b\r', '+B\r'], 'a\nB\n'],
  ]

  it.each(cases)('%s', async (_, file, hunk, expected) => {
    const { apply, content } = await setup({ 'a.txt': file })
    const result = await apply('*** Update File: a.txt', ...hunk)
    if (typeof expected === 'string') {
      expect(result).toMatchObject({ isError: false })
      expect(await content('a.txt')).toBe(expected)
    } else {
      expect(result).toMatchObject({ isError: true, text: expect.stringMatching(expected) })
      expect(await content('a.txt')).toBe(file)
    }
  })

  it('that only add lines tell where they went, and add nothing twice', async () => {
    const { apply, content } = await setup({ 'a.txt': 'one\n' })
    expect((await apply('*** Update File: a.txt', '+two')).text).toContain('hunk 1 names no place')
    expect((await apply('*** Update File: a.txt', '+two')).text).toContain('hunk 1 was there already')
    expect(await content('a.txt')).toBe('one\ntwo\n')
  })

  it('that were all applied already are no failure', async () => {
    const { apply } = await setup({ 'a.txt': 'const answer = 42\n' })
    const result = await apply('*** Update File: a.txt', '-const answer = 41', '+const answer = 42')
    expect(result).toMatchObject({ isError: false, data: { no_change: true } })
    expect(result.text).toContain('hunk 1 was there already')
  })
})

describe('the text of a patch', () => {
  it.each([
    ['an empty patch', [''], /names no file/],
    [
      'a Move to inside an update',
      ['*** Update File: a.txt', '*** Move to: b.txt', '-a', '+b'],
      /"\*\*\* Move File: old -> new"/,
    ],
    ['a path that climbs', ['*** Update File: ../a.txt', '-a', '+b'], /"\.\." is not allowed/],
    ['a climbing target of a move', ['*** Move File: a.txt -> x/../../b.txt'], /"\.\." is not allowed/],
    ['lines before the first file', ['-a', '+b', '*** Update File: a.txt'], /before the first/],
    ['a new file with unmarked lines', ['*** Add File: b.txt', 'plain'], /does not begin with "\+"/],
    ['a patch that is cut off', ['*** Begin Patch', '*** Update File: a.txt', '-a', '+b'], /may be cut off/],
    [
      'a patch whose second half is cut off',
      [...FRAMED, '*** Begin Patch', '*** Update File: a.txt'],
      /may be cut off/,
    ],
    ['a file behind the end', [...FRAMED, '*** Delete File: a.txt'], /does not stand between/],
    ['a file before the beginning', ['*** Delete File: a.txt', ...FRAMED], /does not stand between/],
    [
      'a unified diff, in one line',
      ['--- a/a.txt', '+++ b/a.txt', '@@ -1 +1 @@', '-a', '+b'],
      /no file was changed\.\n.*unified diff.*$/,
    ],
    ['a move into what is no file', ['*** Move File: a.txt -> sub/'], /names a folder/],
    ['a move into a home that is none', ['*** Move File: a.txt -> ~nobody-here/a'], /as an absolute path/],
    ['an indented header', [' *** Update File: a.txt', '-a', '+b'], /before the first/],
  ])('refuses %s', async (_, lines, expected) => {
    const { apply, content } = await setup({ 'a.txt': 'a\n' })
    expect(await apply(...lines)).toMatchObject({ isError: true, text: expect.stringMatching(expected) })
    expect(await content('a.txt')).toBe('a\n')
  })

  it('may be several in a row, with words around them', async () => {
    const { apply, content } = await setup({ 'a.txt': 'a\nc\n' })
    const second = ['*** Begin Patch', '*** Update File: a.txt', '-c', '+d', '*** End Patch']
    expect(await apply('First:', ...FRAMED, '', '+And then:', ...second, 'Done.')).toMatchObject({ isError: false })
    expect(await content('a.txt')).toBe('b\nd\n')
  })

  it('may lack the space after the asterisks, the frame and the mode, and have CRLF', async () => {
    const { context, content } = await setup({ 'a.txt': 'a\n' })
    await call(
      tool,
      { patch: 'Here it is:\r\n*** Begin Patch\r\n***Update File: a.txt\r\n-a\r\n+b\r\n*** End Patch\r\n' },
      context,
    )
    expect(await content('a.txt')).toBe('b\n')
    const { isError, text } = await call(tool, { path: 'a.txt' }, context)
    expect({ isError, text }).toMatchObject({ isError: true, text: expect.stringContaining('needs path, old_string') })
  })
})
