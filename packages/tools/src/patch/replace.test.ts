import { chmod, lstat, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { call, createToolContext, temporaryEnvironment } from '../__fixtures__/test-context.js'
import { createPatchTool, createReadFileTool } from '../index.js'

const tool = createPatchTool()

async function setup(content: string | Uint8Array, name = 'a.txt') {
  const { folder, environment } = await temporaryEnvironment()
  const path = join(folder, name)
  await writeFile(path, content)
  const context = createToolContext({ environment })
  const patch = (old_string: string, new_string: string, more = {}) =>
    call(tool, { path: name, old_string, new_string, ...more }, context)
  return { path, folder, context, patch, content: () => readFile(path, 'utf8') }
}

describe('patch', () => {
  it('edits the file and answers with a unified diff', async () => {
    const { patch, path, content } = await setup('one\ntwo\nthree\n')
    const result = await patch('two', 'TWO')
    expect(await content()).toBe('one\nTWO\nthree\n')
    expect(result.isError).toBe(false)
    expect(result.text).toBe(`--- ${path}\n+++ ${path}\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three`)
    expect(result.data).toMatchObject({ path, success: true, replacements: 1, strategy: 'exact' })
  })

  it('keeps mark, line ends, mode and links', async () => {
    const { patch, path, folder } = await setup('\uFEFFone\r\ntwo\r\n', 'real.txt')
    await chmod(path, 0o750)
    await symlink('real.txt', join(folder, 'link.txt'))
    await patch('one\ntwo', 'one\n2', { path: 'link.txt' })
    expect(await readFile(path, 'utf8')).toBe('\uFEFFone\r\n2\r\n')
    expect((await stat(path)).mode & 0o777).toBe(0o750)
    expect((await lstat(join(folder, 'link.txt'))).isSymbolicLink()).toBe(true)
  })

  it('edits UTF-16 with a mark as UTF-16', async () => {
    const { patch, path } = await setup(Buffer.from('\uFEFFone\ntwö\n', 'utf16le'))
    await patch('twö', 'drei')
    expect(await readFile(path, 'utf16le')).toBe('\uFEFFone\ndrei\n')
  })

  it('edits UTF-16 without a mark as what it is', async () => {
    const { patch, path } = await setup(Buffer.from('one line\r\nzwei für drei\r\n', 'utf16le'))
    await patch('zwei', 'two')
    expect(await readFile(path, 'utf16le')).toBe('one line\r\ntwo für drei\r\n')
  })

  it('lists the places when there are several, and changes nothing', async () => {
    const { patch, content, path } = await setup('x = 1\n'.repeat(7))
    const result = await patch('x = 1', 'x = 2')
    expect(result.isError).toBe(true)
    expect(result.text).toBe(
      `old_string matches 7 places in ${path}; nothing was changed. Add surrounding lines until it is unique, or set replace_all=true to change every one:\n  line 1: x = 1\n  line 2: x = 1\n  line 3: x = 1\n  line 4: x = 1\n  line 5: x = 1\n  and 2 more`,
    )
    expect(await content()).toBe('x = 1\n'.repeat(7))
    expect((await patch('x = 1', 'x = 2', { replace_all: true })).text).toContain('7 replacements.')
  })

  it('shows the closest lines when nothing matches', async () => {
    const { patch } = await setup('function alpha() {\n  return 1\n}\nfunction beta() {\n  return 2\n}\n')
    const { text, isError } = await patch('function betta() {\n  return 3\n}', 'x')
    expect(isError).toBe(true)
    expect(text).toMatch(
      /Did you mean:\n2- {2}return 1\n3-\}\n4\|function beta\(\) \{\n5\| {2}return 2\n6\|\}\n--\n1\|function alpha/,
    )
  })

  it('draws whitespace when nothing else differs', async () => {
    const { patch } = await setup('call(a, b)\n')
    const { text } = await patch('call(a,b)', 'call(b)')
    expect(text).toContain('1|call(a,·b)\nonly whitespace differs (· space, → tab); you sent:\ncall(a,b)')
  })

  it('says when nothing in the file is like it', async () => {
    const { patch } = await setup('one\ntwo\n')
    expect((await patch('zzzzzzzzzzzzzzzz', 'x')).text).toContain('read the file before editing')
  })

  it('changes its advice after three misses in a row', async () => {
    const { patch } = await setup('one\n')
    await patch('nope', 'x')
    expect((await patch('nope', 'x')).text).not.toContain('in a row')
    expect((await patch('nope', 'x')).text).toContain('failure 3 in a row')
    await patch('one', 'two')
    expect((await patch('nope', 'x')).text).not.toContain('in a row')
  })

  it('names a loose match so that the diff is checked', async () => {
    const { patch, content } = await setup('if (x) {\n    go()\n}\n')
    const result = await patch('if (x) { \n    go()\n}', 'if (x) {\n    stop()\n}')
    expect(result.text).toContain('Matched loosely (line-trimmed): check the diff.')
    expect(await content()).toBe('if (x) {\n    stop()\n}\n')
  })

  it('changes nothing when it finds the place but not how to indent', async () => {
    const { patch, content } = await setup('a:\n   b\n c\n')
    const result = await patch(' a:\n b\n  c', ' a:\n b\n  d')
    expect(result).toMatchObject({
      isError: true,
      text: expect.stringContaining('is not certain; nothing was changed'),
    })
    expect(await content()).toBe('a:\n   b\n c\n')
  })

  it('takes an edit that is there already for done', async () => {
    const { patch, content } = await setup('const answer = 42\n')
    const result = await patch('const answer = 41', 'const answer = 42')
    expect(result.isError).toBe(false)
    expect(result.data).toMatchObject({ success: true, no_change: true })
    expect(await content()).toBe('const answer = 42\n')
  })

  it('refuses blank, identical and broken strings', async () => {
    const { patch } = await setup('a\n\nb\n')
    expect((await patch('', 'x')).text).toContain('old_string is blank')
    expect((await patch('\n', 'x')).text).toContain('old_string is blank')
    expect((await patch('a', 'a')).text).toContain('identical')
    expect((await patch('a', '\ud83d')).text).toContain('surrogate')
  })

  it('refuses files that an edit could damage', async () => {
    const { patch, path } = await setup(Buffer.from('caf\xe9\n', 'latin1'))
    expect((await patch('caf', 'x')).text).toContain('is not UTF-8 text')
    expect(await readFile(path, 'latin1')).toBe('café\n')
    expect((await patch('caf', 'x', { path: '.' })).text).toContain('not a regular file')
    expect((await patch('caf', 'x', { path: 'b.txt' })).text).toContain('There is no file')
  })

  it('refuses a byte that is no UTF-8 beyond the start of the file', async () => {
    const { patch } = await setup(
      Buffer.concat([Buffer.from('a\n'.repeat(9000)), Buffer.from([0xe9]), Buffer.from('b')]),
    )
    expect((await patch('b', 'c')).text).toContain('is not UTF-8 text')
  })

  it('refuses to write the redaction marker, but leaves one that is there', async () => {
    const { patch, content } = await setup('key=abc\nold=[REDACTED]\n')
    expect((await patch('key=abc', 'key=[REDACTED]')).text).toContain('stands for a secret')
    expect((await patch('old=[REDACTED]', 'new=[REDACTED]')).isError).toBe(false)
    expect(await content()).toBe('key=abc\nnew=[REDACTED]\n')
  })

  it('says when the file had changed since it was read, and when JSON breaks', async () => {
    const { patch, path, context } = await setup('{"a": 1}\n', 'a.json')
    await call(createReadFileTool(), { path: 'a.json' }, context)
    await writeFile(path, '{"a": 1, "b": 2}\n')
    const result = await patch('"a": 1,', '"a": 1')
    expect(result.text).toContain('The file had changed since you last read it.')
    expect(result.text).toContain('Syntax error now: ')
    expect((await patch('"b": 2', '"b": 3')).text).not.toContain('Syntax error')
  })

  it('writes nothing without a permit', async () => {
    const { context, content } = await setup('one\n')
    const { environment } = context
    const strict = createToolContext({ environment, deny: (action) => action.type === 'write' })
    const result = await call(tool, { path: 'a.txt', old_string: 'one', new_string: 'two' }, strict)
    expect(result).toMatchObject({ isError: true, text: 'Not allowed here.' })
    expect(await content()).toBe('one\n')
  })

  it('caps a long diff', async () => {
    const { patch } = await setup(`x ${'long '.repeat(20)}\n`.repeat(200))
    const result = await patch('x', 'y', { replace_all: true })
    expect(result.text).toMatch(/more characters of diff\]\n200 replacements\.$/)
    expect(result.text.length).toBeLessThan(11_000)
    const large = await setup('x\n'.repeat(5000))
    expect((await large.patch('x', 'y', { replace_all: true })).text).toContain('the diff is too long to show')
  })
})
